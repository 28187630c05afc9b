package backend

// Managed allocates memory that the processor and the device reach at the same address.
// The driver moves it to the processor that accesses it. A program can use more of it
// than the device has.
type Managed interface {
	// AllocManaged returns managed memory. Free it with Free, not with FreeAsync. A
	// device without managed memory (attribute ManagedMemory) returns
	// [ErrNotSupported].
	//
	// If the attribute ConcurrentManagedAccess is zero, the processor must not access
	// managed memory while the device has any work. Otherwise the two must be ordered
	// only if they access the same memory.
	AllocManaged(bytes uint64) (Pointer, error)
	// PrefetchAsync moves managed memory to this device, or to the host, in the order
	// of the stream. It does not change the contents, but saves the page faults of the
	// first use. The range, which is not empty, must be part of one managed allocation;
	// otherwise PrefetchAsync returns [ErrInvalidValue]. If the attribute
	// ConcurrentManagedAccess is zero, it returns [ErrNotSupported].
	PrefetchAsync(pointer Pointer, bytes uint64, toHost bool, stream Stream) error
}
