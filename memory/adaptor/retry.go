package adaptor

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Retry asks again when a request fails for want of memory, for as long as a
// callback says that it may help.
type Retry struct {
	base
	again      func(bytes uint64, err error) bool
	conditions []error
}

// RetryOptions are the options of a [Retry]. The zero value is ready for use.
type RetryOptions struct {
	// Conditions are the errors to ask again after: one of them must be in the
	// chain of the upstream's error. Empty means device.ErrOutOfMemory and
	// memory.ErrBudget.
	Conditions []error
}

// NewRetry returns an adaptor that calls again with the bytes that were asked for
// and the error each time a request fails for want of memory. Where that returns
// true the upstream is asked again, otherwise the error is returned.
//
// The callback runs in the goroutine of the request, without any lock, and in
// several of them at a time. It may free memory, through this adaptor too. It
// ought to return false once it has nothing left to do, or the request never
// ends. A nil callback asks for nothing again.
func NewRetry(upstream resource.Resource, again func(bytes uint64, err error) bool, options RetryOptions) *Retry {
	r := &Retry{base: base{upstream: upstream}, again: again, conditions: slices.Clone(options.Conditions)}
	if len(r.conditions) == 0 {
		r.conditions = []error{device.ErrOutOfMemory, memory.ErrBudget}
	}
	return r
}

// Allocate passes the request on until it succeeds, fails for another reason, or
// the callback gives up.
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
