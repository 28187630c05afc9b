// Package catalog lists the functions and aggregates of expressions: their names, parameters,
// documentation and properties. Other forms of a function are generated from its entry:
//
//	functions.gen.go                     the method of gpuframe.Expr, or the function of package gpuframe
//	internal/query/querydata/functions.gen.go  how a query document calls it
//	docs/functions.md                    its row
//	python/gpuframe/_functions.py        the method of Python's Expr
//
// `make generate` writes them. Package plan and the command line read the catalog when they run.
//
// # A new function
//
// Add an entry to the file of its section. If Go computes it with one call of a lower package, or
// with one expression, the entry is all. Otherwise Body calls an unexported function of package
// gpuframe. Only forms, such as Over, are written by hand, with their comments.
package catalog
