// Package op holds what the operators on columns have in common: finding
// stream and manager, ordering the stream behind other work on the inputs, and
// allocating all of a result at once.
package op
