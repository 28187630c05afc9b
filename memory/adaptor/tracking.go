package adaptor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/callstack"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Tracking records every outstanding allocation and, optionally, the call stack of
// each.
type Tracking struct {
	base
	depth int

	mu          sync.Mutex
	outstanding map[device.Pointer]tracked
	number      uint64
}

type tracked struct {
	number uint64
	bytes  uint64
	stream *device.Stream
	since  time.Time
	stack  callstack.Stack
}

// TrackingOptions are the options of a [Tracking]. The zero value is ready for use
// and records no stacks.
type TrackingOptions struct {
	// Stacks records the call stack of every allocation, which costs one or two
	// microseconds per allocation.
	Stacks bool
	// Depth is the maximum number of recorded frames; zero means 32.
	Depth int
}

// NewTracking returns an adaptor that tracks allocations.
func NewTracking(upstream resource.Resource, options TrackingOptions) *Tracking {
	t := &Tracking{base: base{upstream: upstream}, outstanding: make(map[device.Pointer]tracked)}
	if options.Stacks {
		const usual = 32
		t.depth = cmp.Or(max(options.Depth, 0), usual)
	}
	return t
}

// Outstanding is an allocation that has not been freed.
type Outstanding struct {
	// Number counts the allocations of the adaptor from 1, in order of allocation.
	Number  uint64
	Pointer device.Pointer
	Bytes   uint64
	Stream  *device.Stream
	// Since is the time of the allocation.
	Since time.Time
	// Stack is the call stack of the allocation, the innermost call first, two lines
	// per call. It is empty without TrackingOptions.Stacks.
	Stack string
}

// String formats the allocation and, if recorded, its call stack.
func (o Outstanding) String() string {
	text := fmt.Sprintf("allocation %d: %s at %v on %v", o.Number, humanize.IBytes(o.Bytes), o.Pointer, o.Stream)
	if o.Stack != "" {
		text += ", allocated at\n" + o.Stack
	}
	return text
}

// OutstandingError reports allocations that were not freed. It wraps memory.ErrLeak.
type OutstandingError struct {
	// Bytes is the sum over all outstanding allocations.
	Bytes uint64
	// Outstanding lists the allocations, the oldest first.
	Outstanding []Outstanding
}

// Error names the amounts and the ten oldest allocations.
func (e *OutstandingError) Error() string {
	const named = 10
	var b strings.Builder
	fmt.Fprintf(&b, "memory/adaptor: tracking: %v: %d allocations of %s are outstanding",
		memory.ErrLeak, len(e.Outstanding), humanize.IBytes(e.Bytes))
	for _, o := range e.Outstanding[:min(named, len(e.Outstanding))] {
		b.WriteString("\n" + strings.TrimSuffix(o.String(), "\n"))
	}
	if more := len(e.Outstanding) - named; more > 0 {
		fmt.Fprintf(&b, "\nand %d later ones", more)
	}
	return b.String()
}

// Unwrap returns memory.ErrLeak.
func (e *OutstandingError) Unwrap() error { return memory.ErrLeak }

// Outstanding returns the allocations that have not been freed, the oldest first.
func (t *Tracking) Outstanding() []Outstanding {
	held := t.snapshot()
	list := make([]Outstanding, len(held))
	for i, h := range held {
		list[i] = Outstanding{
			Number: h.number, Pointer: h.pointer, Bytes: h.bytes, Stream: h.stream, Since: h.since, Stack: h.stack.Text(""),
		}
	}
	return list
}

type trackedAt struct {
	pointer device.Pointer
	tracked
}

// snapshot copies the outstanding allocations, so that stacks are formatted without
// the lock.
func (t *Tracking) snapshot() []trackedAt {
	t.mu.Lock()
	held := make([]trackedAt, 0, len(t.outstanding))
	for pointer, block := range t.outstanding {
		held = append(held, trackedAt{pointer, block})
	}
	t.mu.Unlock()
	slices.SortStableFunc(held, func(a, b trackedAt) int { return cmp.Compare(a.number, b.number) })
	return held
}

// CheckEmpty returns nil if everything was freed and an [*OutstandingError]
// otherwise.
func (t *Tracking) CheckEmpty() error {
	list := t.Outstanding()
	if len(list) == 0 {
		return nil
	}
	e := &OutstandingError{Outstanding: list}
	for _, o := range list {
		e.Bytes += o.Bytes
	}
	return e
}

// Allocate passes the request on and records the allocation.
func (t *Tracking) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return t.allocate(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (t *Tracking) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return t.allocate(ctx, bytes, stream)
}

// allocate records the stack of its caller's caller.
func (t *Tracking) allocate(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	allocation, err := resource.AllocateFrom(ctx, t.upstream, bytes, stream)
	if err != nil {
		return allocation, err
	}
	block := tracked{bytes: bytes, stream: stream, since: time.Now()}
	if t.depth > 0 {
		block.stack = callstack.Capture(2, t.depth)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.number++
	block.number = t.number
	t.outstanding[allocation.Pointer] = block
	return allocation, nil
}

// Free removes the record of the allocation and passes the allocation on.
func (t *Tracking) Free(allocation resource.Allocation, further []*device.Stream) error {
	t.mu.Lock()
	// This comes before the upstream's Free, because the address may be reused
	// immediately.
	delete(t.outstanding, allocation.Pointer)
	t.mu.Unlock()
	return t.upstream.Free(allocation, further)
}
