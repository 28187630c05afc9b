package window

import "github.com/gpuframe/gpuframe/kernels"

// Options say how an operator runs. The zero value is right for most programs.
type Options struct {
	kernels.Options
	// SkipNulls passes over nulls: their rows stay null and the rows after them go
	// on. Otherwise all rows from the first null on are null. The fills do not use
	// it.
	SkipNulls bool
}
