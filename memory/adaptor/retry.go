package adaptor

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Retry repeats a request that fails because of too little memory, as long as a
// callback returns true.
type Retry struct {
	base
	again      func(bytes uint64, err error) bool
	conditions []error
}

// RetryOptions are the options of a [Retry]. The zero value is ready for use.
type RetryOptions struct {
	// Conditions are the errors after which a request is repeated: the upstream's
	// error must wrap one of them. Empty means device.ErrOutOfMemory and
	// memory.ErrBudget.
	Conditions []error
}

// NewRetry returns an adaptor that calls again with the requested bytes and the
// error each time a request fails with one of the conditions. If again returns true
// the adaptor repeats the request, otherwise it returns the error.
//
// The callback runs on the goroutine of the request, without a lock, and possibly on
// several goroutines at a time. It may free memory, including memory of this
// adaptor. It must return false when it can free no more, or the request never ends.
// With a nil callback requests are never repeated.
func NewRetry(upstream resource.Resource, again func(bytes uint64, err error) bool, options RetryOptions) *Retry {
	r := &Retry{base: base{upstream: upstream}, again: again, conditions: slices.Clone(options.Conditions)}
	if len(r.conditions) == 0 {
		r.conditions = []error{device.ErrOutOfMemory, memory.ErrBudget}
	}
	return r
}

// Allocate passes the request on until it succeeds, fails for another reason, or the
// callback returns false.
func (r *Retry) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return r.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (r *Retry) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	for {
		allocation, err := resource.AllocateFrom(ctx, r.upstream, bytes, stream)
		if err == nil || !r.retryable(err) || r.again == nil || !r.again(bytes, err) {
			return allocation, err
		}
	}
}

func (r *Retry) retryable(err error) bool {
	return slices.ContainsFunc(r.conditions, func(condition error) bool { return errors.Is(err, condition) })
}
