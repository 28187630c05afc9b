package memory

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
)

// ContextAllocator is a [Resource] whose Allocate may wait for the device and
// whose AllocateContext stops waiting when the context is done. Adaptors pass
// the context on with [AllocateFrom].
type ContextAllocator interface {
	Resource
	// AllocateContext is Allocate with a context. A context that is done before
	// the device has to be waited for does not fail the request.
	//
	// # Errors
	//
	// If it stopped waiting the error wraps ctx.Err, and nothing is allocated.
	AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (Allocation, error)
}

// AllocateFrom allocates from a resource. If the resource is a
// [ContextAllocator] it stops waiting for the device when the context is done.
// Other resources do not see the context.
func AllocateFrom(ctx context.Context, resource Resource, bytes uint64, stream *device.Stream) (Allocation, error) {
	if waiting, ok := resource.(ContextAllocator); ok && ctx.Done() != nil {
		return waiting.AllocateContext(ctx, bytes, stream)
	}
	return resource.Allocate(bytes, stream)
}

// ContextPrimer is a [Primer] whose PrimeContext stops waiting for the device
// when the context is done.
type ContextPrimer interface {
	Primer
	// PrimeContext is Prime with a context.
	PrimeContext(ctx context.Context, bytes uint64) error
}

// primeFrom primes a resource, with the context if the resource takes one.
func primeFrom(ctx context.Context, primer Primer, bytes uint64) error {
	if waiting, ok := primer.(ContextPrimer); ok && ctx.Done() != nil {
		return waiting.PrimeContext(ctx, bytes)
	}
	return primer.Prime(bytes)
}
