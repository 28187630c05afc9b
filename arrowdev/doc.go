// Package arrowdev hands Arrow arrays in device memory to other libraries and
// takes theirs in, without copying, by the Arrow C Device data interface. RAPIDS
// cuDF, PyArrow, nanoarrow and every other library that speaks it are on the other
// side; plain arrays of the C data interface come in too.
//
//	a, err := arrowdev.Export(table)                 // an ArrowDeviceArray* and an ArrowSchema*
//	consume(a.Device(), a.Schema())                  // who moves them away, as the standard says
//	defer a.Release()                                // frees what nobody took
//
//	table, err := arrowdev.Import(mgr, array, schema) // another library's array as a table
//	defer table.Release()                            // runs that library's release
//
// # Ownership
//
// An exported array holds references to the memory until its release callback has
// run, on whatever thread, and those of children that a consumer has moved away
// have; the table may be released before or after. [Import] takes both structs
// over in every case, and marks them as released: the array's release runs once,
// when the last block of its memory is released here and the work on it is done,
// or before Import returns an error. Memory of gpuframe's own that comes back is
// recognised and keeps its identity.
//
// # Order
//
// On a GPU nobody waits: an exported array has a sync_event behind all the work on
// its memory, and an import makes a stream wait for the producer's, on the device.
// What a consumer has put on its stream when it releases an array is done before
// the memory is used for anything else. On the host device there are no events:
// an export waits until the data is there.
//
// # What is checked
//
// Structs are checked against the schema. The driver is asked about every address
// of a GPU's memory before anything reads it. Offsets, views, run ends, type ids and
// dictionary indices are checked by kernels, and only these make an import wait;
// [ImportOptions].Unchecked leaves them out. Errors name the field,
// "ArrowDeviceArray.array.children[3].buffers[1]" for example. UTF-8 is not checked.
//
// The structs, and the buffers of an array that claims to be the CPU's, are the
// processor's memory by the standard. There is no driver to ask about those, so a
// wrong address in them is not found.
//
// # What fits
//
// Every type that package column carries, nested and sliced, in device, pinned and
// managed memory and the host's. All memory of one array is of one of these kinds.
//
// All functions may be called from any goroutine. A build without cgo has them
// too, but every call returns an error that wraps device.ErrNotAvailable.
package arrowdev
