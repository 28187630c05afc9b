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
	"github.com/gpuframe/gpuframe/internal/callstack"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Tracking knows every allocation that is outstanding and, if asked to, where in
// the program it was made.
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

// TrackingOptions are the options of a [Tracking]. The zero value is ready for
// use and keeps no stacks.
type TrackingOptions struct {
	// Stacks keeps the call stack of every allocation, which costs a microsecond
	// or two each.
	Stacks bool
	// Depth is how many frames are kept; zero means 32.
	Depth int
}

// NewTracking returns an adaptor that tracks what passes through it.
func NewTracking(upstream resource.Resource, options TrackingOptions) *Tracking {
	t := &Tracking{base: base{upstream: upstream}, outstanding: make(map[device.Pointer]tracked)}
	if options.Stacks {
		const usual = 32
		t.depth = cmp.Or(max(options.Depth, 0), usual)
	}
	return t
}

// Outstanding is an allocation that was not freed yet.
type Outstanding struct {
	// Number counts the allocations of the adaptor from 1, in the order in which
	// they were made.
	Number  uint64
	Pointer device.Pointer
	Bytes   uint64
	Stream  *device.Stream
	// Since is when it was allocated.
	Since time.Time
	// Stack is the call stack of the allocation, the innermost call first and two
	// lines for each. It is empty without TrackingOptions.Stacks.
	Stack string
}

// String says what is outstanding and, where known, where it was allocated.
func (o Outstanding) String() string {
	text := fmt.Sprintf("allocation %d: %s at %v on %v", o.Number, humanize.Bytes(o.Bytes), o.Pointer, o.Stream)
	if o.Stack != "" {
		text += ", allocated at\n" + o.Stack
	}
	return text
}

// OutstandingError says that allocations were not freed. It wraps
// memory.ErrLeak.
type OutstandingError struct {
	// Bytes is the sum over all of them.
	Bytes uint64
	// Outstanding has the oldest first.
	Outstanding []Outstanding
}

// Error names the amounts and the ten oldest allocations.
func (e *OutstandingError) Error() string {
	const named = 10
	var b strings.Builder
	fmt.Fprintf(&b, "memory/adaptor: tracking: %v: %d allocations of %s are outstanding",
		memory.ErrLeak, len(e.Outstanding), humanize.Bytes(e.Bytes))
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

// Outstanding returns the allocations that were not freed yet, the oldest first.
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

// snapshot leaves the work of formatting stacks to be done without the lock.
func (t *Tracking) snapshot() []trackedAt {
	t.mu.Lock()
	held := make([]trackedAt, 0, len(t.outstanding))
	for pointer, block := range t.outstanding {
		held = append(held, trackedAt{pointer, block})
	}
	t.mu.Unlock()
	slices.SortFunc(held, func(a, b trackedAt) int { return cmp.Compare(a.number, b.number) })
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

// Allocate passes the request on and remembers what it gives.
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

// Free forgets the allocation and passes it on.
func (t *Tracking) Free(allocation resource.Allocation, further []*device.Stream) error {
	t.mu.Lock()
	// Before the upstream has it: the address may be handed out anew at once.
	delete(t.outstanding, allocation.Pointer)
	t.mu.Unlock()
	return t.upstream.Free(allocation, further)
}
