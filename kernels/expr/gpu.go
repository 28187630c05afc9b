package expr

import (
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/internal/codegen"
	"github.com/gpuframe/gpuframe/kernels/internal/operator"
	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

// onGPU enqueues the kernel that computes the program's outputs, for the rows that
// table.DeviceRows says or all of its capacity.
func onGPU(call *operator.Call, table *buffer.Buffer, program *tree.Program, inputs []*column.Column) ([]*column.Column, error) {
	return codegen.Run(*call, program, inputs, table.DeviceRows(), int(table.Capacity()))
}
