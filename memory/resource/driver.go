package resource

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
)

// Driver calls the driver for each allocation: cuMemAlloc and cuMemFree on CUDA. It is
// slow, and freeing synchronizes the device, but every driver supports it and memory
// tools recognize its allocations.
type Driver struct {
	device *device.Device
}

// NewDriver returns a Driver for the device.
func NewDriver(dev *device.Device) *Driver { return &Driver{device: dev} }

// Allocate implements [Resource].
func (r *Driver) Allocate(bytes uint64, stream *device.Stream) (Allocation, error) {
	pointer, err := r.device.Driver().Alloc(bytes)
	return Allocation{Pointer: pointer, Bytes: bytes, Stream: stream}, err
}

// Free implements [Resource]. It waits for the streams that have used the memory.
func (r *Driver) Free(allocation Allocation, further []*device.Stream) error {
	if err := streamwait.All(allocation.Stream, further); err != nil {
		return err
	}
	return r.device.Driver().Free(allocation.Pointer)
}

// Device implements [Resource].
func (r *Driver) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *Driver) Kind() device.MemoryKind { return r.device.MemoryKind() }

// Close implements [Resource]. It does nothing.
func (r *Driver) Close() error { return nil }
