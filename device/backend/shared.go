package backend

// SharedMemory passes physical memory from one process to another by a file descriptor,
// which travels over a Unix socket. Afterwards both processes share the memory. The
// memory is freed with the last handle and the last mapping of all processes, however
// they end.
//
// Call PhysicalCreateShared and PhysicalExport in the exporting process and
// PhysicalImport in the importing one; map the handles of both by [VirtualMemory]. A
// device that cannot share memory (attribute SharesByDescriptor), and every device
// outside Linux, returns [ErrNotSupported] from every method here.
//
// A descriptor keeps the memory alive. Programs that the process starts do not inherit
// it.
type SharedMemory interface {
	// PhysicalCreateShared is PhysicalCreate for memory that can be exported.
	PhysicalCreateShared(bytes uint64) (Physical, error)
	// PhysicalExport makes a descriptor for such memory, which the caller closes. A
	// read-only descriptor permits other processes only to read the memory. Existing
	// mappings of this process stay writable, but its later mappings may be read-only.
	// A GPU cannot enforce read-only access: there the descriptor permits writing too.
	//
	// Memory that is not from PhysicalCreateShared returns an error.
	PhysicalExport(physical Physical, readOnly bool) (descriptor int, err error)
	// PhysicalImport makes a handle for the memory behind a descriptor. The caller
	// keeps the descriptor and may close it afterwards. If the memory does not have
	// exactly the given size, PhysicalImport or Map fails. A descriptor of anything
	// else returns an error.
	PhysicalImport(descriptor int, bytes uint64) (Physical, error)
	// SetAccessReadOnly is SetAccess for reading only. A GPU without read-only mappings
	// returns [ErrNotSupported] or [ErrInvalidValue]; use SetAccess there. On the host
	// SetAccess refuses memory from a read-only descriptor.
	SetAccessReadOnly(at Pointer, bytes uint64) error
}
