// Package hosteval evaluates bound expressions on the host: by arrow-go's compute
// functions where there is one that does what package tree says of the operation,
// and by own loops elsewhere.
//
// It is what expressions on the host device run on, and what the code that is
// generated for GPUs is tested against. Exp, Log, Power, Sin and Cos are those of
// Go's package math, in float64.
package hosteval
