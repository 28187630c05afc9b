package host

import (
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
)

// EventRecordAll marks the work of every stream, including streams that were destroyed
// with unfinished work.
func (d *device) EventRecordAll(handle backend.Event) error {
	e, err := d.event("EventRecordAll", handle)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	all := &mark{}
	// The count is one more than the number of streams, so that the mark is not reached
	// before all streams have been visited.
	var left atomic.Int64
	left.Store(1)
	arrive := func() {
		if left.Add(-1) == 0 {
			all.reach()
		}
	}
	for _, s := range d.everyStream() {
		if tail := s.tail(); tail != nil {
			left.Add(1)
			if !tail.park(arrive) {
				left.Add(-1)
			}
		}
	}
	arrive()
	e.last = all
	return nil
}

// StreamIdentity returns the handle, because no handle is issued twice.
func (d *device) StreamIdentity(handle backend.Stream) (uint64, error) {
	if _, err := d.stream("StreamIdentity", handle); err != nil {
		return 0, err
	}
	return uint64(handle), nil
}

// StreamCapturing returns false: the host cannot capture.
func (d *device) StreamCapturing(handle backend.Stream) (bool, error) {
	_, err := d.stream("StreamCapturing", handle)
	return false, err
}
