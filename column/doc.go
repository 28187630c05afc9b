// Package column holds one Arrow array in device memory.
//
// A [Column] is what the Arrow columnar format says an array is: a data type, a
// length, an offset, a null count, and the buffers of its layout in the order of
// the format, with children and a dictionary where the type has them. Every
// Arrow type travels, nested and sliced ones too, whether or not any kernel
// computes on it.
//
// [FromArrays] moves host arrays to the device: all buffers of all columns in
// one allocation and one transfer. [ToArrays] brings columns back. [New] makes a
// column of memory that is on the device already, and [Elements] a typed view of
// one.
//
// # Layout on the device
//
// Columns made here begin at offset zero. Each buffer begins at a multiple of
// 256 bytes and is padded with zeros to a multiple of 64. A validity bitmap is
// left out where there are no nulls. What a sliced array does not show is not
// moved, except where offsets of a list view, a dense union or a string view
// may point anywhere.
//
// Buffers are those of the format: null and run-end encoded columns have none, a
// sparse union has its type ids, a dense union type ids and offsets. arrow-go
// keeps an empty place ahead of these.
//
// # Rows that only the device knows
//
// An operator whose output depends on data, such as a filter, knows before it runs how
// many elements it may write, but how many it has written only afterwards, on the
// device. The column then has a [RowCount]: [Column.Len] is its capacity, and the
// number of its elements is in device memory, for the next operator to read there.
// [Column.NumRows] fetches it, checks it against the capacity and keeps it, for all
// columns and the table that share the count. [Column.Array] and [ToArrays] do so by
// themselves. [Column.Slice] needs a number that the host knows.
//
// # Ownership
//
// A Column that a function returns holds a reference to each of its blocks until
// it is released. Columns are immutable; they may be used from any goroutine.
// Children and the dictionary are borrowed from their parent: retain one to keep
// it longer.
package column
