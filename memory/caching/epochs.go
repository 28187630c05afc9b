package caching

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
	"github.com/gpuframe/gpuframe/memory/internal/atomics"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
)

// epochs divide the work of a stream, so that a freed block can record its last use
// as the number of the current epoch. An epoch ends with an event that is recorded
// just before more work is enqueued, and only if another stream could use the
// memory. A free followed by an allocation on the same stream records nothing.
//
// The number changes before the event is recorded: work that was enqueued under the
// old number precedes the event.
type epochs struct {
	// stream can be queried and waited for at any time; see [streamwork.Past].
	stream  *device.Stream
	watch   *hook.Watch
	current atomic.Uint64
	// done is the last epoch that is known to have completed.
	done atomic.Uint64

	// No method of a stream is called with the lock held, because the watch takes
	// the lock inside such methods.
	mu sync.Mutex
	// marks are in ascending order.
	marks []*mark
	// closed is set once the marks are closed.
	closed bool
}

// mark is the end of an epoch, and of the epochs before it that have no mark.
type mark struct {
	epoch uint64
	event *device.Event
	// users counts the callers that are about to wait for the event.
	users int
}

// mostMarks limits the marks of a stream. Above the limit every other mark is
// dropped, and the blocks of a dropped mark count as used until the next mark.
const mostMarks = 64

func (e *epochs) open(stream *device.Stream) {
	e.stream = streamwork.Past(stream)
	e.current.Store(1)
	e.watch = streamwork.NewWatch(stream, func(handle backend.Stream) {
		epoch := e.current.Add(1) - 1
		if event, err := streamwork.RecordWithin(stream, handle); err == nil {
			e.add(epoch, event)
		} // otherwise a later mark serves, or the end of the stream
	})
}

// now returns the epoch of a block that is freed now.
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
	if e.closed { // since the watch was called
		event.Close()
		return
	}
	if len(e.marks) >= mostMarks {
		e.advance()
		e.thin()
	}
	at, _ := slices.BinarySearchFunc(e.marks, epoch, func(m *mark, epoch uint64) int { return cmp.Compare(m.epoch, epoch) })
	e.marks = slices.Insert(e.marks, at, &mark{epoch: epoch, event: event})
}

// advance moves done to the last mark that has been reached.
func (e *epochs) advance() {
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

// thin drops every other mark if there are too many.
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

// isDone reports whether the work up to the end of an epoch is known to have
// completed. It does not call the driver.
func (e *epochs) isDone(epoch uint64) bool { return epoch <= e.done.Load() }

// poll is isDone with a query of the driver.
func (e *epochs) poll(epoch uint64) bool {
	if e.isDone(epoch) {
		return true
	}
	if e.advanceTo(epoch) {
		return e.isDone(epoch)
	}
	// The epoch has no mark: gpuframe enqueued nothing after it on the stream.
	ended := e.current.Add(1) - 1
	if done, err := e.stream.Done(); !done || err != nil {
		return false
	}
	atomics.Raise(&e.done, ended)
	return true
}

// advanceTo updates done and reports whether the epoch has completed or has a mark.
func (e *epochs) advanceTo(epoch uint64) (known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.advance()
	return e.isDone(epoch) || e.markOf(epoch) != nil
}

// markOf returns the first mark at or after the end of an epoch.
func (e *epochs) markOf(epoch uint64) *mark {
	for _, m := range e.marks {
		if m.epoch >= epoch {
			return m
		}
	}
	return nil
}

// orderAfter makes another stream wait, on the device, for the end of an epoch.
func (e *epochs) orderAfter(other *device.Stream, epoch uint64) error {
	if e.poll(epoch) {
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

// wait waits for the end of an epoch.
func (e *epochs) wait(epoch uint64) error {
	work := e.pending(epoch)
	err := work.wait(context.Background())
	if err == nil {
		work.completed()
	}
	return err
}

// pendingWork is work that a caller is about to wait for. wait is called once, then
// completed if wait returned no error.
type pendingWork struct {
	wait      func(ctx context.Context) error
	completed func()
}

// pending returns the work up to the end of an epoch.
func (e *epochs) pending(epoch uint64) *pendingWork {
	if e.poll(epoch) {
		return &pendingWork{wait: func(context.Context) error { return nil }, completed: func() {}}
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
			completed: func() { atomics.Raise(&e.done, m.epoch) },
		}
	}
	ended := e.current.Add(1) - 1
	return &pendingWork{
		wait:      func(ctx context.Context) error { return streamwait.One(ctx, e.stream) },
		completed: func() { atomics.Raise(&e.done, ended) },
	}
}

func (e *epochs) use(epoch uint64) *mark {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := e.markOf(epoch)
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

// close stops the watch and closes the marks.
func (e *epochs) close() {
	e.watch.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.marks {
		m.event.Close()
	}
	e.marks, e.closed = nil, true
}
