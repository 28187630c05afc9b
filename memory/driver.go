package memory

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/address"
)

// DriverResource asks the driver for each allocation: cuMemAlloc and cuMemFree
// on CUDA. It is slow, and freeing synchronises the device, but every driver has
// it and every other process-wide tool understands its memory.
type DriverResource struct {
	device *device.Device
}

// NewDriverResource returns a DriverResource for the device.
func NewDriverResource(dev *device.Device) *DriverResource {
	return &DriverResource{device: dev}
}

// Allocate implements [Resource].
func (r *DriverResource) Allocate(bytes uint64, stream *device.Stream) (Allocation, error) {
	pointer, err := r.device.Driver().Alloc(bytes)
	return Allocation{Pointer: pointer, Bytes: bytes, Stream: stream}, err
}

// Free implements [Resource]. It waits for the streams that have used the
// memory.
func (r *DriverResource) Free(allocation Allocation, further []*device.Stream) error {
	if err := synchronizeAll(allocation.Stream, further); err != nil {
		return err
	}
	return r.device.Driver().Free(allocation.Pointer)
}

// Device implements [Resource].
func (r *DriverResource) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *DriverResource) Kind() device.MemoryKind { return ownKind(r.device) }

// Close implements [Resource]; there is nothing to give back.
func (r *DriverResource) Close() error { return nil }

// PinnedResource allocates page-locked host memory, which both the processor and
// the device can reach and which travels at the full speed of the link. Each
// allocation costs the driver milliseconds: keep what it returns.
type PinnedResource struct {
	device *device.Device
}

// NewPinnedResource returns a PinnedResource for the device.
func NewPinnedResource(dev *device.Device) *PinnedResource {
	return &PinnedResource{device: dev}
}

// Allocate implements [Resource].
func (r *PinnedResource) Allocate(bytes uint64, stream *device.Stream) (Allocation, error) {
	pointer, err := r.device.Driver().HostAlloc(bytes)
	return Allocation{Pointer: device.Pointer(uintptr(pointer)), Bytes: bytes, Stream: stream}, err
}

// Free implements [Resource]. It waits for the streams that have used the
// memory.
func (r *PinnedResource) Free(allocation Allocation, further []*device.Stream) error {
	if err := synchronizeAll(allocation.Stream, further); err != nil {
		return err
	}
	return r.device.Driver().HostFree(address.Pointer(allocation.Pointer))
}

// Device implements [Resource].
func (r *PinnedResource) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *PinnedResource) Kind() device.MemoryKind { return device.MemoryPinned }

// Close implements [Resource]; there is nothing to give back.
func (r *PinnedResource) Close() error { return nil }

// synchronizeAll waits for everything that may use memory which is about to be
// freed for good. The wait cannot be given up: the memory would be lost.
func synchronizeAll(stream *device.Stream, further []*device.Stream) error {
	failures := []error{synchronize(context.Background(), stream)}
	for _, other := range further {
		failures = append(failures, synchronize(context.Background(), other))
	}
	return errors.Join(failures...)
}

// synchronize waits for the work that is known to be on a stream.
func synchronize(ctx context.Context, stream *device.Stream) error {
	err := stream.Past().SynchronizeUncaptured(ctx)
	// To wait for a stream takes an event, for the device it takes nothing. If that
	// fails too the device is lost.
	if err != nil && ctx.Err() == nil && stream.Device().Synchronize(ctx) == nil {
		return nil
	}
	return err
}
