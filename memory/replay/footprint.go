package replay

import (
	"github.com/gpuframe/gpuframe/memory"
)

// Footprint is what a resource holds from the driver, in bytes. What the
// resource cannot tell is zero.
type Footprint struct {
	// Reserved is what it holds, used and cached together, PeakReserved the most
	// it ever held.
	Reserved, PeakReserved uint64
	// LargestFree is the longest piece that is ready for a request.
	LargestFree uint64
}

// FootprintOf asks the first resource of a stack that knows: a
// [memory.CachingResource], or one that has a method Reserved as a
// [memory.StreamOrderedResource] has. ok is false where none does, as over a
// [memory.DriverResource], which holds what is in use and nothing else.
func FootprintOf(resource memory.Resource) (footprint Footprint, ok bool, err error) {
	if caching, ok := memory.FindResource[*memory.CachingResource](resource); ok {
		stats := caching.Stats()
		return Footprint{stats.Reserved, stats.PeakReserved, stats.LargestFree}, true, nil
	}
	if pool, ok := memory.FindResource[interface{ Reserved() (uint64, error) }](resource); ok {
		reserved, err := pool.Reserved()
		return Footprint{Reserved: reserved}, err == nil, err
	}
	return Footprint{}, false, nil
}
