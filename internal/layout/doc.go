// Package layout is the one table of how Arrow types lie in memory and what their
// values are. Every package that asks a type for its buffers, its children, the width
// of its values or the way they are computed with asks [Of].
//
// A [Layout] has two classifications. Its [Kind] says what the buffers and children
// mean: types of one kind are copied, sliced and exported alike. Its [Class] says what
// the values are: types of one class and width are computed with alike. Extension types
// are what they are stored as.
//
// A package that takes fewer types than the table has checks that on top of the table
// and refuses the others with [Refuse].
package layout
