//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// Launch takes at most 512 arguments. The driver reads the number of arguments that the
// kernel declares, each at its declared width. FunctionParameters returns these, and
// the caller must check them.
func (d *device) Launch(function backend.Function, config backend.LaunchConfig, slots []uint64, starts []uint32) error {
	if err := d.function("cuLaunchKernel", function); err != nil {
		return err
	}
	if len(starts) > libcuda.LaunchArguments {
		return refuse("cuLaunchKernel", "%d arguments, of which at most %d can be passed", len(starts), libcuda.LaunchArguments)
	}
	for i, start := range starts {
		if uint64(start) >= uint64(len(slots)) {
			return refuse("cuLaunchKernel", "argument %d begins at slot %d of %d", i, start, len(slots))
		}
	}
	grid, block := config.Grid, config.Block
	shape := [6]uint32{
		max(grid.X, 1), max(grid.Y, 1), max(grid.Z, 1),
		max(block.X, 1), max(block.Y, 1), max(block.Z, 1),
	}
	result := d.raw.Launch(uintptr(function), &shape, config.SharedBytes, uintptr(config.Stream), slots, starts)
	if result != libcuda.Success {
		return failed(result, "cuLaunchKernel", "grid %dx%dx%d, block %dx%dx%d, %d bytes shared",
			shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], config.SharedBytes)
	}
	return nil
}
