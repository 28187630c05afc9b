package replay

import (
	"github.com/gpuframe/gpuframe/memory/caching"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Footprint is the memory that a resource holds from the driver, in bytes. Values
// that the resource does not report are zero.
type Footprint struct {
	// Reserved is the memory in use and cached, PeakReserved its maximum so far.
	Reserved, PeakReserved uint64
	// LargestFree is the longest free piece of memory.
	LargestFree uint64
}

// FootprintOf returns the footprint of the first resource in a stack that reports
// one: a [caching.Resource], or a resource with a method Reserved like that of
// [resource.StreamOrdered]. ok is false if no resource does, for example with a
// [resource.Driver], which holds only memory in use.
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
