package buckets

import (
	"fmt"
	"math/bits"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Options configure a [Resource]. The zero value is right for most programs.
type Options struct {
	// SmallestBytes and LargestBytes are the sizes of the smallest and the largest bin,
	// rounded up to powers of two. Zero means 256 bytes and 256 MiB. The smallest bin
	// is at least 256 bytes, the alignment of memory. Larger requests bypass the bins:
	// they are allocated from the upstream and freed to it.
	SmallestBytes, LargestBytes uint64

	// CacheBytes is the limit of cached memory in bytes. Zero means a quarter of the
	// device's memory and, for pinned host memory, at most 1 GiB. A limit below
	// SmallestBytes disables the cache.
	CacheBytes uint64

	// SlabBytes is the size of a slab: an upstream allocation that is cut into pieces
	// for a bin. Bins of at most an eighth of SlabBytes use slabs, which helps if the
	// upstream is slow. SlabBytes is rounded up to a power of two. Zero means no slabs,
	// but 2 MiB in [NewPinned].
	//
	// A slab returns to the upstream when none of its pieces is cached or in use. Until
	// then its unused pieces do not count in CacheBytes; Stats.SlabIdle reports their
	// size.
	SlabBytes uint64
}

const (
	smallestBin      = 256
	largestBin       = 256 << 20
	pinnedCacheBytes = 1 << 30
	pinnedSlabBytes  = 2 << 20
	// slabShare is the least number of pieces in a slab.
	slabShare = 8
)

// complete sets the defaults and validates the options.
func (o Options) complete(upstream resource.Resource) (Options, error) {
	if o.LargestBytes == 0 {
		o.LargestBytes = max(largestBin, o.SmallestBytes)
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = upstream.Device().Info().TotalMemory / 4
		if upstream.Kind() == device.MemoryPinned {
			o.CacheBytes = min(o.CacheBytes, pinnedCacheBytes)
		}
	}
	for name, size := range map[string]*uint64{
		"SmallestBytes": &o.SmallestBytes, "LargestBytes": &o.LargestBytes, "SlabBytes": &o.SlabBytes,
	} {
		if *size > 1<<62 {
			return o, fmt.Errorf("field %s of the options is %d, the most is 2 to the power of 62: %w", name, *size, device.ErrInvalidValue)
		}
		if *size > 0 || name != "SlabBytes" {
			*size = roundUp(max(*size, smallestBin))
		}
	}
	if o.SmallestBytes > o.LargestBytes {
		return o, fmt.Errorf("field SmallestBytes of the options is %d, more than LargestBytes, which is %d: %w",
			o.SmallestBytes, o.LargestBytes, device.ErrInvalidValue)
	}
	return o, nil
}

// roundUp returns the smallest power of two that is at least size. The size must be
// neither zero nor above the largest power.
func roundUp(size uint64) uint64 { return 1 << bits.Len64(size-1) }
