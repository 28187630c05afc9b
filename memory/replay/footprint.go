package replay

import (
	"github.com/gpuframe/gpuframe/memory/caching"
	"github.com/gpuframe/gpuframe/memory/resource"
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
// [caching.Resource], or one that has a method Reserved as a
// [resource.StreamOrdered] has. ok is false where none does, as over a
// [resource.Driver], which holds what is in use and nothing else.
func FootprintOf(top resource.Resource) (footprint Footprint, ok bool, err error) {
	if cache, ok := resource.Find[*caching.Resource](top); ok {
		stats := cache.Stats()
		return Footprint{stats.Reserved, stats.PeakReserved, stats.LargestFree}, true, nil
	}
	if pool, ok := resource.Find[interface{ Reserved() (uint64, error) }](top); ok {
		reserved, err := pool.Reserved()
		return Footprint{Reserved: reserved}, err == nil, err
	}
	return Footprint{}, false, nil
}
