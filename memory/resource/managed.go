package resource

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
)

// Managed allocates managed memory, which is accessible at the same address on the
// host and on the device: cuMemAllocManaged on CUDA. The driver migrates its pages
// on access, so a program can use more of it than the device has. The first access
// on either side waits for the migration; an adaptor.Prefetch above this resource
// migrates in advance.
//
// If the device's attribute ConcurrentManagedAccess is zero, the host must not
// access the memory while the device is running work.
type Managed struct {
	device *device.Device
}

// NewManaged returns a Managed for the device. If the device has no managed memory,
// each allocation fails with device.ErrNotSupported; use a [Driver] there.
func NewManaged(dev *device.Device) *Managed {
	return &Managed{device: dev}
}

// Allocate implements [Resource].
func (r *Managed) Allocate(bytes uint64, stream *device.Stream) (Allocation, error) {
	pointer, err := r.device.Driver().AllocManaged(bytes)
	if err != nil {
		return Allocation{}, fmt.Errorf("memory: allocate %s of managed memory: %w", humanize.IBytes(bytes), err)
	}
	return Allocation{Pointer: pointer, Bytes: bytes, Stream: stream}, nil
}

// Free implements [Resource]. It waits for the streams that have used the
// memory.
func (r *Managed) Free(allocation Allocation, further []*device.Stream) error {
	if err := streamwait.All(allocation.Stream, further); err != nil {
		return err
	}
	return r.device.Driver().Free(allocation.Pointer)
}

// Device implements [Resource].
func (r *Managed) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *Managed) Kind() device.MemoryKind { return device.MemoryManaged }

// Close implements [Resource]. It does nothing.
func (r *Managed) Close() error { return nil }
