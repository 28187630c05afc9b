package caching

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory/internal/atomics"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
)

// epochs tell where in the work of a stream a block was used last. Freed blocks
// carry the number of the current epoch; an epoch ends with an event that is
// recorded just before more work is enqueued, and only if somebody else might
// want the memory. A pair of calls that frees and allocates records nothing.
//
// The number changes before the event is recorded: who reads the old number has
// enqueued what it stands for before the event.
type epochs struct {
	// stream can be asked and waited for at any time; see [device.Stream.Past].
	stream  *device.Stream
	watch   *device.Watch
	current atomic.Uint64
	// done is the last epoch that is known to be over.
	done atomic.Uint64

	// No method of a stream is called with the lock held: the watch, which takes
	// it, runs inside of such methods.
	mu sync.Mutex
	// marks are in ascending order.
	marks []*mark
	// closed says that there are no marks any more.
	closed bool
}

// mark is the end of an epoch, and of those before it that have none of their
// own.
type mark struct {
	epoch uint64
	event *device.Event
	// users counts those who are about to wait for the event.
	users int
}

// mostMarks bounds the marks of a stream. Where there are more, every other one
// is given up: its blocks count as in use until the next.
const mostMarks = 64

func (e *epochs) open(stream *device.Stream) {
	e.stream = stream.Past()
	e.current.Store(1)
	e.watch = stream.NewWatch(func(handle backend.Stream) {
		epoch := e.current.Add(1) - 1
		if event, err := stream.RecordWithin(handle); err == nil {
			e.add(epoch, event)
		} // and if not, a later mark serves, or the end of the stream
	})
}

// now returns the epoch for a block that is freed.
func (e *epochs) now() uint64 { return e.current.Load() }

// end ends the current epoch now.
func (e *epochs) end() error {
	epoch := e.current.Add(1) - 1
	event, err := e.stream.Record()
	if err == nil {
		e.add(epoch, event)
	}
	return err
}

func (e *epochs) add(epoch uint64, event *device.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed { // while the watch was being told
		event.Close()
		return
	}
	if len(e.marks) >= mostMarks {
		e.pass()
		e.thin()
	}
	at, _ := slices.BinarySearchFunc(e.marks, epoch, func(m *mark, epoch uint64) int { return cmp.Compare(m.epoch, epoch) })
	e.marks = slices.Insert(e.marks, at, &mark{epoch: epoch, event: event})
}

// pass moves done up to the last mark that has been reached.
func (e *epochs) pass() {
	for len(e.marks) > 0 {
		first := e.marks[0]
		if done, err := first.event.Done(); !done || err != nil {
			return
		}
		atomics.Raise(&e.done, first.epoch)
		if first.users > 0 {
			return
		}
		first.event.Close()
		e.marks = slices.Delete(e.marks, 0, 1)
	}
}

// thin drops every other mark where there are too many.
func (e *epochs) thin() {
	if len(e.marks) < mostMarks {
		return
	}
	keep := false
	e.marks = slices.DeleteFunc(e.marks, func(m *mark) bool {
		keep = !keep
		if keep || m.users > 0 {
			return false
		}
		m.event.Close()
		return true
	})
}

// over reports whether the work up to an epoch's end is known to be done, without
// asking the driver.
func (e *epochs) over(epoch uint64) bool { return epoch <= e.done.Load() }

// ask is over that asks the driver.
func (e *epochs) ask(epoch uint64) bool {
	if e.over(epoch) {
		return true
	}
	if e.passed(epoch) {
		return e.over(epoch)
	}
	// There is no mark for it: nothing of ours follows on the stream.
	ended := e.current.Add(1) - 1
	if done, err := e.stream.Done(); !done || err != nil {
		return false
	}
	atomics.Raise(&e.done, ended)
	return true
}

// passed brings done up to date. It reports whether the answer for the epoch is
// known then.
func (e *epochs) passed(epoch uint64) (known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pass()
	return e.over(epoch) || e.at(epoch) != nil
}

// at returns the first mark that ends an epoch.
func (e *epochs) at(epoch uint64) *mark {
	for _, m := range e.marks {
		if m.epoch >= epoch {
			return m
		}
	}
	return nil
}

// before makes another stream wait, on the device, for an epoch's end.
func (e *epochs) before(other *device.Stream, epoch uint64) error {
	if e.ask(epoch) {
		return nil
	}
	m := e.use(epoch)
	if m == nil && e.end() == nil {
		m = e.use(epoch)
	}
	if m == nil {
		return other.WaitStream(e.stream)
	}
	defer e.unuse(m)
	return other.Wait(m.event)
}

// wait waits for an epoch's end.
func (e *epochs) wait(epoch uint64) error {
	work := e.pending(epoch)
	err := work.wait(context.Background())
	if err == nil {
		work.settled()
	}
	return err
}

// pendingWork is work that somebody is about to wait for. wait is called once, and
// settled after it if it has returned no error.
type pendingWork struct {
	wait    func(ctx context.Context) error
	settled func()
}

// pending returns the work up to an epoch's end.
func (e *epochs) pending(epoch uint64) *pendingWork {
	if e.ask(epoch) {
		return &pendingWork{wait: func(context.Context) error { return nil }, settled: func() {}}
	}
	m := e.use(epoch)
	if m == nil && e.end() == nil {
		m = e.use(epoch)
	}
	if m != nil {
		return &pendingWork{
			wait: func(ctx context.Context) error {
				defer e.unuse(m)
				return m.event.Wait(ctx)
			},
			settled: func() { atomics.Raise(&e.done, m.epoch) },
		}
	}
	ended := e.current.Add(1) - 1
	return &pendingWork{
		wait:    func(ctx context.Context) error { return streamwait.One(ctx, e.stream) },
		settled: func() { atomics.Raise(&e.done, ended) },
	}
}

func (e *epochs) use(epoch uint64) *mark {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := e.at(epoch)
	if m != nil {
		m.users++
	}
	return m
}

func (e *epochs) unuse(m *mark) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m.users--
}

// close gives up the watch and the marks.
func (e *epochs) close() {
	e.watch.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.marks {
		m.event.Close()
	}
	e.marks, e.closed = nil, true
}
