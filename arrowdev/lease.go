package arrowdev

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory"
)

// lease is an array that was moved here. Its release runs when the last holder drops
// the lease and the producer's work on the array is done.
type lease struct {
	array cabi.Array
	holds atomic.Int64
	// device is the device of the producer's work, or nil if the array is ready.
	device *device.Device
	// event is the array's sync_event, which the producer keeps until the release; nil
	// without one.
	event *device.Event
	// inBlocks is set if buffers of the array lie in blocks. Blocks of foreign memory wait
	// for the default streams before they drop the lease, memory of gpuframe need not.
	inBlocks bool
}

// newLease moves an array here. It marks source, the struct that the array was copied
// from, as released.
func newLease(array cabi.Array, source *cabi.Array) *lease {
	l := &lease{array: array}
	l.holds.Store(1)
	source.Release = 0
	return l
}

// leaseOf moves an array with a device here. The error is that of reading its event; the
// lease is valid nevertheless.
func leaseOf(m *memory.Manager, in *cabi.DeviceArray) (*lease, error) {
	l := newLease(in.Array, &in.Array)
	if m == nil || m.Device().Kind() == device.Host || !(location{in.DeviceType, in.DeviceID}).hasEvents() {
		return l, nil
	}
	l.device = m.Device()
	if in.SyncEvent == 0 || !l.live() {
		return l, nil
	}
	handle, err := readEvent(l.device, in.SyncEvent)
	if err == nil {
		l.event = l.device.WrapEvent(handle)
	}
	return l, err
}

// readEvent reads the event that a sync_event points to.
func readEvent(dev *device.Device, at uintptr) (backend.Event, error) {
	const field = "ArrowDeviceArray.sync_event"
	if err := checkTable(at); err != nil {
		return 0, faulty(field, "%w", err)
	}
	var pointed [1]int64
	if err := readHost(dev, pointed[:], at); err != nil {
		return 0, faulty(field, "read the event that it points to: %w", err)
	}
	if pointed[0] == 0 {
		return 0, faulty(field, "it points to NULL, expected an event: %w", ErrInvalid)
	}
	return backend.Event(pointed[0]), nil
}

func (l *lease) hold() { l.holds.Add(1) }

// drop drops a reference. The last one releases the array or, if the producer may still
// have work on its memory, leaves that to the device.
func (l *lease) drop() error {
	if l.holds.Add(-1) > 0 || l.array.Release == 0 {
		return nil
	}
	if endedBefore(&l.array) {
		return nil
	}
	array := l.array // C may not get the address of a struct with Go pointers
	event, pending := l.producer()
	if !pending {
		return releaseArray(&array)
	}
	streamwork.WhenDone(l.device, event, func(err error) {
		if err = errors.Join(err, event.Close(), releaseArray(&array)); err != nil {
			slog.Error("gpuframe: an Arrow array could not be given back to its owner", "device", l.device.Name(), "error", err)
		}
	})
	return nil
}

// producer returns an event that marks the producer's work, if it may be pending. Arrays of
// gpuframe's own exports need none: their memory is freed in stream order.
func (l *lease) producer() (event *device.Event, pending bool) {
	if l.device == nil || l.array.Release == ownRelease() {
		return nil, false
	}
	if l.event != nil {
		done, err := l.event.Done()
		return l.event, !done && err == nil
	}
	if l.inBlocks {
		return nil, false
	}
	stream := l.device.DefaultStream()
	if captured, err := l.device.Driver().StreamCapturing(stream.Handle()); captured || err != nil {
		return nil, false
	}
	event, done, err := streamwork.Mark(stream)
	return event, !done && err == nil
}

// live reports whether the array may be read. An array that was released or moved
// before, which the standard marks, may not be read. An unmarked copy of a gpuframe
// export that has ended may not be read either.
func (l *lease) live() bool { return l.array.Release != 0 && !endedBefore(&l.array) }

// endedBefore reports whether the struct is of a gpuframe export that has ended. The
// memory that it points to is freed.
func endedBefore(array *cabi.Array) bool {
	if array.Release != ownRelease() {
		return false
	}
	_, _, own := array.OwnerOf()
	return !own
}

// ownRelease is the release callback of gpuframe's arrays.
var ownRelease = sync.OnceValue(func() uintptr {
	var array cabi.Array
	tree, ok := cabi.Begin(nil, 0, 1)
	if !ok {
		return 0
	}
	defer tree.Drop()
	tree.OwnArray(&array)
	return array.Release
})
