package adaptor

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Limit is a budget for all requests that pass through it. It reserves bytes before
// it calls the upstream and never reserves more than the limit. A request that is
// too large therefore fails alone and cannot make a concurrent one fail.
type Limit struct {
	base
	limit       uint64
	granularity uint64
	inUse       atomic.Uint64
}

// LimitOptions are the options of a [Limit]. The zero value is ready for use.
type LimitOptions struct {
	// Granularity rounds sizes up to a multiple before they are counted, for a
	// device with a minimum allocation size. Zero counts the requested sizes.
	Granularity uint64
}

// NewLimit returns an adaptor that allows at most the given number of bytes in use.
func NewLimit(upstream resource.Resource, bytes uint64, options LimitOptions) *Limit {
	return &Limit{base: base{upstream: upstream}, limit: bytes, granularity: max(options.Granularity, 1)}
}

// LimitError explains why a request did not fit a [Limit]. It wraps
// memory.ErrBudget.
type LimitError struct {
	// Asked, InUse and Limit are bytes. Asked is the requested size; InUse includes
	// rounding.
	Asked, InUse, Limit uint64
}

// Error names the requested bytes, the bytes in use, and the remedy.
func (e *LimitError) Error() string {
	return fmt.Sprintf("memory/adaptor: limit: allocate %s: %v: %s of %s in use; free some or make the limit larger",
		humanize.IBytes(e.Asked), memory.ErrBudget, humanize.IBytes(e.InUse), humanize.IBytes(e.Limit))
}

// Unwrap returns memory.ErrBudget.
func (e *LimitError) Unwrap() error { return memory.ErrBudget }

// InUse returns the bytes that are allocated or being allocated now.
func (l *Limit) InUse() uint64 { return l.inUse.Load() }

// Limit returns the maximum number of bytes in use.
func (l *Limit) Limit() uint64 { return l.limit }

// Remaining returns the bytes that are still available.
func (l *Limit) Remaining() uint64 { return l.limit - l.inUse.Load() }

// Allocate passes the request on if it fits. Otherwise the error is a
// [*LimitError].
func (l *Limit) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return l.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (l *Limit) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	counted, inUse, ok := l.reserve(bytes)
	if !ok {
		return resource.Allocation{}, &LimitError{Asked: bytes, InUse: inUse, Limit: l.limit}
	}
	allocation, err := resource.AllocateFrom(ctx, l.upstream, bytes, stream)
	if err != nil {
		l.inUse.Add(-counted)
	}
	return allocation, err
}

// Free passes the allocation on and returns its bytes to the limit.
func (l *Limit) Free(allocation resource.Allocation, further []*device.Stream) error {
	// The bytes become available after the upstream's Free, because the upstream
	// holds them until then.
	counted, _ := roundUp(allocation.Bytes, l.granularity)
	defer l.inUse.Add(-counted)
	return l.upstream.Free(allocation, further)
}

func (l *Limit) reserve(bytes uint64) (counted, inUse uint64, ok bool) {
	counted, fits := roundUp(bytes, l.granularity)
	for {
		inUse = l.inUse.Load()
		if !fits || counted > l.limit-inUse {
			return counted, inUse, false
		}
		if l.inUse.CompareAndSwap(inUse, inUse+counted) {
			return counted, inUse + counted, true
		}
	}
}

// roundUp returns the next multiple of the unit. ok is false if it does not fit in
// 64 bits.
func roundUp(bytes, unit uint64) (rounded uint64, ok bool) {
	missing := (unit - bytes%unit) % unit
	return bytes + missing, bytes+missing >= bytes
}
