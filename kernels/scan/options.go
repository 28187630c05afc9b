package scan

import (
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Options say how an operator runs. The zero value is right for most programs.
type Options struct {
	kernels.Options
	// SkipNulls passes over nulls: their rows stay null and the rows after them go
	// on. Otherwise all rows from the first null on are null. The fills do not use
	// it.
	SkipNulls bool
	// Rows is one element in device memory that tells how many of the column's rows
	// there are, as that of a table whose row count stays on the device; a number
	// beyond them counts as all, a negative one as none. What the result holds in
	// the rows after these is undefined. Empty means that all rows are there.
	Rows memory.Slice[int64]
}

func chosen(options []Options) Options {
	if len(options) == 0 {
		return Options{}
	}
	return options[0]
}
