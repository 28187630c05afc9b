package window

import "github.com/gpuframe/gpuframe/kernels"

// Options configure an operator. The zero value suits most programs.
type Options struct {
	kernels.Options
	// SkipNulls skips nulls: their rows stay null and later rows continue the fold. If
	// it is false, all rows from the first null on are null. The fills ignore it.
	SkipNulls bool
}
