// Package spill moves unused tables to host memory when a device runs out of memory,
// and back when they are acquired.
//
//	spiller, err := spill.NewSpiller(mgr, spill.Options{HostBudget: 64 << 30})
//	defer spiller.Close()
//
//	flights, err := spiller.Add(table)   // takes the table over
//	defer flights.Release()
//
//	table, err := flights.Acquire(ctx)   // restored first, if it was spilled
//	defer table.Release()
//
// A [Spiller] registers with its manager. Before the manager refuses a request, the
// spiller copies the least recently acquired tables to pinned host memory, until
// enough device memory is released.
//
// # Which tables are spilled
//
// A reference to a table pins its memory: the spiller moves a table only if it holds
// the only reference to each of the table's blocks. A buffer that Acquire returned
// holds references until it is released. So do retained views and columns, tensors
// that another library has not released yet, and other tables that share a block.
// Recorded work on a block is finished before the block moves: idle tables are moved
// first, and the spiller waits for busy ones only if those do not suffice, see
// [Options]. Memory that another library owns is never moved.
//
// With Options.Packer tables are packed by the device on their way to host memory or to the file, if
// they become much smaller by it: see [Packer].
//
// Tables for which the host budget has no room are written to a file in Options.Directory, if
// there is one. The file has no entry in the directory while it is open, so it is gone when its
// last table is restored or released, and also when the process ends. On Windows the entry is
// removed when the file is closed. A file that cannot be written or read is a [*FileError].
//
// A table moves as a whole, block by block: with its dictionaries, children, offsets
// and a row count on the device. Its addresses change, so do not use addresses and
// columns of an acquired buffer after its release.
//
// # Waiting requests
//
// The manager calls its reclaimers before it refuses or queues a request. A request
// that already waits, in memory.Manager.AllocateWait, is woken by freed memory, but
// not by tables that become movable.
package spill
