// Package host is the backend for the machine itself: ordinary memory and the
// processor.
//
// Programs run on it if no GPU is available, and tests compare the results of GPUs with
// it. Its device memory is plain memory, so numpy and the CPU side of PyTorch share it
// without a copy, and copies accept any address that the process can read, including
// theirs.
//
// The device keeps the rules of a GPU, so that a program that is correct here is
// correct there:
//
//   - Work on one stream runs in order. Work on different streams runs concurrently;
//     only events and synchronisation order it.
//   - An event stands for its last record. A waiter keeps waiting for the record that
//     it found, even if the event is recorded again.
//   - Copies and fills without a stream wait for the default stream and for no
//     other, then run in the calling goroutine.
//   - Free and HostFree wait for the work already enqueued on this Device.
//     FreeAsync lets earlier work of its stream finish first; after it returns, no
//     call may use the memory.
//   - A copy or fill that runs past the end of an allocation returns an error.
//
// # Several devices
//
// [Driver].Count makes several devices of the machine, for programs and tests of several
// devices. They share everything but their ordinals: a stream of one accepts work of
// another, and Synchronize, Close and Free of one wait for the work of all. PointerInfo
// returns the ordinal of the device that allocated the memory.
//
// # Memory
//
// Allocations are aligned to 256 bytes and belong to the process: all Devices opened by
// [Driver] know them and may free them. With cgo on a Unix system they are C memory;
// otherwise they are Go memory that a table keeps reachable until it is freed. Memory
// from Alloc and AllocAsync is [backend.MemoryHost]. Memory from AllocManaged does not
// differ, but is [backend.MemoryManaged]. Memory from HostAlloc, and memory between
// HostRegister and HostUnregister, is [backend.MemoryPinned], although it is not
// page-locked, so that tests cover code that treats pinned memory differently. All
// other memory is [backend.MemoryUnknown].
//
// # Mapped memory
//
// On Linux a program can reserve addresses and map memory there, in units of 2 MiB as
// on a GPU. Each piece of physical memory is an unnamed file. Its bytes are zero at
// first, it takes memory as it is written, and it holds a file descriptor until
// PhysicalRelease. Accessible mappings are [backend.MemoryHost], like memory from
// Alloc. Other reserved addresses are unknown memory, and every operation refuses them.
// Unmap waits for enqueued work as Free does.
//
// Shared memory is a file of sealed size, so that no process can truncate the memory of
// another. The kernel enforces a read-only descriptor: from then on no process can map
// the file for writing; since Linux 5.1 opening the file again does not permit it
// either. Imported memory counts in the process that created it.
//
// # Closing
//
// Close waits for all streams. It does not free memory that has an address, because
// others may still hold it through DLPack or the Arrow C interfaces; a Device opened
// later can free or unmap it. Closing the last Device frees physical memory, which is a
// handle, and reservations without mappings. Afterwards every method except Info
// returns [backend.ErrClosed].
package host
