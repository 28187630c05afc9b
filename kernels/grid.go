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

// Grid returns a grid for kernels whose threads loop over the n elements:
//
//	for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
//
// It has as many blocks as the device holds at a time, so that none waits for a
// place and what a block does once is done as rarely as possible, but no more than
// have work where each thread takes elementsPerThread elements, and at least one.
// Blocks are of blockThreads threads and have sharedBytes of dynamic shared memory.
//
// The driver is asked once for each shape of block. The error wraps
// device.ErrInvalidValue where no such block fits on a multiprocessor.
func (f *Function) Grid(n, blockThreads, elementsPerThread int, sharedBytes uint32) (device.Dim3, error) {
	if blockThreads <= 0 || elementsPerThread <= 0 {
		return device.Dim3{}, fmt.Errorf("kernels: grid of %s: blocks of %d threads with %d elements each: %w",
			f.name, blockThreads, elementsPerThread, device.ErrInvalidValue)
	}
	most, err := f.blocksAtATime(blockShape{blockThreads, sharedBytes})
	if err != nil {
		return device.Dim3{}, fmt.Errorf("kernels: grid of %s: %w", f.name, err)
	}
	// So that the product cannot overflow, not by the product.
	threads := (max(n, 1)-1)/elementsPerThread + 1
	return device.Dim3{X: uint32(min((threads-1)/blockThreads+1, most))}, nil
}

// blockShape is what decides, for a kernel, how many of its blocks run at a time.
type blockShape struct {
	threads     int
	sharedBytes uint32
}

// blocksAtATime returns how many such blocks the whole device holds.
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
