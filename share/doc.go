// Package share lets other processes of the machine open tables by name and have
// the same device memory: not a copy, whatever the size.
//
// The process that has the tables serves them on a Unix socket:
//
//	server, err := share.Listen("/run/tables.sock", share.ServerOptions{})
//	defer server.Close()
//	err = server.Publish(ctx, "flights", table)
//
// Another one opens them, in Go as here or in Python with package gpuframe:
//
//	client, err := share.Dial("/run/tables.sock")
//	defer client.Close()
//	flights, err := client.Open(ctx, mgr, "flights") // a *buffer.Buffer
//	defer flights.Release()
//
// [Client.OpenTable] maps each column when it is first asked for, so that opening
// takes the same time however large the table is; [Client.Open] maps all of them.
//
// # What is shared
//
// Clients get the rows and columns that are published, and nothing else of the memory
// that those lie in. A table is published where it lies if all of its blocks are
// allocations of a memory.SharedResource and hold nothing but the table: what lies
// between and behind its buffers is zero and less than 256 bytes each. Any other table
// is copied, on the device, into memory of the server's: a slice, some columns of a
// table, the result of a filter. A copy has a block for each large column, so that
// clients map what they use and no more.
//
// A column's own memory goes with it whole: values where nulls are, and the dictionary
// of a dictionary column with all of its values, whichever of them the rows have. The
// same holds for the members of a union that a row does not have. Decode or rebuild
// such a column first if these are not for the clients.
//
// The server reads offsets, views and bitmaps on the host if it has to change them,
// because the rows do not begin where the buffers do. That takes some bytes for each
// row. Values and text stay on the device.
//
// [Server.Publish] returns when all work on the table is done: clients find complete
// data and have nothing to wait for. From then on nobody changes what was published.
//
// Memory is identified by device, a GPU by its UUID, since CUDA_VISIBLE_DEVICES may
// number GPUs differently in every process. The host device shares in the same way.
// Where the device or the system cannot share, which is everywhere but on Linux,
// Publish fails with device.ErrNotSupported, and without Unix sockets [Listen] and
// [Dial] fail with device.ErrNotAvailable.
//
// # How long it lasts
//
// The server keeps what it has published until it is withdrawn and no client uses
// it any more. It counts references for each client and table: one for each opening,
// until the [Table] is closed and all that was made of it is released. When a client
// dies, however it dies, the kernel closes its connection and the server drops its
// references. The server disconnects a client that stops in the middle of a message or
// does not take an answer, after ServerOptions.Patience, and a client that has no table
// open and sends nothing, after ServerOptions.Idle.
//
// Memory that a client has mapped is the client's for as long as it wants, also when
// the client is closed, the server withdraws the table, ends, or is killed: the
// system keeps memory until nobody has it mapped. The references only tell the
// server that it is of use to keep the table for others.
//
// # Who may
//
// Whoever may write to the socket file may open every table of the server. Its mode
// is 0600 unless [ServerOptions] say otherwise, and it has that mode before anyone
// can connect. With [ServerOptions].Allow the server looks at each client's process
// and user besides.
//
// Clients get memory for reading only. On the host the kernel enforces that against
// every program. On a GPU the mapping is for reading only where the driver has such
// mappings, and gpuframe makes no other, but the driver hands out no descriptors for
// reading only: a client that goes around gpuframe could map the memory for writing.
// Publish on a GPU for clients that you would let write.
//
// The other way round a client trusts the server with the contents: that offsets of
// strings, say, lie within the data is not checked. What the server says about the
// memory is checked before any of it is mapped, so that no mistake there leads out
// of it.
//
// # Protocol
//
// Messages are JSON in UTF-8 after their length in bytes, as four bytes, the least
// one first: 64 KiB at most to the server, 16 MiB from it. Fields that the receiver
// does not know are errors. The client sends requests:
//
//	{"id":1,"operation":"hello","version":1}      first of all
//	{"id":2,"operation":"tables"}                 what there is
//	{"id":3,"operation":"open","name":"flights"}
//	{"id":4,"operation":"close","reference":9}    not answered
//
// The server answers each, by its id, with version, tables, or reference and table,
// or with {"id":3,"error":{"code":"not found","message":"…"}}. The table's
// description has
//
//	name, rows, serial   serial numbers what a server has published
//	device               kind, "host" or "cuda", and uuid in hexadecimal
//	schema               fields and metadata; a field has name, format, nullable,
//	                     children and dictionary, where format is the type's string
//	                     in Arrow's C data interface
//	blocks               the bytes of each piece of memory
//	columns              length, offset, nulls, buffers, children and dictionary of
//	                     each; a buffer is a block's number, an offset and bytes
//
// and the descriptors of the blocks, 64 at most, come with its first byte, as
// SCM_RIGHTS. They are what the device exports: of a file in memory on the host,
// CUDA's POSIX file descriptor handles on a GPU.
package share
