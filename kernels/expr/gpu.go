package expr

import (
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
)

// onGPU enqueues the kernel that computes the program's outputs, for the rows of the
// table or, if only the device knows their number, for its capacity.
func onGPU(call *op.Call, table *buffer.Buffer, program *exprtree.Program, inputs []*column.Column) ([]*column.Column, error) {
	return codegen.Run(*call, program, inputs, table.DeviceRows(), int(table.Capacity()))
}
