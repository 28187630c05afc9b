package backend

// SharedMemory hands physical memory from one process to another, by a file
// descriptor, which travels over a Unix socket. Both processes then have the
// same memory. It ends with the last handle and the last mapping of all
// processes, however they end.
//
// The order is PhysicalCreateShared and PhysicalExport in the one process,
// PhysicalImport in the other; what both return is mapped as [VirtualMemory]
// says. A device that cannot share (attribute SharesByDescriptor), and every one
// off Linux, returns [ErrNotSupported] from every method here.
//
// A descriptor keeps the memory, and is not inherited by programs that the
// process starts.
type SharedMemory interface {
	// PhysicalCreateShared is PhysicalCreate for memory that can be exported.
	PhysicalCreateShared(bytes uint64) (Physical, error)
	// PhysicalExport makes a descriptor for such memory, which the caller closes.
	// One that is read only permits others to read the memory; this process
	// writes to what it has mapped before, but what it maps afterwards may be read
	// only as well. A GPU cannot enforce that: there the descriptor permits
	// writing, too.
	//
	// Memory that is not of PhysicalCreateShared gives an error.
	PhysicalExport(physical Physical, readOnly bool) (descriptor int, err error)
	// PhysicalImport makes a handle for the memory behind a descriptor, which
	// stays the caller's and may be closed afterwards. The memory has exactly the
	// given bytes, or else PhysicalImport or Map fails. A descriptor that is of
	// something else gives an error.
	PhysicalImport(descriptor int, bytes uint64) (Physical, error)
	// SetAccessReadOnly is SetAccess for reading only. A GPU whose driver has no
	// such mappings returns [ErrNotSupported] or [ErrInvalidValue]; SetAccess
	// works there. On the host SetAccess refuses memory whose descriptor was read
	// only.
	SetAccessReadOnly(at Pointer, bytes uint64) error
}
