package drivercall

import "github.com/gpuframe/gpuframe/device/backend"

// Virtual checks that the device can map memory.
func (g *Guard) Virtual(function string) error {
	if err := g.Open(function); err != nil {
		return err
	}
	if !g.maps {
		return g.lacks(function, "the device has no virtual memory management: use Alloc and Free")
	}
	return nil
}

// VirtualBytes checks the size of a range of addresses or of physical memory.
func (g *Guard) VirtualBytes(function string, bytes uint64) error {
	if err := g.Virtual(function); err != nil {
		return err
	}
	return g.notZero(function, bytes)
}

// Range checks a range of addresses.
func (g *Guard) Range(function string, at backend.Pointer, bytes uint64) error {
	if err := g.Virtual(function); err != nil {
		return err
	}
	if at == 0 || bytes == 0 {
		return g.Refuse(function, "the address or the bytes are zero")
	}
	return nil
}

// Physical checks the handle of physical memory.
func (g *Guard) Physical(function string, physical backend.Physical) error {
	if err := g.Virtual(function); err != nil {
		return err
	}
	return g.physical(function, physical)
}

func (g *Guard) physical(function string, physical backend.Physical) error {
	if physical == 0 {
		return g.Refuse(function, "the handle is zero")
	}
	return nil
}

// Map checks a mapping of physical memory.
func (g *Guard) Map(function string, at backend.Pointer, bytes uint64, physical backend.Physical) error {
	if err := g.Range(function, at, bytes); err != nil {
		return err
	}
	return g.physical(function, physical)
}

// Shared checks that the device can share memory with other processes.
func (g *Guard) Shared(function string) error {
	if err := g.Virtual(function); err != nil {
		return err
	}
	if !g.shares {
		return g.lacks(function, "the device cannot share memory with other processes")
	}
	return nil
}

// SharedBytes checks the size of physical memory to share.
func (g *Guard) SharedBytes(function string, bytes uint64) error {
	if err := g.Shared(function); err != nil {
		return err
	}
	return g.notZero(function, bytes)
}

// SharedRange checks a range of addresses with shared memory.
func (g *Guard) SharedRange(function string, at backend.Pointer, bytes uint64) error {
	if err := g.Range(function, at, bytes); err != nil {
		return err
	}
	return g.Shared(function)
}

// Export checks physical memory to share.
func (g *Guard) Export(function string, physical backend.Physical) error {
	if err := g.Shared(function); err != nil {
		return err
	}
	return g.physical(function, physical)
}

// Import checks the descriptor of shared memory. The check of bytes is left to the
// mapping: the driver's import takes no size.
func (g *Guard) Import(function string, descriptor int, bytes uint64) error {
	if err := g.Shared(function); err != nil {
		return err
	}
	if descriptor < 0 || bytes == 0 {
		return g.Refuse(function, "the descriptor is %d, the bytes %d", descriptor, bytes)
	}
	return nil
}

// Granularity chooses the unit of physical memory from the driver's two answers: the
// recommended one if it is a multiple of the minimum.
func Granularity(minimum, recommended uint64) uint64 {
	if minimum != 0 && recommended%minimum != 0 {
		return minimum
	}
	return recommended
}
