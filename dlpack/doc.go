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
// is the device's default stream. The work that a consumer has put on it when it
// runs the deleter is done before the memory is used for anything else.
//
// # What fits
//
// Integers, unsigned integers, floats and booleans, in one dimension. DLPack has
// no nulls: the values of a column that has some go out by way of its
// [column.Column.Values], its bitmap by [ExportValidity]. Booleans are bits in
// Arrow and bytes in DLPack, and are copied on the device. Dates, times and the
// like have no type in DLPack; an offset into the memory is in the data pointer,
// for many consumers overlook byte_offset.
//
// All functions may be called from any goroutine. A build without cgo has them
// too, but every call returns an error that wraps device.ErrNotAvailable.
package dlpack
