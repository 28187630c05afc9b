package codegen

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// RunMany is Run by the kernel for many rows, whatever their number: the emulator would
// take too long for so many.
func RunMany(call op.Call, program *exprtree.Program, inputs []*column.Column, rows memory.Slice[int64], capacity int) ([]*column.Column, error) {
	return runOne(call, program, inputs, rows, capacity, false)
}
