package adaptor

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Prefetch moves new managed memory to the device, in the order of the allocation's
// stream, so that the first kernel does not fault it in page by page. It does
// nothing for memory of other kinds and on devices that cannot prefetch.
type Prefetch struct{ base }

// NewPrefetch returns an adaptor that prefetches new managed memory.
func NewPrefetch(upstream resource.Resource) *Prefetch {
	return &Prefetch{base: base{upstream: upstream}}
}

// Allocate passes the request on and enqueues the prefetch of the new memory. If
// that fails, the memory is freed again.
func (p *Prefetch) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return p.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (p *Prefetch) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	allocation, err := resource.AllocateFrom(ctx, p.upstream, bytes, stream)
	if err != nil || bytes == 0 || p.Kind() != device.MemoryManaged {
		return allocation, err
	}
	err = streamwork.EnqueueUncaptured(stream, func(handle backend.Stream) error {
		return p.Device().Driver().PrefetchAsync(allocation.Pointer, bytes, false, handle)
	})
	if err == nil || errors.Is(err, device.ErrNotSupported) {
		return allocation, nil
	}
	err = fmt.Errorf("memory/adaptor: prefetch: %w", err)
	return resource.Allocation{}, errors.Join(err, p.upstream.Free(allocation, nil))
}
