package kernelset

import (
	"context"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// once holds a value that is made once. Unlike sync.Once it tries again after an error,
// and callers that wait for another one leave when their context is done.
type once[V any] struct {
	value atomic.Pointer[V]
	// making holds one element while a caller makes the value.
	making chan struct{}
}

func newOnce[V any]() *once[V] { return &once[V]{making: make(chan struct{}, 1)} }

// get returns the value. The first call makes it with build.
func (o *once[V]) get(ctx context.Context, build func() (V, error)) (V, error) {
	if built := o.value.Load(); built != nil {
		return *built, nil
	}
	return o.make(ctx, build)
}

func (o *once[V]) make(ctx context.Context, build func() (V, error)) (value V, err error) {
	if err := cancel.Error(ctx); err != nil {
		return value, err
	}
	select {
	case o.making <- struct{}{}:
	case <-ctx.Done():
		return value, cancel.Error(ctx)
	}
	defer func() { <-o.making }()
	if built := o.value.Load(); built != nil {
		return *built, nil
	}
	if value, err = build(); err == nil {
		o.value.Store(&value)
	}
	return value, err
}
