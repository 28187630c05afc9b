package backend

import "unsafe"

// Driver is a family of devices behind one binding: "cuda", "host". Its methods are
// safe for concurrent use and must do no work before their first call.
type Driver interface {
	// Devices describes every device that can be opened, in the order of their
	// ordinals. It returns an error that wraps [ErrNotAvailable] if the family cannot
	// be used in this process.
	Devices() ([]Info, error)
	// Open opens a device. Opening a device twice returns two Devices on the same
	// memory. It returns [ErrNoDevice] for a number out of range.
	Open(ordinal int) (Device, error)
}

// Device is an open device. All sizes are in bytes, all counts in elements of the width
// that the method names. The package documentation has the rules for implementations.
type Device interface {
	Info() Info
	// MemoryInfo returns the free and the total memory of the device, as the driver
	// reports them now. The use of other processes counts.
	MemoryInfo() (free, total uint64, err error)
	Attribute(attribute Attribute) (int, error)
	// Synchronize waits for all work on the device.
	Synchronize() error
	// Close closes the device. The caller must not use anything of the device
	// afterwards. A second call returns [ErrClosed].
	Close() error

	Memory
	Managed
	VirtualMemory
	SharedMemory
	Copier
	Streams
	Modules
	ForeignStreams
	Graphs
	Peers
}

// Memory allocates and describes memory. Sizes are never zero.
type Memory interface {
	// Alloc returns memory aligned to at least 256 bytes on a GPU and 64 on the host.
	// It may synchronise the device.
	Alloc(bytes uint64) (Pointer, error)
	Free(pointer Pointer) error

	// AllocAsync and FreeAsync are ordered with the work of the stream: work enqueued
	// after AllocAsync may use the memory, and work enqueued before FreeAsync may still
	// use it. A zero pool is the device's default pool. Free memory by the method that
	// matches its allocation: CUDA's driver accepts the other, but its pool continues
	// to count the memory as used.
	AllocAsync(bytes uint64, pool Pool, stream Stream) (Pointer, error)
	FreeAsync(pointer Pointer, stream Stream) error

	// PoolCreate makes a pool. A maximum of zero means no limit except the device's
	// memory.
	PoolCreate(maximum uint64) (Pool, error)
	PoolDestroy(pool Pool) error
	// PoolTrim returns unused memory to the system until the pool holds at most keep.
	PoolTrim(pool Pool, keep uint64) error
	PoolAttribute(pool Pool, attribute PoolAttribute) (uint64, error)
	PoolSetAttribute(pool Pool, attribute PoolAttribute, value uint64) error

	// HostAlloc returns page-locked host memory that every device of the backend can
	// reach; on the host it is ordinary aligned memory. In a build with cgo it is never
	// Go memory.
	HostAlloc(bytes uint64) (unsafe.Pointer, error)
	HostFree(pointer unsafe.Pointer) error
	// HostRegister page-locks existing memory. Go memory must be kept alive until
	// HostUnregister.
	HostRegister(pointer unsafe.Pointer, bytes uint64) error
	HostUnregister(pointer unsafe.Pointer) error

	// PointerInfo returns the kind of memory at an address.
	PointerInfo(pointer Pointer) (PointerInfo, error)
	// AddressRange returns the allocation, or the mapping, that contains an address, or
	// [ErrInvalidValue] if the driver did not make the memory.
	AddressRange(pointer Pointer) (base Pointer, bytes uint64, err error)
}

// Copier copies and fills memory. The methods without a stream return when the host
// memory may be reused and the device memory is ready for every stream. Methods named
// Async enqueue the work and return.
type Copier interface {
	CopyToDevice(destination Pointer, source unsafe.Pointer, bytes uint64) error
	CopyToHost(destination unsafe.Pointer, source Pointer, bytes uint64) error
	CopyOnDevice(destination, source Pointer, bytes uint64) error
	CopyToDeviceAsync(destination Pointer, source unsafe.Pointer, bytes uint64, stream Stream) error
	CopyToHostAsync(destination unsafe.Pointer, source Pointer, bytes uint64, stream Stream) error
	CopyOnDeviceAsync(destination, source Pointer, bytes uint64, stream Stream) error

	// Memset writes count values of width 1, 2 or 4 bytes, the low bytes of value. The
	// destination is aligned to the width.
	Memset(destination Pointer, value uint32, width int, count uint64) error
	MemsetAsync(destination Pointer, value uint32, width int, count uint64, stream Stream) error
}

