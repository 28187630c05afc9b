package drivercall

import (
	"math"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Launch checks a kernel and the slots at which its arguments begin. The binding can
// pass at most most arguments.
func (g *Guard) Launch(function string, kernel backend.Function, slots []uint64, starts []uint32, most int) error {
	if g.closed.Load() || uintptr(kernel) < g.LeastHandle {
		return g.Handle(function, "function", uintptr(kernel))
	}
	if len(starts) > most {
		return g.Refuse(function, "%d arguments, of which at most %d can be passed", len(starts), most)
	}
	for i, start := range starts {
		if uint64(start) >= uint64(len(slots)) {
			return g.Refuse(function, "argument %d begins at slot %d of %d", i, start, len(slots))
		}
	}
	return nil
}

// Shape is the grid and the block of a launch, in the driver's order.
type Shape [6]uint32

// ShapeOf returns the shape of a launch. A dimension of zero counts as one.
func ShapeOf(grid, block backend.Dim3) Shape {
	return Shape{
		max(grid.X, 1), max(grid.Y, 1), max(grid.Z, 1),
		max(block.X, 1), max(block.Y, 1), max(block.Z, 1),
	}
}

// FunctionValue checks the value of a kernel's attribute.
func (g *Guard) FunctionValue(function string, kernel backend.Function, value int) error {
	if err := g.Handle(function, "function", uintptr(kernel)); err != nil {
		return err
	}
	if value < math.MinInt32 || value > math.MaxInt32 {
		return g.Refuse(function, "the value %d does not fit in 32 bits", value)
	}
	return nil
}

// BlockThreads checks the number of threads in a block.
func (g *Guard) BlockThreads(function string, kernel backend.Function, threads int) error {
	if err := g.Handle(function, "function", uintptr(kernel)); err != nil {
		return err
	}
	if threads <= 0 || threads > math.MaxInt32 {
		return g.Refuse(function, "a block of %d threads", threads)
	}
	return nil
}
