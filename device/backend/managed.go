package backend

// Managed allocates memory that processor and device both reach at one address,
// and that the driver moves to whoever touches it. A program can use more of it
// than the device has.
type Managed interface {
	// AllocManaged returns managed memory, which Free takes back and FreeAsync
	// does not. A device without it (attribute ManagedMemory) returns
	// [ErrNotSupported].
	//
	// Where the attribute ConcurrentManagedAccess is zero, the processor must not
	// touch managed memory while the device has work to do, whatever that work
	// uses; else the two need only be ordered where they touch the same memory.
	AllocManaged(bytes uint64) (Pointer, error)
	// PrefetchAsync moves managed memory to this device, or to the host, in the
	// order of the stream. It changes no contents: it spares the first use the
	// page faults. The range, which is not empty, is part of one managed
	// allocation; [ErrInvalidValue] otherwise. A device whose attribute
	// ConcurrentManagedAccess is zero returns [ErrNotSupported].
	PrefetchAsync(pointer Pointer, bytes uint64, toHost bool, stream Stream) error
}
