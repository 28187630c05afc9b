package kernels

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
)

// GridFor returns a grid of blocks that together have a thread for each of n
// elements: ⌈n/blockThreads⌉ of them, at least one and at most the 2³¹−1 that a
// device takes. Kernels that loop over the grid work with fewer.
func GridFor(n, blockThreads int) device.Dim3 {
	if n <= 0 {
		return device.Dim3{X: 1}
	}
	blocks := (uint64(n)-1)/uint64(max(blockThreads, 1)) + 1
	return device.Dim3{X: uint32(min(blocks, math.MaxInt32))}
}

// checkBlock refuses a block of more threads than the function can have.
func (f *Function) checkBlock(block device.Dim3) error {
	most := uint64(f.attributes.MaxThreads)
	x, y, z := uint64(max(block.X, 1)), uint64(max(block.Y, 1)), uint64(max(block.Z, 1))
	// Each factor by itself first, for the product of all might overflow.
	if x > most || y > most || z > most || x*y*z > most {
		return fmt.Errorf("a block of %d×%d×%d threads: the kernel takes at most %d, with its %d registers a thread: %w",
			x, y, z, most, f.attributes.Registers, device.ErrInvalidValue)
	}
	return nil
}
