package gpuframe

import "github.com/gpuframe/gpuframe/kernels/text"

// A PatternError is a regular expression that does not compile, with the position in it.
// [Query.Explain] and Collect return it.
type PatternError = text.PatternError
