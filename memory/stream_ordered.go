package memory

import (
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// StreamOrderedResource allocates from a memory pool of the driver's own, in
// stream order and without synchronising: cuMemAllocFromPoolAsync and
// cuMemFreeAsync on CUDA. Freed memory stays in the pool for the next request.
type StreamOrderedResource struct {
	device *device.Device
	pool   backend.Pool
}

// NewStreamOrderedResource makes a pool on the device. Where the driver has no
// pools (before CUDA 11.2, or on some virtual GPUs) the error wraps
// device.ErrNotSupported; use a [DriverResource] there.
func NewStreamOrderedResource(dev *device.Device) (*StreamOrderedResource, error) {
	pool, err := dev.Driver().PoolCreate(0)
	if err != nil {
		return nil, fmt.Errorf("memory: new stream-ordered resource: %w", err)
	}
	// The driver returns unused memory to the system at every synchronisation
	// unless it is told to keep it, and mapping it anew takes milliseconds.
	if err := dev.Driver().PoolSetAttribute(pool, backend.PoolReleaseThreshold, math.MaxUint64); err != nil {
		return nil, errors.Join(fmt.Errorf("memory: new stream-ordered resource: %w", err), dev.Driver().PoolDestroy(pool))
	}
	return &StreamOrderedResource{device: dev, pool: pool}, nil
}

// Allocate implements [Resource].
func (r *StreamOrderedResource) Allocate(bytes uint64, stream *device.Stream) (Allocation, error) {
	allocation := Allocation{Bytes: bytes, Stream: stream}
	err := stream.Enqueue(func(handle backend.Stream) (err error) {
		allocation.Pointer, err = r.device.Driver().AllocAsync(bytes, r.pool, handle)
		return err
	})
	return allocation, err
}

// Free implements [Resource]: the memory's stream is made to wait for the
// others, then frees it.
func (r *StreamOrderedResource) Free(allocation Allocation, further []*device.Stream) error {
	stream := allocation.Stream
	free := func(handle backend.Stream) error {
		return r.device.Driver().FreeAsync(allocation.Pointer, handle)
	}
	for _, other := range further {
		if err := stream.WaitStream(other); err != nil && !errors.Is(err, ErrClosed) {
			return err
		}
	}
	err := stream.Enqueue(free)
	if !errors.Is(err, ErrClosed) {
		return err
	}
	// The memory's own stream is gone: order the free on the default stream.
	stream = r.device.DefaultStream()
	for _, other := range append([]*device.Stream{allocation.Stream}, further...) {
		if err := stream.WaitStream(other); err != nil {
			return err
		}
	}
	return stream.Enqueue(free)
}

// Device implements [Resource].
func (r *StreamOrderedResource) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *StreamOrderedResource) Kind() device.MemoryKind { return ownKind(r.device) }

// Close destroys the pool. The driver keeps what is still in use until it is
// freed.
func (r *StreamOrderedResource) Close() error {
	if err := r.device.Driver().PoolDestroy(r.pool); err != nil {
		return fmt.Errorf("memory: close stream-ordered resource: %w", err)
	}
	return nil
}

func ownKind(dev *device.Device) device.MemoryKind {
	if dev.Kind() == device.Host {
		return device.MemoryHost
	}
	return device.MemoryDevice
}
