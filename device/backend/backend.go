package backend

import "unsafe"

// Driver is a family of devices behind one binding: "cuda", "host". Its methods
// may be called at any time from any goroutine and must not do any work before
// they are first called.
type Driver interface {
	// Devices describes every device that could be opened, in the order of
	// their ordinals. It returns an error that wraps [ErrNotAvailable] where
	// the family cannot be used in this process.
	Devices() ([]Info, error)
	// Open makes a device ready for use. Opening one twice gives two Devices on
	// the same memory. It returns [ErrNoDevice] for a number out of range.
	Open(ordinal int) (Device, error)
}

// Device is one opened device. All sizes are in bytes, all counts in elements
// of the width that the method names. See the package documentation for the
// rules that every implementation keeps.
type Device interface {
	Info() Info
	// MemoryInfo returns the free and the total memory of the device as the
	// driver sees it now, other processes' use included.
	MemoryInfo() (free, total uint64, err error)
	Attribute(attribute Attribute) (int, error)
	// Synchronize waits for all work on the device.
	Synchronize() error
	// Close gives the device back. Nothing of the device may be used
	// afterwards. Closing twice returns [ErrClosed].
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

// Memory allocates and describes memory. The bytes asked for are never zero.
type Memory interface {
	// Alloc returns memory aligned to at least 256 bytes on a GPU and 64 on the
	// host. It may synchronise the device.
	Alloc(bytes uint64) (Pointer, error)
	Free(pointer Pointer) error

	// AllocAsync and FreeAsync are ordered with the work of the stream: memory
	// is usable by work enqueued after AllocAsync, and work enqueued before
	// FreeAsync may still use it. A zero pool is the device's default pool.
	// What one pair allocates the other does not free: CUDA's driver takes it,
	// but its pool goes on counting the memory as used.
	AllocAsync(bytes uint64, pool Pool, stream Stream) (Pointer, error)
	FreeAsync(pointer Pointer, stream Stream) error

	// PoolCreate makes a pool. A maximum of zero means no limit but the
	// device's memory.
	PoolCreate(maximum uint64) (Pool, error)
	PoolDestroy(pool Pool) error
	// PoolTrim returns unused memory to the system until the pool holds no more
	// than keep.
	PoolTrim(pool Pool, keep uint64) error
	PoolAttribute(pool Pool, attribute PoolAttribute) (uint64, error)
	PoolSetAttribute(pool Pool, attribute PoolAttribute, value uint64) error

	// HostAlloc returns page-locked host memory that every device of the
	// backend can reach; on the host it is ordinary aligned memory. It is never
	// Go memory where cgo is in the build.
	HostAlloc(bytes uint64) (unsafe.Pointer, error)
	HostFree(pointer unsafe.Pointer) error
	// HostRegister page-locks existing memory, which must not be Go memory
	// unless it is kept alive until HostUnregister.
	HostRegister(pointer unsafe.Pointer, bytes uint64) error
	HostUnregister(pointer unsafe.Pointer) error

	// PointerInfo says what kind of memory an address is.
	PointerInfo(pointer Pointer) (PointerInfo, error)
	// AddressRange returns the allocation, or the mapping, that an address lies
	// in, or [ErrInvalidValue] where it lies in none that the driver made.
	AddressRange(pointer Pointer) (base Pointer, bytes uint64, err error)
}

// Copier moves and fills memory. The methods without a stream return when the
// host memory may be used again and the device memory is ready for every
// stream; those named Async enqueue and return.
type Copier interface {
	CopyToDevice(destination Pointer, source unsafe.Pointer, bytes uint64) error
	CopyToHost(destination unsafe.Pointer, source Pointer, bytes uint64) error
	CopyOnDevice(destination, source Pointer, bytes uint64) error
	CopyToDeviceAsync(destination Pointer, source unsafe.Pointer, bytes uint64, stream Stream) error
	CopyToHostAsync(destination unsafe.Pointer, source Pointer, bytes uint64, stream Stream) error
	CopyOnDeviceAsync(destination, source Pointer, bytes uint64, stream Stream) error

	// Memset writes count values of width 1, 2 or 4 bytes, the low bytes of
	// value. The destination is aligned to the width.
	Memset(destination Pointer, value uint32, width int, count uint64) error
	MemsetAsync(destination Pointer, value uint32, width int, count uint64, stream Stream) error
}

// Streams makes and orders streams and events.
type Streams interface {
	// StreamCreate makes a stream that does not wait for the default stream.
	StreamCreate() (Stream, error)
	// StreamDestroy returns at once; work that is enqueued still completes.
	StreamDestroy(stream Stream) error
	StreamSynchronize(stream Stream) error
	// StreamQuery reports whether all work enqueued so far is done.
	StreamQuery(stream Stream) (done bool, err error)
	// StreamWaitEvent makes later work of the stream wait, on the device, for
	// the event's last record.
	StreamWaitEvent(stream Stream, event Event) error

	// EventCreate makes an event; one that will be asked for elapsed times says
	// so with timing.
	EventCreate(timing bool) (Event, error)
	EventDestroy(event Event) error
	// EventRecord marks the work enqueued on the stream so far.
	EventRecord(event Event, stream Stream) error
	// EventQuery reports whether the last recorded mark has been reached. An
	// event that was never recorded is done.
	EventQuery(event Event) (done bool, err error)
	// EventSynchronize waits for the last recorded mark, without keeping a processor
	// busy.
	EventSynchronize(event Event) error
	// EventElapsed returns the milliseconds between two timing events.
	EventElapsed(start, end Event) (milliseconds float32, err error)
}

// Modules loads device code and launches it. On the host every method returns
// [ErrNotSupported]: PTX needs a CUDA device.
type Modules interface {
	// ModuleLoad compiles PTX text, or takes a cubin, for this device. An error
	// wraps [ErrInvalidCode] and holds the compiler's log.
	ModuleLoad(image []byte) (Module, error)
	// ModuleCompile compiles PTX text, and returns a cubin that ModuleLoad takes on
	// devices of the same compute capability with the same driver. It loads nothing.
	// An error wraps [ErrInvalidCode] and holds the compiler's log. A device that
	// loads code but has no such form of it returns [ErrNotSupported].
	ModuleCompile(image []byte) (cubin []byte, err error)
	ModuleUnload(module Module) error
	// ModuleFunction returns [ErrNotFound] where the module has none so named.
	ModuleFunction(module Module, name string) (Function, error)
	FunctionAttribute(function Function, attribute FunctionAttribute) (int, error)
	FunctionSetAttribute(function Function, attribute FunctionAttribute, value int) error
	// FunctionParameters lists what the kernel takes. Drivers before CUDA 12.4
	// cannot tell: [ErrNotSupported].
	FunctionParameters(function Function) ([]Parameter, error)
	// Occupancy returns how many blocks of the given size one multiprocessor
	// holds at a time.
	Occupancy(function Function, blockThreads int, sharedBytes uint32) (blocks int, err error)
	// Launch enqueues a kernel. Argument i begins at slots[starts[i]]: eight
	// byte slots, an argument in the low bytes of its first, so that one
	// allocation without pointers holds them all.
	Launch(function Function, config LaunchConfig, slots []uint64, starts []uint32) error
}

// Peers connects devices of the same backend.
type Peers interface {
	// CanAccessPeer reports whether this device can reach another's memory.
	CanAccessPeer(peerOrdinal int) (bool, error)
	// EnablePeerAccess lets this device reach another's memory. Doing it twice
	// is no error.
	EnablePeerAccess(peerOrdinal int) error
	DisablePeerAccess(peerOrdinal int) error
	// PoolAllowPeer lets another device reach what this device's pool has
	// allocated and will allocate. A zero pool is the device's default pool.
	// Access to ordinary memory, by EnablePeerAccess, does not reach pools. The
	// host has no other device to share with: [ErrNotSupported].
	PoolAllowPeer(pool Pool, peerOrdinal int) error
	// CopyFromPeerAsync copies from another device's memory to this one's.
	CopyFromPeerAsync(destination Pointer, source Pointer, peerOrdinal int, bytes uint64, stream Stream) error
}
