package codegen

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/internal/operator"
	"github.com/gpuframe/gpuframe/kernels/internal/tree"
	"github.com/gpuframe/gpuframe/memory"
)

// RunMany is Run by the kernel for many rows, whatever their number: the emulator would
// take too long for so many.
func RunMany(call operator.Call, program *tree.Program, inputs []*column.Column, rows memory.Slice[int64], capacity int) ([]*column.Column, error) {
	return runOne(call, program, inputs, rows, capacity, false)
}
