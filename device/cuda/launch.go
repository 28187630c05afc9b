//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// Launch takes at most 512 arguments. The driver reads the number of arguments that the
// kernel declares, each at its declared width. FunctionParameters returns these, and
// the caller must check them.
func (d *device) Launch(function backend.Function, config backend.LaunchConfig, slots []uint64, starts []uint32) error {
	if err := d.guard.Launch("cuLaunchKernel", function, slots, starts, libcuda.LaunchArguments); err != nil {
		return err
	}
	shape := drivercall.ShapeOf(config.Grid, config.Block)
	result := d.raw.Launch(uintptr(function), (*[6]uint32)(&shape), config.SharedBytes, uintptr(config.Stream), slots, starts)
	if result != libcuda.Success {
		return failed(result, "cuLaunchKernel", shape.Text(config.SharedBytes))
	}
	return nil
}
