// Package layout is the one table of Arrow's types: their buffers, their children, the
// width of their values, and the meaning of their values to operators. [Of] looks a type
// up.
//
// A [Layout] has two classifications. Types of one [Kind] have the same buffers and
// children and are copied, sliced and exported alike. Types of one [Class] and width are
// computed with alike. An extension type has the layout of its storage type.
//
// A package that takes fewer types than the table has checks that on top of the table
// and refuses the others with [Refuse].
package layout
