// Package sqltest draws trees of SQL statements and wrong texts for tests of the parser.
//
// The trees have each form of [github.com/gpuframe/gpuframe/sql/tree] that a text can have. Their names and
// functions are few, and the statements need not make sense to a binder.
package sqltest
