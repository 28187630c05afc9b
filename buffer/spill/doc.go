// Package spill moves tables that are not in use to host memory when a device
// runs short, and back when they are touched.
//
//	spiller, err := spill.NewSpiller(mgr, spill.Options{HostBudget: 64 << 30})
//	defer spiller.Close()
//	flights, err := spiller.Add(table)   // takes the table over
//	defer flights.Release()
//
//	table, err := flights.Acquire(ctx)   // restored first, where it was spilled
//	defer table.Release()
//
// A [Spiller] registers with its manager. When the manager is about to refuse a
// request, the spiller copies the tables that were not acquired for the longest
// time to pinned host memory, until enough is released.
//
// # What is spilled
//
// Whoever holds a table holds its memory in place, and there is no other way to
// pin it: a table is moved only if, of each of its blocks, the spiller's is the
// only reference. A buffer that Acquire returned holds one until it is released,
// and so do views and columns that were retained, tensors that another library
// has not given back yet, and every other table that shares the block. Work that is
// recorded on a block is finished before it is moved: idle tables go first, and
// only if they do not suffice are others waited for, see [Options]. Memory that
// another library owns stays where it is.
//
// A table moves as a whole, block by block: with its dictionaries, children,
// offsets and a row count on the device. It comes back at other addresses, so
// addresses and columns of an acquired buffer are not to be kept beyond its
// release.
//
// # When memory stays short
//
// The manager asks its reclaimers before it refuses or lets wait. A request that
// already waits, in memory.Manager.AllocateWait, hears of memory that is freed,
// but not of tables that became movable.
package spill
