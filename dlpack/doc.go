// Package dlpack shares columns with PyTorch, CuPy, JAX, NumPy and other libraries
// that support DLPack, without copies.
//
//	tensor, err := dlpack.Export(col)       // a DLManagedTensorVersioned*
//	consume(tensor.Detach())                // the consumer calls its deleter
//
//	col, err := dlpack.Import(mgr, pointer) // another library's tensor as a column
//	defer col.Release()                     // runs that library's deleter
//
// # Ownership
//
// An exported tensor holds a reference to the memory until its deleter has run, on
// any thread; the column may be released before or after. [Import] takes over a
// tensor in every case: its deleter runs once, when the column is released or before
// Import returns an error. If a tensor that gpuframe exported comes back, Import
// recognises its memory, which keeps its identity.
//
// # Order
//
// Both directions are ordered on the device, as DLPack's Python protocol prescribes,
// through a stream that the two sides agree on. The default is the device's default
// stream. [ConsumerStream] reads the protocol's stream argument. Work that a consumer
// has enqueued on the stream when it runs the deleter completes before the memory is
// reused.
//
// # Types
//
// Tensors of integers, unsigned integers, floats and booleans are supported. Types
// that DLPack has and Arrow lacks, such as bfloat16, 8-bit floats and complex
// numbers, become columns of the types that [ExtensionTypes] lists. Floats of six and
// four bits, and elements of several lanes, are refused.
//
// Fixed-size lists are dimensions: a column of lists of three is a tensor of n × 3,
// and the import of such a tensor is a column of lists. [ExportMatrix] makes one
// tensor of several columns, as a view if the columns lie at a constant distance.
// [ImportMatrix] makes columns of a tensor in column-major order.
//
// DLPack has no nulls. For a column with nulls, export the values with
// [column.Column.Values] and the bitmap with [ExportValidity]. If the null count or
// the row count is only on the device, the export fetches it. Booleans are bits in
// Arrow and bytes in DLPack, and are converted on the device into a copy. Dates,
// times and similar types have no DLPack type.
//
// # Versions and flags
//
// Exports have version DLPack 1.0, which every consumer of the versioned struct
// accepts, and follow the rules of later versions: strides are always set, and a
// tensor without elements has no address. Every minor version of 1 is imported; for
// another major version Import only calls the deleter. The address includes the
// offset into the memory, because many consumers ignore byte_offset.
// ExportOptions.Aligned is for consumers that need an aligned address.
//
// A tensor with the read-only flag becomes memory that refuses writes through
// gpuframe; its exports have the flag again. Pinned and managed memory keep their
// device codes in both directions; on the host device all memory is the CPU's.
//
// All functions are safe for concurrent use. A build without cgo has the same
// functions, which return errors that wrap device.ErrNotAvailable.
package dlpack
