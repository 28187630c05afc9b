// Package world moves tables between processes, each with a device: usually one process per
// GPU.
//
//	w, err := world.Open(ctx, world.Config{Rank: rank, Size: 4, Address: "unix:/run/job/world", Manager: mgr})
//	defer w.Close()
//	parts, err := exchange.PartitionByHash(ctx, table, keys, w.Size())
//	mine, err := w.AllToAll(ctx, parts) // equal keys of all processes are now in one process
//
// The processes are the ranks of the world. All of them call the same operations in the same
// order: [World.AllToAll], [World.Broadcast], [World.Gather] and [World.Copy]. Tables of all types
// travel, with nulls, nested values and dictionaries. A result belongs to the manager of the
// World.
//
// # How tables move
//
// Ranks first exchange schemas, row counts and sizes. Then each rank sends each other one a block
// of memory with the columns, packed. If the budget of any rank has no room for blocks of
// all columns and for the result, all ranks move one column at a time.
//
// The blocks move by NCCL, from GPU to GPU, if each rank has another GPU and all open one version of
// the library. Otherwise they move through pinned memory and a socket for each pair of ranks, in
// pieces of Config.RoundBytes. The ranks choose when they open the World, or the program does with
// Config.Transport; [World.Transport] reports the choice and why.
//
// A slice with strings or lists is first copied to memory of its size on its device. If the
// budget has no room for that copy, the whole data of the slice's column move.
//
// # Failures
//
// After an error on any rank the World is down on all ranks. The error of the others names the rank
// as a [RankError]: a process that has died, a connection that has ended, a context that has
// ended, a budget that is exceeded, another schema. Nothing stays allocated. A World is not
// repaired: close it and open another one.
//
// The end of a process is noticed when the system closes its sockets, within milliseconds. The
// disappearance of a machine is noticed after 5 s by the keep-alive messages of TCP or, on Linux, by a
// message that it does not acknowledge. A rank that waits for NCCL notices both, and aborts NCCL's
// communicator.
//
// # Trust
//
// Messages of other ranks are checked, so that sizes, types and positions that contradict each
// other are errors. The contents of buffers, such as the offsets of strings, are not checked.
// With [Config.Secret] processes that do not know it cannot join. Connections are not encrypted, and
// only their first messages are authenticated: use a socket in a private directory, or a
// private network.
package world
