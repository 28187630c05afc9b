package host

import (
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/device/backend"
)

// event holds the mark of its last record. A waiter reads the mark once, so that
// recording the event again does not affect earlier waiters.
type event struct {
	timing bool

	mu   sync.Mutex
	last *mark // nil until recorded
}

func (e *event) mark() *mark {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

func (d *device) event(operation string, handle backend.Event) (*event, error) {
	if err := d.check(operation); err != nil {
		return nil, err
	}
	e, ok := d.events.get(handle)
	if !ok {
		return nil, invalid(operation, "event %d does not belong to this device or was destroyed", handle)
	}
	return e, nil
}

func (d *device) EventCreate(timing bool) (backend.Event, error) {
	if err := d.check("EventCreate"); err != nil {
		return 0, err
	}
	return d.events.add(&event{timing: timing}), nil
}

// EventDestroy removes the event; streams that wait for it continue to wait.
func (d *device) EventDestroy(handle backend.Event) error {
	if err := d.check("EventDestroy"); err != nil {
		return err
	}
	if _, ok := d.events.remove(handle); !ok {
		return invalid("EventDestroy", "event %d does not belong to this device or was destroyed", handle)
	}
	return nil
}

func (d *device) EventRecord(handle backend.Event, onStream backend.Stream) error {
	e, err := d.event("EventRecord", handle)
	if err != nil {
		return err
	}
	s, err := d.stream("EventRecord", onStream)
	if err != nil {
		return err
	}
	// The lock covers both steps: of two concurrent records the event keeps the one
	// that was enqueued last.
	e.mu.Lock()
	defer e.mu.Unlock()
	m := &mark{}
	if err := d.enqueue("EventRecord", onStream, s, &step{reach: m}); err != nil {
		return err
	}
	e.last = m
	return nil
}

func (d *device) StreamWaitEvent(waiting backend.Stream, handle backend.Event) error {
	s, err := d.stream("StreamWaitEvent", waiting)
	if err != nil {
		return err
	}
	e, err := d.event("StreamWaitEvent", handle)
	if err != nil {
		return err
	}
	m := e.mark()
	if m == nil {
		return nil
	}
	if _, reached := m.when(); reached {
		return nil
	}
	return d.enqueue("StreamWaitEvent", waiting, s, &step{wait: m})
}

func (d *device) EventQuery(handle backend.Event) (done bool, err error) {
	e, err := d.event("EventQuery", handle)
	if err != nil {
		return false, err
	}
	m := e.mark()
	if m == nil {
		return true, nil
	}
	_, reached := m.when()
	return reached, nil
}

func (d *device) EventSynchronize(handle backend.Event) error {
	e, err := d.event("EventSynchronize", handle)
	if err != nil {
		return err
	}
	if m := e.mark(); m != nil {
		m.wait()
	}
	return nil
}

// EventElapsed requires two timing events that have reached their last records.
func (d *device) EventElapsed(start, end backend.Event) (milliseconds float32, err error) {
	from, err := d.eventTime("start", start)
	if err != nil {
		return 0, err
	}
	to, err := d.eventTime("end", end)
	if err != nil {
		return 0, err
	}
	return float32(to.Sub(from)) / float32(time.Millisecond), nil
}

func (d *device) eventTime(field string, handle backend.Event) (time.Time, error) {
	const operation = "EventElapsed"
	e, err := d.event(operation, handle)
	if err != nil {
		return time.Time{}, err
	}
	if !e.timing {
		return time.Time{}, invalid(operation, "%s: event %d was created without timing", field, handle)
	}
	m := e.mark()
	if m == nil {
		return time.Time{}, invalid(operation, "%s: event %d was never recorded", field, handle)
	}
	at, reached := m.when()
	if !reached {
		return time.Time{}, invalid(operation, "%s: event %d is not reached yet: call EventSynchronize first", field, handle)
	}
	return at, nil
}
