package adaptor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/streamwork"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// The bytes that a [Poison] fills memory with unless told otherwise.
const (
	PoisonAllocated uint8 = 0xCD
	PoisonFreed     uint8 = 0xDD
)

// Poison fills memory with a pattern when it is allocated and when it is freed,
// so that reading what was never written, or what was given back, shows. Both
// fills are in stream order: one before any work on the memory, the other after
// all of it. Neither waits.
type Poison struct {
	base
	options PoisonOptions
}

// PoisonOptions are the options of a [Poison]. The zero value fills at both
// times.
type PoisonOptions struct {
	// Allocated is the byte that new memory is filled with; zero means
	// PoisonAllocated.
	Allocated uint8
	// Freed is the byte that memory is filled with when it is freed; zero means
	// PoisonFreed.
	Freed uint8
	// KeepAllocated leaves new memory as it is.
	KeepAllocated bool
	// KeepFreed leaves freed memory as it is.
	KeepFreed bool
}

// NewPoison returns an adaptor that fills what passes through it.
func NewPoison(upstream resource.Resource, options PoisonOptions) *Poison {
	options.Allocated = cmp.Or(options.Allocated, PoisonAllocated)
	options.Freed = cmp.Or(options.Freed, PoisonFreed)
	return &Poison{base: base{upstream: upstream}, options: options}
}

// Allocate passes the request on and fills what it gives. Where the fill cannot
// be enqueued the memory is freed again.
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

// Free fills the memory after all work on it and passes it on, which it does too
// where the fill cannot be enqueued.
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
