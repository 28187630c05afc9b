package pages

import "github.com/gpuframe/gpuframe/internal/io/thrift"

// ErrDamaged reports contents that are not of the format.
var ErrDamaged = thrift.ErrDamaged
