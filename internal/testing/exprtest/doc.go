// Package exprtest makes random expressions over random tables, and says what they
// must give, for tests of what evaluates expressions.
//
// [Draw] makes a [Case]: a schema, arrays for it, and well-typed expressions over all
// operations and types. [Model] computes what a program gives, a value at a time and
// with nothing but Go's numbers, so it shares no mistake with package hosteval or
// with generated code. [Compare] compares arrays.
package exprtest
