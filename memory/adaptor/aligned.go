package adaptor

import (
	"cmp"
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Aligned returns memory aligned to a multiple of a power of two. It allocates more
// than the requested size and moves the start of the memory.
type Aligned struct {
	base
	alignment, threshold uint64
	// slack is the number of additional bytes per allocation.
	slack uint64
}

// AlignedOptions are the options of an [Aligned].
type AlignedOptions struct {
	// Alignment is a power of two, in bytes. Zero means 4096, the page size of the
	// host and the alignment that direct storage requires. An alignment up to that
	// of every resource has no effect: 256 bytes on a GPU, 64 on the host.
	Alignment uint64
	// Threshold is the smallest request size, in bytes, that is aligned; smaller
	// requests are passed on unchanged.
	Threshold uint64
}

// NewAligned returns an adaptor that aligns allocations. The error wraps
// device.ErrInvalidValue if the alignment is not a power of two.
func NewAligned(upstream resource.Resource, options AlignedOptions) (*Aligned, error) {
	const page = 4096
	alignment := cmp.Or(options.Alignment, page)
	if alignment&(alignment-1) != 0 {
		return nil, fmt.Errorf("memory/adaptor: new aligned: AlignedOptions.Alignment is %d: it is a power of two: %w",
			alignment, device.ErrInvalidValue)
	}
	a := &Aligned{base: base{upstream: upstream}, alignment: alignment, threshold: options.Threshold}
	if natural := naturalAlignment(upstream.Device()); alignment > natural {
		a.slack = alignment - natural
	}
	return a, nil
}

// naturalAlignment is the alignment that every resource.Resource guarantees.
func naturalAlignment(dev *device.Device) uint64 {
	if dev.Kind() == device.Host {
		return 64
	}
	return 256
}

// shifted is the Private of an aligned allocation: the upstream's allocation, and
// the Aligned that made it, because the stack may contain a second one.
type shifted struct {
	owner *Aligned
	inner resource.Allocation
}

// Allocate returns aligned memory. The error wraps resource.ErrOverflow if the size
// including the additional bytes does not fit the address space.
func (a *Aligned) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return a.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (a *Aligned) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if a.slack == 0 || bytes < a.threshold {
		return resource.AllocateFrom(ctx, a.upstream, bytes, stream)
	}
	if bytes+a.slack < bytes {
		return resource.Allocation{}, fmt.Errorf("memory/adaptor: aligned: allocate %s aligned to %d bytes: %w",
			humanize.IBytes(bytes), a.alignment, resource.ErrOverflow)
	}
	inner, err := resource.AllocateFrom(ctx, a.upstream, bytes+a.slack, stream)
	if err != nil {
		return resource.Allocation{}, err
	}
	pointer := (uint64(inner.Pointer) + a.alignment - 1) &^ (a.alignment - 1)
	return resource.Allocation{
		Pointer: device.Pointer(pointer), Bytes: bytes, Stream: inner.Stream, Private: &shifted{owner: a, inner: inner},
	}, nil
}

// Free passes the upstream's allocation on.
func (a *Aligned) Free(allocation resource.Allocation, further []*device.Stream) error {
	if s, ok := allocation.Private.(*shifted); ok && s.owner == a {
		allocation = s.inner
	}
	return a.upstream.Free(allocation, further)
}
