package resource

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/internal/peers"
)

// StreamOrdered allocates from a memory pool of the driver, in stream order and
// without synchronization: cuMemAllocFromPoolAsync and cuMemFreeAsync on CUDA. Freed
// memory stays in the pool for later requests.
type StreamOrdered struct {
	device *device.Device
	pool   backend.Pool
	// peers are the other devices with access to the pool's memory; allowing guards
	// changes to them.
	peers    peers.Set
	allowing sync.Mutex
}

// StreamOrderedOptions configure a [StreamOrdered]. The zero value is
// right for most programs.
type StreamOrderedOptions struct {
	// MaximumBytes is the maximum size of the pool. Zero means no limit other than
	// the device's memory; before CUDA 12.2 it must be zero.
	MaximumBytes uint64
	// InitialBytes are allocated when the pool is created, so that the first
	// requests find memory.
	InitialBytes uint64
	// ReleaseThreshold is the amount of unused memory that the pool keeps when a
	// stream or the device is synchronized. Zero means all of it, because mapping
	// memory again takes milliseconds; use KeepNothing to keep none.
	ReleaseThreshold uint64
	// NoFollowEvents, NoOpportunistic and NoInternalDependencies disable the ways in
	// which the driver reuses memory on another stream: if an event has ordered the
	// streams, if the work has already completed, and by making the stream wait.
	NoFollowEvents, NoOpportunistic, NoInternalDependencies bool
}

// KeepNothing is the ReleaseThreshold that returns all unused memory to the system
// at every synchronization.
const KeepNothing = 1

// NewStreamOrdered creates a memory pool on the device. If the driver has no memory
// pools (before CUDA 11.2, or on some virtual GPUs), the error wraps
// device.ErrNotSupported; use a caching resource there.
func NewStreamOrdered(dev *device.Device, options StreamOrderedOptions) (*StreamOrdered, error) {
	pool, err := dev.Driver().PoolCreate(options.MaximumBytes)
	if err != nil {
		return nil, fmt.Errorf("memory: new stream-ordered resource: %w", err)
	}
	r := &StreamOrdered{device: dev, pool: pool}
	if err := errors.Join(r.configure(options), r.prime(options.InitialBytes)); err != nil {
		return nil, errors.Join(fmt.Errorf("memory: new stream-ordered resource: %w", err), dev.Driver().PoolDestroy(pool))
	}
	return r, nil
}

func (r *StreamOrdered) configure(options StreamOrderedOptions) error {
	threshold := options.ReleaseThreshold
	if threshold == 0 {
		threshold = math.MaxUint64
	}
	set := func(attribute backend.PoolAttribute, value uint64) error {
		return r.device.Driver().PoolSetAttribute(r.pool, attribute, value)
	}
	failures := []error{set(backend.PoolReleaseThreshold, threshold)}
	for attribute, off := range map[backend.PoolAttribute]bool{
		backend.PoolReuseFollowEventDependencies:   options.NoFollowEvents,
		backend.PoolReuseAllowOpportunistic:        options.NoOpportunistic,
		backend.PoolReuseAllowInternalDependencies: options.NoInternalDependencies,
	} {
		if off {
			failures = append(failures, set(attribute, 0))
		}
	}
	return errors.Join(failures...)
}

// prime makes the pool obtain memory from the system.
func (r *StreamOrdered) prime(bytes uint64) error {
	if bytes == 0 {
		return nil
	}
	allocation, err := r.Allocate(bytes, r.device.DefaultStream())
	if err != nil {
		return err
	}
	return r.Free(allocation, nil)
}

// Trim implements [Trimmer]. It releases unused memory of the driver's pool.
func (r *StreamOrdered) Trim(keep uint64) (released uint64, err error) {
	before, err := r.Reserved()
	if err != nil {
		return 0, err
	}
	if err := r.device.Driver().PoolTrim(r.pool, keep); err != nil {
		return 0, fmt.Errorf("memory: trim stream-ordered resource: %w", err)
	}
	after, err := r.Reserved()
	return before - min(after, before), err
}

// Reserved returns the bytes that the pool holds, used and cached together.
func (r *StreamOrdered) Reserved() (uint64, error) {
	reserved, err := r.device.Driver().PoolAttribute(r.pool, backend.PoolReservedCurrent)
	if err != nil {
		return 0, fmt.Errorf("memory: stream-ordered resource: reserved bytes: %w", err)
	}
	return reserved, nil
}

// Allocate implements [Resource].
func (r *StreamOrdered) Allocate(bytes uint64, stream *device.Stream) (Allocation, error) {
	allocation := Allocation{Bytes: bytes, Stream: stream}
	err := streamwork.EnqueueUncaptured(stream, func(handle backend.Stream) (err error) {
		allocation.Pointer, err = r.device.Driver().AllocAsync(bytes, r.pool, handle)
		return err
	})
	return allocation, err
}

// Free implements [Resource]. The memory's stream waits for the further streams and
// then frees the memory.
func (r *StreamOrdered) Free(allocation Allocation, further []*device.Stream) error {
	stream := streamwork.Past(allocation.Stream)
	free := func(handle backend.Stream) error {
		return r.device.Driver().FreeAsync(allocation.Pointer, handle)
	}
	for _, other := range further {
		if err := stream.WaitStream(other); err != nil && !errors.Is(err, device.ErrClosed) {
			return err
		}
	}
	err := streamwork.EnqueueUncaptured(stream, free)
	if !errors.Is(err, device.ErrClosed) {
		return err
	}
	// The memory's own stream is closed, or another library may have destroyed it:
	// order the free on the default stream.
	own := stream
	stream = r.device.DefaultStream()
	for _, other := range append([]*device.Stream{own}, further...) {
		if err := stream.WaitStream(other); err != nil {
			return err
		}
	}
	return streamwork.EnqueueUncaptured(stream, free)
}

// Device implements [Resource].
func (r *StreamOrdered) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *StreamOrdered) Kind() device.MemoryKind { return r.device.MemoryKind() }

// Close destroys the pool. The driver keeps memory in use until it is freed.
func (r *StreamOrdered) Close() error {
	if err := r.device.Driver().PoolDestroy(r.pool); err != nil {
		return fmt.Errorf("memory: close stream-ordered resource: %w", err)
	}
	return nil
}

// AllowPeer implements [PeerSharer].
func (r *StreamOrdered) AllowPeer(peer *device.Device) error {
	if r.peers.Has(peer) {
		return nil
	}
	r.allowing.Lock()
	defer r.allowing.Unlock()
	if r.peers.Has(peer) {
		return nil
	}
	if err := r.device.Driver().PoolAllowPeer(r.pool, peer.Info().Ordinal); err != nil {
		return fmt.Errorf("memory: stream-ordered resource: let %s use it: %w", peer, err)
	}
	r.peers.Add(peer)
	return nil
}
