package caching

import (
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/round"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// SegmentMode selects how a [Resource] gets memory from the driver.
type SegmentMode uint8

const (
	// AutomaticSegments are expandable on a GPU with a driver that can map memory
	// and has enough addresses, and fixed otherwise.
	AutomaticSegments SegmentMode = iota
	// FixedSegments are allocations of the upstream resource.
	FixedSegments
	// ExpandableSegments are address ranges; memory is mapped into them as they
	// grow.
	ExpandableSegments
)

// Options configure a [Resource]. The zero value is right for most programs.
type Options struct {
	// Segments selects the kind of segments.
	Segments SegmentMode
	// Upstream provides fixed segments. The resource does not close it. Nil means a
	// [resource.Driver].
	Upstream resource.Resource
	// InitialBytes are allocated by New, so that the first requests find memory.
	InitialBytes uint64
	// LimitBytes is the maximum of the memory in use and cached. Zero means no limit
	// except the device's memory.
	LimitBytes uint64

	// SmallBytes is the largest request that the small pool serves. Zero means 1
	// MiB.
	SmallBytes uint64
	// SmallSegmentBytes is the growth of the small pool. Zero means 2 MiB.
	SmallSegmentBytes uint64
	// LargeSegmentBytes is the minimum growth of the large pool. Zero means 20 MiB.
	LargeSegmentBytes uint64

	// OversizeBytes is the size from which a cached block is oversize: it is not
	// split for smaller requests, and it is released first when memory is short. Use
	// it with fixed segments, and set it well above LargeSegmentBytes. Zero means
	// that no block is oversize.
	OversizeBytes uint64

	// CollectAbove is the fraction of LimitBytes, or of the device's memory, above
	// which the resource releases long unused segments before it grows. Zero means
	// 0.8; a value of one or more disables it.
	CollectAbove float64

	// OnFailure are called in order before a request fails, to free memory. Each
	// function reports whether it freed any.
	OnFailure []func(bytes uint64) bool

	// givenUpstream is set if Upstream was not nil.
	givenUpstream bool
}

// withDefaults replaces zeros with the defaults.
func (o Options) withDefaults(dev *device.Device) Options {
	o.givenUpstream = o.Upstream != nil
	if !o.givenUpstream {
		o.Upstream = resource.NewDriver(dev)
	}
	set := func(field *uint64, value uint64) {
		if *field == 0 {
			*field = value
		}
	}
	set(&o.LimitBytes, math.MaxUint64)
	set(&o.SmallBytes, 1<<20)
	set(&o.SmallSegmentBytes, 2<<20)
	set(&o.LargeSegmentBytes, 20<<20)
	if o.CollectAbove == 0 {
		o.CollectAbove = 0.8
	}
	return o
}

// growth returns the growth of a pool for a request, as PyTorch does: a small
// segment, a large segment for requests below half of its size, otherwise the
// requested size.
func (o *Options) growth(pool uint8, size, granularity uint64) uint64 {
	switch {
	case pool == smallPool:
		return round.Up(max(size, o.SmallSegmentBytes), granularity)
	case size < o.LargeSegmentBytes/2:
		return round.Up(o.LargeSegmentBytes, granularity)
	}
	return round.Up(size, max(granularity, 2<<20))
}

// Stats are the statistics of a [Resource] at one moment, in bytes after rounding.
type Stats struct {
	// Reserved is the memory that the resource holds from the driver, PeakReserved
	// its maximum so far.
	Reserved, PeakReserved uint64
	// InUse is allocated. Held is freed, but still used on further streams. Cached
	// is available for new requests.
	InUse, Held, Cached uint64
	// LargestFree is the longest cached piece.
	LargestFree uint64
	// Segments counts fixed segments, or the mapped pieces of expandable ones.
	Segments int
	// FastHits counts requests served by a block of the same size that the stream
	// freed last, Hits requests served by other cached memory, and Misses requests
	// that made the resource grow.
	FastHits, Hits, Misses uint64
	// CrossStream counts blocks that came from another stream. Waits counts those
	// for which the stream had to wait for the last use.
	CrossStream, Waits uint64
	// Trimmed counts the bytes returned to the driver.
	Trimmed uint64
}
