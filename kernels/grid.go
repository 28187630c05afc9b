package kernels

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
)

// GridFor returns a grid with one thread for each of n elements: ⌈n/blockThreads⌉ blocks,
// at least one and at most 2³¹−1, the device's limit. Kernels that loop over the grid
// work with fewer.
func GridFor(n, blockThreads int) device.Dim3 {
	if n <= 0 {
		return device.Dim3{X: 1}
	}
	blocks := (uint64(n)-1)/uint64(max(blockThreads, 1)) + 1
	return device.Dim3{X: uint32(min(blocks, math.MaxInt32))}
}

// Grid returns a grid for kernels with threads that loop over the n elements:
//
//	for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
//
// It has as many blocks as the device runs at a time, so that all start together and the
// setup of a block runs as rarely as possible, but no more than are needed with
// elementsPerThread elements for each thread, and at least one. Blocks have blockThreads
// threads and sharedBytes of dynamic shared memory.
//
// The driver is called once for each shape of block. The error wraps
// device.ErrInvalidValue if such a block does not fit on a multiprocessor.
func (f *Function) Grid(n, blockThreads, elementsPerThread int, sharedBytes uint32) (device.Dim3, error) {
	if blockThreads <= 0 || elementsPerThread <= 0 {
		return device.Dim3{}, fmt.Errorf("kernels: grid of %s: blocks of %d threads with %d elements each: %w",
			f.name, blockThreads, elementsPerThread, device.ErrInvalidValue)
	}
	most, err := f.blocksAtATime(blockShape{blockThreads, sharedBytes})
	if err != nil {
		return device.Dim3{}, fmt.Errorf("kernels: grid of %s: %w", f.name, err)
	}
	// Two divisions, because the product of the divisors could overflow.
	threads := (max(n, 1)-1)/elementsPerThread + 1
	return device.Dim3{X: uint32(min((threads-1)/blockThreads+1, most))}, nil
}

// blockShape determines the number of a kernel's blocks that run at a time.
type blockShape struct {
	threads     int
	sharedBytes uint32
}

// blocksAtATime returns the number of such blocks that the whole device runs at a time.
func (f *Function) blocksAtATime(shape blockShape) (int, error) {
	f.shapesMu.RLock()
	blocks, known := f.shapes[shape]
	f.shapesMu.RUnlock()
	if known {
		return blocks, nil
	}
	if err := f.checkBlock(device.Dim3{X: uint32(min(shape.threads, math.MaxInt32))}); err != nil {
		return 0, err
	}
	each, err := f.Occupancy(shape.threads, shape.sharedBytes)
	if err != nil {
		return 0, err
	}
	if each == 0 {
		return 0, fmt.Errorf("a block of %d threads with %d bytes of dynamic shared memory does not fit on a multiprocessor: %w",
			shape.threads, shape.sharedBytes, device.ErrInvalidValue)
	}
	blocks = each * max(f.module.multiprocessors, 1)
	f.shapesMu.Lock()
	defer f.shapesMu.Unlock()
	if f.shapes == nil {
		f.shapes = map[blockShape]int{}
	}
	f.shapes[shape] = blocks
	return blocks, nil
}

// checkBlock refuses a block with more threads than the function allows.
func (f *Function) checkBlock(block device.Dim3) error {
	most := uint64(f.attributes.MaxThreads)
	x, y, z := uint64(max(block.X, 1)), uint64(max(block.Y, 1)), uint64(max(block.Z, 1))
	// Each factor is checked separately first, because the product might overflow.
	if x > most || y > most || z > most || x*y*z > most {
		return fmt.Errorf("a block of %d×%d×%d threads: the kernel allows at most %d, with %d registers for each thread: %w",
			x, y, z, most, f.attributes.Registers, device.ErrInvalidValue)
	}
	return nil
}
