package adaptor

import (
	"cmp"
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Aligned gives memory that begins at a multiple of a power of two. It asks for
// more than is needed and shifts the beginning.
type Aligned struct {
	base
	alignment, threshold uint64
	// slack is how much more is asked for.
	slack uint64
}

// AlignedOptions are the options of an [Aligned].
type AlignedOptions struct {
	// Alignment is a power of two, in bytes. Zero means 4096, a page of the
	// host's and what direct storage asks for. Nothing is changed where every
	// resource aligns that much anyway: 256 bytes on a GPU, 64 on the host.
	Alignment uint64
	// Threshold is the size in bytes from which requests are aligned; smaller
	// ones are passed on as they are.
	Threshold uint64
}

// NewAligned returns an adaptor that aligns what passes through it. The error
// wraps device.ErrInvalidValue where the alignment is no power of two.
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

// naturalAlignment is what every resource.Resource keeps.
func naturalAlignment(dev *device.Device) uint64 {
	if dev.Kind() == device.Host {
		return 64
	}
	return 256
}

// shifted is the Private of an allocation that was asked for in another size:
// what the upstream gave, and who asked, for there may be a second Aligned below.
type shifted struct {
	owner *Aligned
	inner resource.Allocation
}

// Allocate returns aligned memory. The error wraps resource.ErrOverflow where the
// size with what the alignment takes does not fit the address space.
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
			humanize.Bytes(bytes), a.alignment, resource.ErrOverflow)
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

// Free passes on what the upstream had given.
func (a *Aligned) Free(allocation resource.Allocation, further []*device.Stream) error {
	if s, ok := allocation.Private.(*shifted); ok && s.owner == a {
		allocation = s.inner
	}
	return a.upstream.Free(allocation, further)
}
