// Package exprtest makes random expressions over random tables, with their expected
// results, for tests of evaluators of expressions.
//
// [Draw] makes a [Case]: a schema, arrays for it, and well-typed expressions over all
// operations and types. [Model] computes the results of a program, one value at a time
// and with Go's numbers only, so it shares no error with package hosteval or with
// generated code. [Compare] compares arrays.
package exprtest
