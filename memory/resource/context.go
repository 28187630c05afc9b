package resource

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
)

// ContextAllocator is a [Resource] with an Allocate that may wait for the device.
// Its AllocateContext stops waiting when the context is done. Adaptors pass the
// context on with [AllocateFrom].
type ContextAllocator interface {
	Resource
	// AllocateContext is Allocate with a context. A context that is done before the
	// resource has to wait for the device does not fail the request.
	//
	// # Errors
	//
	// If it stopped waiting the error wraps ctx.Err, and nothing is allocated.
	AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (Allocation, error)
}

// AllocateFrom allocates from a resource. If the resource is a [ContextAllocator] it
// stops waiting for the device when the context is done. Other resources do not see
// the context.
func AllocateFrom(ctx context.Context, from Resource, bytes uint64, stream *device.Stream) (Allocation, error) {
	if waiting, ok := from.(ContextAllocator); ok && ctx.Done() != nil {
		return waiting.AllocateContext(ctx, bytes, stream)
	}
	return from.Allocate(bytes, stream)
}

// ContextPrimer is a [Primer] with a PrimeContext that stops waiting for the device
// when the context is done.
type ContextPrimer interface {
	Primer
	// PrimeContext is Prime with a context.
	PrimeContext(ctx context.Context, bytes uint64) error
}

// PrimeFrom primes a resource. Only a [ContextPrimer] sees the context.
func PrimeFrom(ctx context.Context, primer Primer, bytes uint64) error {
	if waiting, ok := primer.(ContextPrimer); ok && ctx.Done() != nil {
		return waiting.PrimeContext(ctx, bytes)
	}
	return primer.Prime(bytes)
}
