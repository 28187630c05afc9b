package backend

// VirtualMemory separates addresses from memory. A range of addresses is reserved once.
// Physical memory is created in pieces, and each piece is mapped into the range. A
// region of memory can therefore grow at its end, shrink, and receive memory from another
// region, while its address stays.
//
// Call AddressReserve, PhysicalCreate, Map and SetAccess in this order, and Unmap,
// PhysicalRelease and AddressFree to undo them. Accessible mapped memory works in every
// operation like memory from Alloc, also across the border of two mappings; only Free
// does not accept it. AddressRange treats each mapping as one allocation.
//
// All bytes, offsets and addresses are multiples of PhysicalGranularity. Other values,
// a range that is not within a single reservation, and a released handle return an
// error. It is [ErrInvalidValue], unless CUDA's driver reports that it does not support
// the call. If the device (attribute VirtualMemoryManagement) or its driver cannot map
// memory, every method here returns [ErrNotSupported].
//
// The calls take effect immediately: they are not ordered with the work of streams.
type VirtualMemory interface {
	// AddressReserve reserves a range of addresses without memory, which no other
	// allocation receives. The alignment is a power of two, or zero for the device's
	// choice, which is at least the granularity. It returns [ErrOutOfMemory] if no such
	// range is left.
	AddressReserve(bytes, alignment uint64) (Pointer, error)
	// AddressFree frees a whole reservation without mappings.
	AddressFree(pointer Pointer, bytes uint64) error

	// PhysicalGranularity returns the unit of physical memory: the one that the driver
	// recommends for speed, if it is a multiple of the smallest one it accepts, and
	// otherwise the smallest. Every call returns the same value.
	PhysicalGranularity() (bytes uint64, err error)
	// PhysicalCreate creates device memory without an address. Its contents are
	// undefined. It returns [ErrOutOfMemory] as Alloc does.
	PhysicalCreate(bytes uint64) (Physical, error)
	// PhysicalRelease ends the handle, not the memory: the system frees the memory with
	// the last of the handle and the mappings.
	PhysicalRelease(physical Physical) error

	// Map maps physical memory, from the given offset on, at addresses. They must be
	// part of one reservation and unmapped. One piece of memory may be mapped at
	// several places at a time. CUDA's drivers so far accept only offset zero. The
	// memory cannot be used before SetAccess.
	Map(at Pointer, bytes uint64, offset uint64, physical Physical) error
	// Unmap undoes one Map, with the same address and bytes; a part of a mapping cannot
	// be unmapped. The physical memory keeps its contents.
	//
	// The caller ensures that no work, including enqueued work, uses the memory: on a
	// GPU such work would fail and destroy the context.
	Unmap(at Pointer, bytes uint64) error
	// SetAccess lets this device read and write mapped memory. The range covers one or
	// several adjacent mappings, all of them whole; access ends with the mapping. The
	// memory may be that of another GPU that this one can reach (CanAccessPeer);
	// EnablePeerAccess does not affect memory mapped here. The access of other devices
	// does not change.
	SetAccess(at Pointer, bytes uint64) error
}
