package codegen

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// RunMany is Run with the kernel for many rows, for any number of rows, because the
// emulator would be too slow for that many.
func RunMany(call op.Call, program *exprtree.Program, inputs []*column.Column, rows memory.Slice[int64], capacity int) ([]*column.Column, error) {
	return runOne(call, program, inputs, rows, capacity, false)
}

// KeyOf returns the key of the kernels for a program on columns.
func KeyOf(program *exprtree.Program, inputs []*column.Column) string {
	return string(appendKey(nil, program, inputs))
}

// Packs reports whether a packed kernel computes a program on columns of many rows.
func Packs(program *exprtree.Program, inputs []*column.Column) bool { return packs(program, inputs) }
