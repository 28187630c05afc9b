package buckets

import (
	"fmt"
	"math/bits"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Options configure a [Resource]. The zero value is right for most programs.
type Options struct {
	// SmallestBytes and LargestBytes are the sizes of the smallest and the
	// largest bin. They are rounded up to powers of two. Zero means 256 bytes
	// and 256 MiB; the smallest bin is never below 256 bytes, which is how
	// memory is aligned. Larger requests go to the upstream as they are and
	// back to it when they are freed.
	SmallestBytes, LargestBytes uint64

	// CacheBytes is the most bytes of freed memory that are kept. Zero means a
	// quarter of the device's memory or, for pinned host memory, at most 1 GiB
	// of it. With less than SmallestBytes nothing is kept.
	CacheBytes uint64

	// SlabBytes is what the upstream is asked for when a bin of at most an
	// eighth of that needs memory: a slab that is cut into pieces of the bin's
	// size. It is rounded up to a power of two and pays where the upstream is
	// slow. Zero means no slabs, but 2 MiB in [NewPinned].
	//
	// A slab goes back to the upstream when no piece of it is cached or in use.
	// Until then its unused pieces come on top of CacheBytes; Stats.SlabIdle
	// tells how much that is.
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

// complete puts in what is left out and checks the rest.
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

// roundUp returns the smallest power of two that is no less than the size, which
// is neither zero nor above the largest power.
func roundUp(size uint64) uint64 { return 1 << bits.Len64(size-1) }
