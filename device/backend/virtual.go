package backend

// VirtualMemory keeps addresses apart from the memory behind them. A range of
// addresses is reserved once, physical memory is made in pieces, and each piece
// is mapped where it is wanted: a region of memory can grow at its end, shrink,
// and have memory moved in from elsewhere, while its address stays.
//
// The order is AddressReserve, PhysicalCreate, Map, SetAccess, and back by
// Unmap, PhysicalRelease, AddressFree. Mapped memory that is accessible serves
// for every other operation as memory of Alloc does, across the border of two
// mappings too, but for what begins or ends memory: Free does not take it. For
// AddressRange each mapping is one allocation.
//
// All bytes, offsets and addresses are multiples of PhysicalGranularity.
// Whatever is not, a range that lies in no reservation or not in a single one,
// and a handle that was released give an error, which is [ErrInvalidValue] but
// where CUDA's driver says that it does not support the call. A device that cannot
// map memory (attribute VirtualMemoryManagement), or whose driver cannot,
// returns [ErrNotSupported] from every method here.
//
// Nothing here is ordered with the work of streams: a call acts when it is made.
type VirtualMemory interface {
	// AddressReserve takes a range of addresses, without memory, out of what
	// every other allocation may get. The alignment is a power of two, or zero
	// for the device's choice, which is at least the granularity. It returns
	// [ErrOutOfMemory] where no such range is left.
	AddressReserve(bytes, alignment uint64) (Pointer, error)
	// AddressFree gives a whole reservation back, in which nothing is mapped.
	AddressFree(pointer Pointer, bytes uint64) error

	// PhysicalGranularity returns the unit of physical memory. It is the one the
	// driver recommends for speed wherever that is a multiple of the smallest
	// one it accepts, and the smallest otherwise. It is the same at every call.
	PhysicalGranularity() (bytes uint64, err error)
	// PhysicalCreate makes memory of the device that no address leads to yet.
	// Its contents are undefined. It returns [ErrOutOfMemory] as Alloc does.
	PhysicalCreate(bytes uint64) (Physical, error)
	// PhysicalRelease ends the handle, not the memory: that goes back to the
	// system with the last of the handle and the mappings.
	PhysicalRelease(physical Physical) error

	// Map makes addresses lead to physical memory from the given offset on. They
	// are part of one reservation and none of them is mapped; one piece of
	// memory may be mapped at several places at a time. CUDA's drivers take no
	// offset but zero so far. The memory cannot be used before SetAccess.
	Map(at Pointer, bytes uint64, offset uint64, physical Physical) error
	// Unmap undoes one Map, with the same address and bytes; a part of a mapping
	// cannot be unmapped. The contents stay with the physical memory.
	//
	// The caller has made sure that no work uses the memory, enqueued work
	// included: on a GPU such work would fail, and the context with it.
	Unmap(at Pointer, bytes uint64) error
	// SetAccess lets this device read and write mapped memory. The range covers
	// one mapping or several that adjoin, all of them whole; access does not
	// outlast a mapping. The memory may be another GPU's whose memory this one can
	// reach (CanAccessPeer): EnablePeerAccess does not reach memory mapped here.
	// What other devices may do with it stays as it is.
	SetAccess(at Pointer, bytes uint64) error
}
