package resource

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/driver/pinned"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
)

// Pinned allocates page-locked host memory, which the host and the device can access
// and which is copied at the full speed of the link. An allocation takes the driver
// milliseconds, so keep and reuse the memory.
type Pinned struct {
	device *device.Device
}

// NewPinned returns a Pinned for the device.
func NewPinned(dev *device.Device) *Pinned { return &Pinned{device: dev} }

// Allocate implements [Resource].
func (r *Pinned) Allocate(bytes uint64, stream *device.Stream) (Allocation, error) {
	pool, err := pinned.Of(r.device)
	if err != nil {
		return Allocation{}, err
	}
	buffer, err := pool.TakeWhole(bytes)
	return Allocation{Pointer: device.Pointer(uintptr(buffer.Pointer())), Bytes: bytes, Stream: stream}, err
}

// Free implements [Resource]. It waits for the streams that have used the memory.
func (r *Pinned) Free(allocation Allocation, further []*device.Stream) error {
	if err := streamwait.All(allocation.Stream, further); err != nil {
		return err
	}
	pool, err := pinned.Of(r.device)
	if err != nil {
		return err
	}
	return pool.UnpinAt(address.Pointer(allocation.Pointer))
}

// Device implements [Resource].
func (r *Pinned) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *Pinned) Kind() device.MemoryKind { return device.MemoryPinned }

// Close implements [Resource]. It does nothing.
func (r *Pinned) Close() error { return nil }
