package adaptor

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// base passes all calls on. An adaptor embeds it and overrides the methods that it
// changes.
type base struct {
	upstream resource.Resource
	closed   atomic.Bool
}

// Upstream returns the resource below.
func (b *base) Upstream() resource.Resource { return b.upstream }

// Device returns the device of the memory.
func (b *base) Device() *device.Device { return b.upstream.Device() }

// Kind returns the kind of memory that Allocate returns.
func (b *base) Kind() device.MemoryKind { return b.upstream.Kind() }

// Allocate passes the request on.
func (b *base) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return b.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (b *base) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return resource.AllocateFrom(ctx, b.upstream, bytes, stream)
}

// Free passes the allocation on.
func (b *base) Free(allocation resource.Allocation, further []*device.Stream) error {
	return b.upstream.Free(allocation, further)
}

// Trim calls Trim of the first resource below that keeps freed memory, which
// releases all but keep bytes. Without such a resource it does nothing.
func (b *base) Trim(keep uint64) (released uint64, err error) {
	if trimmer, ok := resource.Find[resource.Trimmer](b.upstream); ok {
		return trimmer.Trim(keep)
	}
	return 0, nil
}

// Close closes the upstream. Memory that is still held may be freed afterwards.
// Closing twice returns resource.ErrClosed.
func (b *base) Close() error {
	if b.closed.Swap(true) {
		return fmt.Errorf("memory/adaptor: close: %w", resource.ErrClosed)
	}
	return b.upstream.Close()
}
