// Package hosteval evaluates bound expressions on the host.
//
// Each operation is a plain Go loop over the values of a type: it computes a block of
// rows, checks the context, and continues. Bools and null bitmaps are computed 64 rows
// at a time. Package exprtree documents the result of each operation.
//
// Expressions on the host device run here, and the code generated for GPUs is tested
// against this package.
package hosteval
