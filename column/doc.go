// Package column holds one Arrow array in device memory.
//
// A [Column] is an array of the Arrow columnar format: a data type, a length, an
// offset, a null count, and the buffers of its layout in the order of the format,
// with the children and the dictionary of the type. Every Arrow type is supported,
// nested and sliced, whether or not a kernel computes on it.
//
// [FromArrays] copies host arrays to the device: all buffers of all columns in one
// allocation and one transfer. [ToArrays] copies columns to the host. [New] makes a
// column of memory that is on the device already, and [Elements] a typed view of one.
//
// # Layout on the device
//
// Columns made here begin at offset zero. Each buffer begins at a multiple of 256
// bytes and is padded with zeros to a multiple of 64. A column without nulls has no
// validity bitmap. Elements outside a slice are not copied, except if offsets of a
// list view, a dense union or a string view may point anywhere.
//
// Buffers are those of the format: null and run-end encoded columns have none, a
// sparse union has its type ids, a dense union type ids and offsets. arrow-go has an
// additional empty buffer before these.
//
// # Row counts on the device
//
// An operator whose output size depends on data, such as a filter, knows only a bound
// before it runs. The actual number of elements is then in device memory. Such a
// column has a [RowCount]: [Column.Len] is its capacity, and the next operator reads
// the number on the device. [Column.NumRows] fetches it, checks it against the
// capacity and caches it, for all columns and the table that share the count.
// [Column.Array] and [ToArrays] fetch it themselves. [Column.Slice] needs a number
// that the host knows.
//
// The children of structs, sparse unions and fixed-size lists get counts from their
// parent. The children of other lists, of maps and of dense unions do not, because the
// number of their elements depends on offsets: such a child has every element that its
// memory has room for, and those after the last offset of a counted row are undefined.
// The parent's operators never read them. Before an operator reads such a child by
// itself, take the elements that [Column.WithHostRows] and the offsets bound.
//
// # Ownership
//
// A Column that a function returns holds a reference to each of its blocks until it
// is released. Columns are immutable and safe for concurrent use. Children and the
// dictionary are borrowed from their parent: retain one to keep it longer.
package column
