// Package host is the backend whose device is the machine itself: ordinary
// memory, worked upon by the processor.
//
// It is what a program runs on where there is no GPU, and the oracle that GPU
// results are compared with. Its device memory is plain memory, so that numpy
// and the CPU side of PyTorch share it without a copy, and any address that
// the process can read, theirs included, is good for a copy.
//
// The device keeps the rules that a GPU has, so that a program which is right
// here is right there:
//
//   - Work on one stream runs in order; work on different streams runs at the
//     same time, ordered only by events and synchronisation.
//   - An event stands for its last record. Who waits on it before it is
//     recorded anew keeps waiting for the earlier record.
//   - Copies and fills without a stream wait for the default stream and for no
//     other, then run in the calling goroutine.
//   - Free and HostFree wait for the work already enqueued on this Device.
//     FreeAsync lets earlier work of its stream finish first; from the moment
//     it returns the memory may not be given to any further call.
//   - A copy or fill that runs past the end of an allocation is refused.
//
// # Memory
//
// Allocations are aligned to 256 bytes and belong to the process: all Devices
// opened by [Driver] know them and may free them. With cgo on a Unix system
// they are C memory; otherwise they are Go memory that a table keeps reachable
// until it is freed. Memory from Alloc and AllocAsync is
// [backend.MemoryHost], and memory from AllocManaged, which is no different,
// [backend.MemoryManaged]. Memory from HostAlloc, and memory between HostRegister
// and HostUnregister, is [backend.MemoryPinned] although nothing is
// page-locked, so that code which treats pinned memory apart can be exercised.
// All other memory is [backend.MemoryUnknown].
//
// # Mapped memory
//
// On Linux addresses can be reserved and memory mapped there, in units of 2 MiB
// as on a GPU. Each piece of physical memory is an unnamed file that takes up
// room as it is written; its bytes are zero at first, and it holds a file
// descriptor until PhysicalRelease. Accessible mappings are
// [backend.MemoryHost], like memory from Alloc. Reserved addresses without them
// are unknown memory, which every operation refuses. Unmap waits for enqueued
// work as Free does.
//
// Shared memory is a file whose size is sealed, so that no process can take the
// memory from under another. A read-only descriptor is enforced by the kernel:
// from then on nobody can map the file for writing anew, since Linux 5.1 not by
// opening it once more either. Memory that is imported counts where it was made.
//
// # Closing
//
// Close waits for all streams. It does not free memory that has an address,
// because others may still hold it by way of DLPack or the Arrow C interfaces; a
// Device opened later can free it, or unmap it. Physical memory is a handle,
// though, and ends with the last Device, as does a reservation that has nothing
// mapped. Afterwards every method except Info returns [backend.ErrClosed].
package host
