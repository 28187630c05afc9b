package adaptor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// The default fill bytes of a [Poison].
const (
	PoisonAllocated uint8 = 0xCD
	PoisonFreed     uint8 = 0xDD
)

// Poison fills memory with a pattern when it is allocated and when it is freed, so
// that reads of uninitialized or freed memory become visible. Both fills are in
// stream order: the first before any work on the memory, the second after all of it.
// Neither waits.
type Poison struct {
	base
	options PoisonOptions
}

// PoisonOptions are the options of a [Poison]. The zero value fills memory on
// allocation and on free.
type PoisonOptions struct {
	// Allocated is the fill byte of new memory; zero means PoisonAllocated.
	Allocated uint8
	// Freed is the fill byte of freed memory; zero means PoisonFreed.
	Freed uint8
	// KeepAllocated disables the fill of new memory.
	KeepAllocated bool
	// KeepFreed disables the fill of freed memory.
	KeepFreed bool
}

// NewPoison returns an adaptor that fills new and freed memory.
func NewPoison(upstream resource.Resource, options PoisonOptions) *Poison {
	options.Allocated = cmp.Or(options.Allocated, PoisonAllocated)
	options.Freed = cmp.Or(options.Freed, PoisonFreed)
	return &Poison{base: base{upstream: upstream}, options: options}
}

// Allocate passes the request on and fills the new memory. If the fill cannot be
// enqueued, the memory is freed again.
func (p *Poison) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return p.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (p *Poison) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	allocation, err := resource.AllocateFrom(ctx, p.upstream, bytes, stream)
	if err != nil || p.options.KeepAllocated || bytes == 0 {
		return allocation, err
	}
	if err := streamwork.EnqueueUncaptured(stream, p.fill(allocation, p.options.Allocated)); err != nil {
		err = fmt.Errorf("memory/adaptor: poison: fill new memory: %w", err)
		return resource.Allocation{}, errors.Join(err, p.upstream.Free(allocation, nil))
	}
	return allocation, nil
}

// Free fills the memory after all work on it and passes it on. It passes the memory
// on even if the fill cannot be enqueued.
func (p *Poison) Free(allocation resource.Allocation, further []*device.Stream) error {
	var filling error
	if !p.options.KeepFreed && allocation.Bytes > 0 {
		further, filling = enqueueAfterUses(allocation, further, p.fill(allocation, p.options.Freed))
		if filling != nil {
			filling = fmt.Errorf("memory/adaptor: poison: fill freed memory: %w", filling)
		}
	}
	return errors.Join(filling, p.upstream.Free(allocation, further))
}

func (p *Poison) fill(allocation resource.Allocation, pattern uint8) func(backend.Stream) error {
	return func(stream backend.Stream) error {
		return p.Device().Driver().MemsetAsync(allocation.Pointer, uint32(pattern), 1, allocation.Bytes, stream)
	}
}
