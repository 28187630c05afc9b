package device

import (
	"fmt"
	"sync/atomic"
)

// arrivals numbers the memory that came from other libraries without an event; see
// streamwork.Arrive.
type arrivals struct {
	last atomic.Uint64
	// done is the last number of which the host knows that its memory has arrived.
	done atomic.Uint64
}

// Arrive numbers new memory; see streamwork.Arrive.
func (w *deviceWork) Arrive() uint64 { return w.arrivals.last.Add(1) }

// AwaitArrival orders the stream after an arrival; see streamwork.AwaitArrival.
func (w *streamWork) AwaitArrival(d *Device, arrival uint64) error {
	if w.device == d && w.arrived.Load() >= arrival || d.arrivals.done.Load() >= arrival {
		return nil
	}
	return (*Stream)(w).awaitArrivals(d)
}

// awaitArrivals makes later work wait, on the device, for the current work of the
// default stream of a device, which waits for the default streams of all threads and for
// all streams that are not non-blocking. That work includes all copies of memory that has
// arrived so far.
func (s *Stream) awaitArrivals(d *Device) error {
	if s.Equal(d.defaultStream) || d.ended.Load() {
		return nil
	}
	last := d.arrivals.last.Load()
	if s.foreign != nil {
		// Captured work runs later, and a wait for an event from outside would break the
		// capture of the other library.
		if captured, err := s.device.driver.StreamCapturing(s.handle); err != nil || captured {
			return err
		}
	}
	err := d.refuseForeignCapture()
	if err == nil {
		err = s.WaitStream(d.defaultStream)
	}
	if err != nil {
		return fmt.Errorf("%v: wait for memory that came without an event: %w", s, err)
	}
	if s.device == d {
		raise(&s.arrived, last)
	}
	return nil
}

// refuseForeignCapture returns an error while another library captures a stream that the
// default stream would have to wait for.
func (d *Device) refuseForeignCapture() error {
	captured, err := d.driver.StreamCapturing(d.defaultStream.handle)
	if err == nil && captured {
		err = fmt.Errorf("the default stream cannot be marked now, use the memory once before the capture: %w", ErrCapturing)
	}
	return err
}

// Arrived reports whether memory has arrived; see streamwork.Arrived.
func (w *deviceWork) Arrived(arrival uint64, wait func(*Event) (bool, error)) (bool, error) {
	if w.arrivals.done.Load() >= arrival || w.ended.Load() {
		return true, nil
	}
	d := (*Device)(w)
	last := w.arrivals.last.Load()
	if err := d.refuseForeignCapture(); err != nil {
		return false, fmt.Errorf("device %s: wait for memory that came without an event: %w", d.name, err)
	}
	event, err := d.defaultStream.Record()
	if err != nil {
		return false, err
	}
	arrived, err := wait(event)
	if err = closeAfter(event, err); err != nil || !arrived {
		return false, err
	}
	raise(&w.arrivals.done, last)
	return true, nil
}

func raise(number *atomic.Uint64, to uint64) {
	for {
		before := number.Load()
		if before >= to || number.CompareAndSwap(before, to) {
			return
		}
	}
}
