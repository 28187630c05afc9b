package memory

import (
	"errors"
	"fmt"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory/internal/round"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// SharedResource allocates memory of the device that other processes can open:
// [Block.Share] gives a descriptor for it, which travels over a Unix socket, and
// [Manager.OpenShared] makes a block of that there. Both have the same memory.
// Package share does this for tables, by name.
//
// Each allocation is a piece of physical memory of its own, mapped at addresses of
// its own: the bytes are rounded up to 2 MiB on the GPUs of today, and allocating
// costs some hundred microseconds. Use it for what is to be shared, a whole table
// in one allocation, and not as a program's only resource.
type SharedResource struct {
	device *device.Device

	mu      sync.Mutex
	regions map[device.Pointer]sharedRegion
}

// sharedRegion is one allocation.
type sharedRegion struct {
	// asked is what the caller wanted, bytes what it got.
	asked, bytes uint64
	physical     backend.Physical
}

// NewSharedResource returns a SharedResource for the device. Where the device
// cannot share memory, and on systems other than Linux, each allocation fails with
// device.ErrNotSupported.
func NewSharedResource(dev *device.Device) *SharedResource {
	return &SharedResource{device: dev, regions: make(map[device.Pointer]sharedRegion)}
}

// Allocate implements [Resource].
func (r *SharedResource) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	pointer, region, err := r.allocate(bytes)
	if err != nil {
		return resource.Allocation{}, fmt.Errorf("memory: allocate %s of shared memory: %w", humanize.Bytes(bytes), err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.regions[pointer] = region
	return resource.Allocation{Pointer: pointer, Bytes: bytes, Stream: stream}, nil
}

func (r *SharedResource) allocate(bytes uint64) (device.Pointer, sharedRegion, error) {
	driver := r.device.Driver()
	unit, err := driver.PhysicalGranularity()
	if err != nil {
		return 0, sharedRegion{}, err
	}
	region := sharedRegion{asked: bytes, bytes: round.Up(bytes, unit)}
	if region.bytes < bytes {
		return 0, sharedRegion{}, fmt.Errorf("rounded up to %d: %w", unit, ErrOverflow)
	}
	if region.physical, err = driver.PhysicalCreateShared(region.bytes); err != nil {
		return 0, sharedRegion{}, err
	}
	pointer, err := mapWhole(driver, region.physical, region.bytes, driver.SetAccess)
	if err != nil {
		return 0, sharedRegion{}, errors.Join(err, driver.PhysicalRelease(region.physical))
	}
	return pointer, region, nil
}

// Free implements [Resource]. It waits for the streams that have used the memory.
// Other processes that have opened the memory keep it.
func (r *SharedResource) Free(allocation resource.Allocation, further []*device.Stream) error {
	r.mu.Lock()
	region, ok := r.regions[allocation.Pointer]
	r.mu.Unlock()
	if !ok {
		return fmt.Errorf("memory: free shared memory at %v: none begins there: %w", allocation.Pointer, device.ErrInvalidValue)
	}
	if err := streamwait.All(allocation.Stream, further); err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.regions, allocation.Pointer)
	r.mu.Unlock()
	driver := r.device.Driver()
	return errors.Join(unmapWhole(driver, allocation.Pointer, region.bytes), driver.PhysicalRelease(region.physical))
}

// Device implements [Resource].
func (r *SharedResource) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *SharedResource) Kind() device.MemoryKind { return r.device.MemoryKind() }

// Close implements [Resource]; there is nothing to give back.
func (r *SharedResource) Close() error { return nil }

// mapWhole maps physical memory at addresses of its own, with the access given.
func mapWhole(driver backend.Device, physical backend.Physical, bytes uint64,
	access func(at device.Pointer, bytes uint64) error,
) (device.Pointer, error) {
	at, err := driver.AddressReserve(bytes, 0)
	if err != nil {
		return 0, err
	}
	if err := driver.Map(at, bytes, 0, physical); err != nil {
		return 0, errors.Join(err, driver.AddressFree(at, bytes))
	}
	if err := access(at, bytes); err != nil {
		return 0, errors.Join(err, unmapWhole(driver, at, bytes))
	}
	return at, nil
}

// unmapWhole undoes mapWhole. Nothing uses the memory any more.
func unmapWhole(driver backend.Device, at device.Pointer, bytes uint64) error {
	if err := driver.Unmap(at, bytes); err != nil {
		return err // the addresses still lead somewhere
	}
	return driver.AddressFree(at, bytes)
}

// Shared is memory on its way to another process.
type Shared struct {
	// Descriptor is a file descriptor. It keeps the memory until it is closed.
	Descriptor int
	// Bytes is how long the memory is: the block's, rounded up.
	Bytes uint64
}

// ShareOptions configure [Block.Share]. The zero value is right for tables, which
// nobody changes once they are made.
type ShareOptions struct {
	// Writable lets others write to the memory. Without it they can only read: the
	// kernel sees to that on the host, and everyone's good will on a GPU.
	Writable bool
}

// Shareable reports whether Share can hand the block to other processes: it is
// one allocation of a [SharedResource], by a manager whose resource that is,
// adaptors that pass allocations on whole included.
func (b *Block) Shareable() bool {
	_, _, ok := b.sharedRegion()
	return ok
}

func (b *Block) sharedRegion() (*SharedResource, sharedRegion, bool) {
	if !b.alive() || b.External() {
		return nil, sharedRegion{}, false
	}
	shared, ok := resource.Find[*SharedResource](b.manager.resource)
	if !ok {
		return nil, sharedRegion{}, false
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	region, ok := shared.regions[b.Pointer()]
	// A part of an allocation would take the rest along.
	return shared, region, ok && region.asked == b.Bytes()
}

// Share makes a descriptor of the block's memory for another process. The caller
// closes it, once it is sent; block and descriptor keep the memory independently
// of each other. What work is still to write the others may find unwritten: wait
// for it before the descriptor is sent.
//
// After a share without Writable this process still writes to the block. The error
// wraps device.ErrNotSupported for a block that is not [Block.Shareable].
func (b *Block) Share(options ShareOptions) (Shared, error) {
	if err := b.Retain(); err != nil {
		return Shared{}, err
	}
	defer b.Release()
	resource, region, ok := b.sharedRegion()
	if !ok {
		return Shared{}, fmt.Errorf("memory: share %v: it is no allocation of a SharedResource: %w", b, device.ErrNotSupported)
	}
	descriptor, err := resource.device.Driver().PhysicalExport(region.physical, !options.Writable)
	if err != nil {
		return Shared{}, fmt.Errorf("memory: share %v: %w", b, err)
	}
	return Shared{Descriptor: descriptor, Bytes: region.bytes}, nil
}
