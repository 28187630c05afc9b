package caching

import (
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/round"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// SegmentMode is how a [Resource] gets memory from the driver.
type SegmentMode uint8

const (
	// AutomaticSegments are expandable on a GPU whose driver can map memory and has
	// the addresses for it, and fixed elsewhere.
	AutomaticSegments SegmentMode = iota
	// FixedSegments are allocations of the upstream resource.
	FixedSegments
	// ExpandableSegments are ranges of addresses that memory is mapped into as
	// they grow.
	ExpandableSegments
)

// Options configure a [Resource]. The zero value is right for most
// programs.
type Options struct {
	// Segments chooses where memory comes from.
	Segments SegmentMode
	// Upstream is where fixed segments come from. The resource does not close
	// it. Nil means a [resource.Driver].
	Upstream resource.Resource
	// InitialBytes are requested by New, so that the first allocations find memory.
	InitialBytes uint64
	// LimitBytes is the most that the resource holds, used and cached together.
	// Zero means no limit but the device's memory.
	LimitBytes uint64

	// SmallBytes is the largest request that the pool of small blocks serves.
	// Zero means 1 MiB.
	SmallBytes uint64
	// SmallSegmentBytes is how much that pool grows by. Zero means 2 MiB.
	SmallSegmentBytes uint64
	// LargeSegmentBytes is how much the pool of large blocks grows by, at least.
	// Zero means 20 MiB.
	LargeSegmentBytes uint64

	// OversizeBytes is the size from which a cached block is oversize: it is not split
	// for smaller requests, and it is given back first when memory is short. Use it with
	// fixed segments, and well above LargeSegmentBytes. Zero means that no block is
	// oversize.
	OversizeBytes uint64

	// CollectAbove is the fraction of LimitBytes, or of the device's memory, above which
	// the resource gives back segments that were not used for long before it grows. Zero
	// means 0.8; a value of one or more turns that off.
	CollectAbove float64

	// OnFailure are called in turn before a request fails, to free memory. Each returns
	// whether it freed some.
	OnFailure []func(bytes uint64) bool

	// givenUpstream is set if Upstream was not nil.
	givenUpstream bool
}

// withDefaults replaces zeros by the defaults.
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

// growth returns how many bytes a pool grows by for a request, as PyTorch does: a small
// segment, a large segment for requests below half of one, otherwise what is needed.
func (o *Options) growth(pool uint8, size, granularity uint64) uint64 {
	switch {
	case pool == smallPool:
		return round.Up(max(size, o.SmallSegmentBytes), granularity)
	case size < o.LargeSegmentBytes/2:
		return round.Up(o.LargeSegmentBytes, granularity)
	}
	return round.Up(size, max(granularity, 2<<20))
}

// Stats are the figures of a [Resource] at one moment, in bytes
// after rounding.
type Stats struct {
	// Reserved are the bytes that the resource holds from the driver, PeakReserved the
	// most it ever held.
	Reserved, PeakReserved uint64
	// InUse is handed out. Held is freed, but still used on further streams.
	// Cached is ready for new requests.
	InUse, Held, Cached uint64
	// LargestFree is the longest piece of what is cached.
	LargestFree uint64
	// Segments counts fixed segments, or the ranges of expandable ones.
	Segments int
	// FastHits were served by a block of the same size that the stream freed last, Hits
	// by other cached memory; Misses made the resource grow.
	FastHits, Hits, Misses uint64
	// CrossStream counts blocks that came from another stream, Waits those of them for
	// whose last use the stream had to wait.
	CrossStream, Waits uint64
	// Trimmed counts the bytes given back to the driver.
	Trimmed uint64
}