// Streams makes and orders streams and events.
type Streams interface {
	// StreamCreate makes a stream that does not wait for the default stream.
	StreamCreate() (Stream, error)
	// StreamDestroy returns immediately; enqueued work still completes.
	StreamDestroy(stream Stream) error
	StreamSynchronize(stream Stream) error
	// StreamQuery reports whether all enqueued work is done.
	StreamQuery(stream Stream) (done bool, err error)
	// StreamWaitEvent makes later work of the stream wait on the device for the last
	// record of the event.
	StreamWaitEvent(stream Stream, event Event) error

	// EventCreate makes an event. Only an event with timing can measure elapsed time.
	EventCreate(timing bool) (Event, error)
	EventDestroy(event Event) error
	// EventRecord marks the work that is enqueued on the stream.
	EventRecord(event Event, stream Stream) error
	// EventQuery reports whether the last recorded mark has been reached. An event that
	// was never recorded is done.
	EventQuery(event Event) (done bool, err error)
	// EventSynchronize waits for the last recorded mark without keeping a processor
	// busy.
	EventSynchronize(event Event) error
	// EventElapsed returns the milliseconds between two timing events.
	EventElapsed(start, end Event) (milliseconds float32, err error)
}

// Modules loads device code and launches it. On the host every method returns
// [ErrNotSupported]: PTX needs a CUDA device.
type Modules interface {
	// ModuleLoad compiles PTX text, or loads a cubin, for this device. An error wraps
	// [ErrInvalidCode] and contains the compiler's log.
	ModuleLoad(image []byte) (Module, error)
	// ModuleCompile compiles PTX text and returns a cubin. ModuleLoad accepts the cubin
	// on devices of the same compute capability with the same driver. ModuleCompile
	// loads nothing. An error wraps [ErrInvalidCode] and contains the compiler's log. A
	// device that loads code but cannot compile it to a cubin returns
	// [ErrNotSupported].
	ModuleCompile(image []byte) (cubin []byte, err error)
	ModuleUnload(module Module) error
	// ModuleFunction returns [ErrNotFound] if the module has no function of that name.
	ModuleFunction(module Module, name string) (Function, error)
	FunctionAttribute(function Function, attribute FunctionAttribute) (int, error)
	FunctionSetAttribute(function Function, attribute FunctionAttribute, value int) error
	// FunctionParameters returns the parameters of the kernel. Drivers before CUDA 12.4
	// return [ErrNotSupported].
	FunctionParameters(function Function) ([]Parameter, error)
	// Occupancy returns the number of blocks of the given size that one multiprocessor
	// holds at a time.
	Occupancy(function Function, blockThreads int, sharedBytes uint32) (blocks int, err error)
	// Launch enqueues a kernel. Argument i begins at slots[starts[i]], in the low bytes
	// of that slot. Slots have eight bytes, so one allocation without pointers holds
	// all arguments.
	Launch(function Function, config LaunchConfig, slots []uint64, starts []uint32) error
}

// Peers connects devices of the same backend.
type Peers interface {
	// CanAccessPeer reports whether this device can reach another's memory.
	CanAccessPeer(peerOrdinal int) (bool, error)
	// EnablePeerAccess lets this device reach another's memory. A second call is not an
	// error.
	EnablePeerAccess(peerOrdinal int) error
	DisablePeerAccess(peerOrdinal int) error
	// PoolAllowPeer lets another device reach the memory that this device's pool has
	// allocated and will allocate. A zero pool is the device's default pool.
	// EnablePeerAccess opens ordinary memory, but not pools. The devices of
	// the host share their pools and return [ErrNotSupported].
	PoolAllowPeer(pool Pool, peerOrdinal int) error
	// CopyFromPeerAsync copies from another device's memory to this device's.
	CopyFromPeerAsync(destination Pointer, source Pointer, peerOrdinal int, bytes uint64, stream Stream) error
}
