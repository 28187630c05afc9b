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

// SharedResource allocates device memory that other processes can open:
// [Block.Share] returns a file descriptor for it, which can be sent over a Unix
// socket. [Manager.OpenShared] returns a block of the same memory in the receiving
// process. Package share does this for tables, by name.
//
// Each allocation is a separate physical allocation, mapped at a separate address
// range: the bytes are rounded up to 2 MiB on current GPUs, and allocating takes
// some hundred microseconds. Use it only for data that is shared, one allocation per
// table, and not as a program's only resource.
type SharedResource struct {
	device *device.Device

	mu      sync.Mutex
	regions map[device.Pointer]sharedRegion
}

// sharedRegion is one allocation.
type sharedRegion struct {
	// asked is the requested size, bytes the rounded size.
	asked, bytes uint64
	physical     backend.Physical
}

// NewSharedResource returns a SharedResource for the device. If the device cannot
// share memory, and on systems other than Linux, each allocation fails with
// device.ErrNotSupported.
func NewSharedResource(dev *device.Device) *SharedResource {
	return &SharedResource{device: dev, regions: make(map[device.Pointer]sharedRegion)}
}

// Allocate implements [Resource].
func (r *SharedResource) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	pointer, region, err := r.allocate(bytes)
	if err != nil {
		return resource.Allocation{}, fmt.Errorf("memory: allocate %s of shared memory: %w", humanize.IBytes(bytes), err)
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

// Close implements [Resource]. It does nothing.
func (r *SharedResource) Close() error { return nil }

// mapWhole maps physical memory at a new address range with the given access.
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

// unmapWhole undoes mapWhole. The memory must not be in use.
func unmapWhole(driver backend.Device, at device.Pointer, bytes uint64) error {
	if err := driver.Unmap(at, bytes); err != nil {
		return err // the addresses are still mapped
	}
	return driver.AddressFree(at, bytes)
}

// Shared describes memory to be sent to another process.
type Shared struct {
	// Descriptor is a file descriptor. It keeps the memory alive until it is closed.
	Descriptor int
	// Bytes is the length of the memory: the length of the block, rounded up.
	Bytes uint64
}

// ShareOptions configure [Block.Share]. The zero value is right for tables, which do
// not change after they are built.
type ShareOptions struct {
	// Writable allows other processes to write to the memory. Otherwise it is
	// read-only: on the host the kernel enforces this, on a GPU nothing does.
	Writable bool
}

// Shareable reports whether Share can share the block with other processes: the
// block must be a whole allocation of a [SharedResource] that is in the resource
// stack of its manager.
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
	// Sharing part of an allocation would also share the rest of it.
	return shared, region, ok && region.asked == b.Bytes()
}

// Share returns a descriptor of the block's memory for another process. It does not
// wait for pending work: wait for the writes to the block before sending the
// descriptor.
//
// After a share without Writable this process can still write to the block.
//
// # Ownership
//
// The caller closes the descriptor after sending it. The block and the descriptor
// keep the memory alive independently of each other.
//
// # Errors
//
// The error wraps device.ErrNotSupported if the block is not [Block.Shareable].
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
