package host

import (
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
)

// step is one entry of a stream's queue; exactly one of run, reach and wait is set.
type step struct {
	run   func()
	reach *mark
	wait  *mark
	// observer marks a step that is not work of the stream: it only reports when the
	// earlier steps are done.
	observer bool
	next     *step
}

// stream runs its steps in order. It has a goroutine only while a step can run: an idle
// stream, and a stream that waits for another stream's mark, have none.
type stream struct {
	deviceUnfinished *atomic.Int64

	mu          sync.Mutex
	first, last *step
	// unfinished counts the enqueued steps that are not done, including the running one
	// but not observers: a stream must not seem busy because another goroutine waits
	// for the device.
	unfinished int
	// active is set while a goroutine runs the steps or a mark will start one.
	active bool
	closed bool
}

func newStream(deviceUnfinished *atomic.Int64) *stream {
	return &stream{deviceUnfinished: deviceUnfinished}
}

// enqueue adds a step. It returns false if the stream is closed.
func (s *stream) enqueue(next *step) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.append(next)
	return true
}

// append adds a step. The caller holds the lock.
func (s *stream) append(next *step) {
	if s.last == nil {
		s.first = next
	} else {
		s.last.next = next
	}
	s.last = next
	if !next.observer {
		s.unfinished++
		s.deviceUnfinished.Add(1)
	}
	if !s.active {
		s.active = true
		go s.work()
	}
}

// work runs steps until the queue is empty or the next step must wait.
func (s *stream) work() {
	for {
		next := s.take()
		switch {
		case next == nil:
			return
		case next.run != nil:
			next.run()
			s.finish()
		case next.reach != nil:
			s.reached(next)
		case next.wait.park(s.resume):
			return
		default:
			s.finish()
		}
	}
}

// resume continues after a mark for which the stream has waited.
func (s *stream) resume() {
	s.finish()
	go s.work()
}

func (s *stream) take() *step {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.first
	if next == nil {
		s.active = false
		return nil
	}
	s.first = next.next
	if s.first == nil {
		s.last = nil
	}
	return next
}

func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unfinished--
	s.deviceUnfinished.Add(-1)
}

// reached finishes a step that reaches a mark. Both changes appear together: a
// goroutine that sees the mark reached finds the stream idle, and the reverse.
func (s *stream) reached(next *step) {
	s.mu.Lock()
	if !next.observer {
		s.unfinished--
		s.deviceUnfinished.Add(-1)
	}
	waiting := next.reach.set()
	s.mu.Unlock()
	for _, resume := range waiting {
		resume()
	}
}

func (s *stream) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unfinished == 0
}

// tail returns a mark after all enqueued work, nil if it is done.
func (s *stream) tail() *mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appendMark()
}

// close refuses further steps and returns the result of tail.
func (s *stream) close() *mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.appendMark()
}

func (s *stream) appendMark() *mark {
	if s.unfinished == 0 {
		return nil
	}
	m := &mark{}
	s.append(&step{reach: m, observer: true})
	return m
}

// wait blocks the calling goroutine until the enqueued work is done.
func (s *stream) wait() {
	if m := s.tail(); m != nil {
		m.wait()
	}
}

// stream finds the stream of a handle.
func (d *device) stream(operation string, handle backend.Stream) (*stream, error) {
	if err := d.check(operation); err != nil {
		return nil, err
	}
	if handle == 0 {
		return d.defaultStream, nil
	}
	s, ok := d.streams.get(handle)
	if !ok {
		return nil, d.badStream(operation, handle)
	}
	return s, nil
}

// enqueue adds a step to a stream that was found before. Another goroutine may have
// closed the stream in between.
func (d *device) enqueue(operation string, handle backend.Stream, s *stream, next *step) error {
	if s.enqueue(next) {
		return nil
	}
	if err := d.check(operation); err != nil {
		return err
	}
	return d.badStream(operation, handle)
}

func (d *device) badStream(operation string, handle backend.Stream) error {
	return invalid(operation, "stream %d does not belong to this device or was destroyed", handle)
}

func (d *device) StreamCreate() (backend.Stream, error) {
	if err := d.check("StreamCreate"); err != nil {
		return 0, err
	}
	return d.streams.add(newStream(&d.unfinished)), nil
}

func (d *device) StreamDestroy(handle backend.Stream) error {
	if err := d.check("StreamDestroy"); err != nil {
		return err
	}
	if handle == 0 {
		return invalid("StreamDestroy", "stream 0 is the default stream, which lives as long as the device")
	}
	s, ok := d.streams.get(handle)
	if !ok {
		return d.badStream("StreamDestroy", handle)
	}
	d.detach(s)
	if _, ok := d.streams.remove(handle); !ok {
		return d.badStream("StreamDestroy", handle)
	}
	return nil
}

// detach closes a stream and keeps it visible to Synchronize until its work is done.
func (d *device) detach(s *stream) {
	d.detachedMu.Lock()
	d.detached[s] = struct{}{}
	d.detachedMu.Unlock()

	forget := func() {
		d.detachedMu.Lock()
		defer d.detachedMu.Unlock()
		delete(d.detached, s)
	}
	if end := s.close(); end == nil || !end.park(forget) {
		forget()
	}
}

func (d *device) StreamSynchronize(handle backend.Stream) error {
	s, err := d.stream("StreamSynchronize", handle)
	if err != nil {
		return err
	}
	s.wait()
	return nil
}

func (d *device) StreamQuery(handle backend.Stream) (done bool, err error) {
	s, err := d.stream("StreamQuery", handle)
	if err != nil {
		return false, err
	}
	return s.idle(), nil
}
