// Package share lets other processes of the machine open tables by name. They map the
// same device memory; no byte is copied.
//
// The process that has the tables serves them on a Unix socket:
//
//	server, err := share.Listen("/run/tables.sock", share.ServerOptions{})
//	defer server.Close()
//	err = server.Publish(ctx, "flights", table)
//
// Another process opens them, in Go as below or in Python with package gpuframe:
//
//	client, err := share.Dial("/run/tables.sock")
//	defer client.Close()
//	flights, err := client.Open(ctx, mgr, "flights") // a *buffer.Buffer
//	defer flights.Release()
//
// [Client.Open] maps all columns. [Client.OpenTable] maps each column on first use, so
// opening takes the same time for a table of any size.
//
// # Published data
//
// Clients get the published rows and columns and no other bytes of the memory around
// them. A table is shared in place if all of its blocks are allocations of a
// memory.SharedResource and contain only the table: the gaps between and after its
// buffers are zero and shorter than 256 bytes each. Any other table is copied, on the
// device, into memory of the server: a slice, a selection of columns, the result of a
// filter. A copy has one block for each large column, so that clients map only the
// columns that they use.
//
// A column is published whole: with the values below its nulls, with all values of its
// dictionary, used by a row or not, and with the union members that a row does not
// select. Decode or rebuild such a column first if clients must not see these values.
//
// If the rows do not begin at the start of their buffers, the server reads and rewrites
// offsets, views and bitmaps on the host. That takes some bytes for each row. Values and
// text stay on the device.
//
// [Server.Publish] returns when all work on the table is done, so clients find complete
// data without waiting. After that no program may change the published memory.
//
// Devices are identified by kind and, for a GPU, by its UUID, because
// CUDA_VISIBLE_DEVICES may number GPUs differently in each process. The host device
// shares in the same way. If the device or the system cannot share memory, as on every
// system except Linux, Publish fails with device.ErrNotSupported. Without Unix sockets
// [Listen] and [Dial] fail with device.ErrNotAvailable.
//
// # Lifetime
//
// The server keeps a published table until it is withdrawn and no client uses it. It
// counts references for each client and table: one for each opening, until the [Table] is
// closed and everything made from it is released. When a client dies, the kernel closes
// its connection and the server drops its references. The server disconnects a client
// that stops in the middle of a message or does not read an answer, after
// ServerOptions.Patience, and a client that has no table open and sends nothing, after
// ServerOptions.Idle.
//
// Memory that a client has mapped stays valid until the client unmaps it, also if the
// client closes its connection, or if the server withdraws the table, ends or is killed:
// the system keeps memory that a process has mapped. The references only let the server
// free tables that no client uses.
//
// # Access
//
// Every process that may write to the socket file may open every table of the server. The
// file's mode is ServerOptions.Mode, by default 0600, and is set before a client can
// connect. With ServerOptions.Allow the server also checks each client's process and
// user.
//
// Clients get memory for reading only. On the host the kernel enforces that for every
// program. On a GPU gpuframe maps the memory for reading only, if the driver supports
// such mappings. But the driver exports no read-only descriptors, so a client that
// bypasses gpuframe could map the memory for writing. Publish GPU tables only to clients
// that you trust to write.
//
// A client, in return, trusts the server with the contents. It does not check, for
// example, that the offsets of strings lie within the data. It does check the server's
// description of the memory before it maps any, so no column reaches beyond its blocks.
//
// # Protocol
//
// A message is its length in bytes, as four bytes in little-endian order, followed by
// JSON in UTF-8: 64 KiB at most to the server, 16 MiB from it. Fields that the receiver
// does not know are errors. The client sends requests:
//
//	{"id":1,"operation":"hello","version":1}      the first request
//	{"id":2,"operation":"tables"}                 lists the tables
//	{"id":3,"operation":"open","name":"flights"}
//	{"id":4,"operation":"close","reference":9}    has no answer
//
// The server answers each request, by its id, with version, tables, or reference and
// table, or with {"id":3,"error":{"code":"not found","message":"…"}}. The table's
// description contains
//
//	name, rows, serial   serial counts the tables that the server has published
//	device               kind, "host" or "cuda", and uuid in hexadecimal
//	schema               fields and metadata; a field has name, format, nullable,
//	                     children and dictionary, where format is the type's string
//	                     in Arrow's C data interface
//	blocks               the bytes of each piece of memory
//	columns              length, offset, nulls, buffers, children and dictionary of
//	                     each; a buffer is a block's number, an offset and bytes
//
// The first byte of that answer carries the descriptors of the blocks, 64 at most, as
// SCM_RIGHTS. They are the descriptors that the device exports: of a file in memory on
// the host, CUDA's POSIX file descriptor handles on a GPU.
package share
