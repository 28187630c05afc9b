// Package dlpack shares columns with PyTorch, CuPy, JAX, NumPy and every other
// library that speaks DLPack, without copying them.
//
//	tensor, err := dlpack.Export(col)       // a DLManagedTensorVersioned*
//	consume(tensor.Detach())                // its deleter is the consumer's now
//
//	col, err := dlpack.Import(mgr, pointer) // another library's tensor as a column
//	defer col.Release()                     // runs that library's deleter
//
// # Ownership
//
// An exported tensor holds a reference to the memory until its deleter has run,
// on whatever thread; the column may be released before or after. [Import] takes
// a tensor over in every case: its deleter runs once, when the column is released
// or before Import returns an error. Memory of gpuframe's own that comes back is
// recognised and keeps its identity.
//
// # Order
//
// Both directions are ordered on the device, as DLPack's Python protocol
// prescribes, by a stream that the two sides agree upon. Where none is given it
// is the device's default stream. [ConsumerStream] reads the protocol's own way of
// naming one. The work that a consumer has put on it when it runs the deleter is
// done before the memory is used for anything else.
//
// # What fits
//
// Integers, unsigned integers, floats and booleans. What DLPack has and Arrow
// lacks, bfloat16, the floats of eight bits and complex numbers, are columns of the
// types that [ExtensionTypes] lists. Floats of six and four bits, and elements of
// several lanes, are refused.
//
// Fixed-size lists are dimensions: a column of lists of three is a tensor of n × 3,
// and comes back from one. [ExportMatrix] makes one tensor of several columns, as a
// view of them where they lie at one distance, and [ImportMatrix] makes columns of
// a tensor that lies column by column.
//
// DLPack has no nulls: the values of a column that has some go out by way of its
// [column.Column.Values], its bitmap by [ExportValidity]. Nulls that nobody has counted
// are counted by the export, and so are rows that only the device has counted. Booleans are bits in
// Arrow and bytes in DLPack, and are copied on the device. Dates, times and the
// like have no type in DLPack.
//
// # Versions and marks
//
// Exports are of DLPack 1.0, which every consumer of the versioned struct takes,
// yet keep the rules of the later ones: strides are always given, and what has no
// elements has no address. Every minor version of 1 is imported; of another major
// version only the deleter is called. An offset into the memory is in the address,
// for many consumers overlook byte_offset; ExportOptions.Aligned is for those who
// want the address aligned.
//
// A tensor that is marked as read-only becomes memory that refuses to be written
// through gpuframe, and its exports carry the mark again. Pinned and managed memory
// carry the codes of their own, both ways; on the host device all memory is the
// CPU's.
//
// All functions may be called from any goroutine. A build without cgo has them
// too, but every call returns an error that wraps device.ErrNotAvailable.
package dlpack
