// Package arrowdev exchanges Arrow arrays in device memory with other libraries,
// without copies, by the Arrow C Device data interface. RAPIDS cuDF, PyArrow,
// nanoarrow and other libraries implement the interface. The package also imports and
// exports plain arrays of the C data interface.
//
//	a, err := arrowdev.Export(table)                 // an ArrowDeviceArray* and an ArrowSchema*
//	consume(a.Device(), a.Schema())                  // the consumer moves the structs
//	defer a.Release()                                // releases the structs that were not moved
//
//	table, err := arrowdev.Import(mgr, array, schema) // another library's array as a table
//	defer table.Release()                            // runs that library's release
//
// # Ownership
//
// An exported array holds references to the memory until its release callback has
// run, on any thread, and the callbacks of all children that a consumer has moved out
// of it. The table may be released before or after. [Import] takes both structs over
// in every case and marks them as released. The array's release callback runs once:
// when the last block of its memory is released and the work on it is done, or before
// Import returns an error. If an array that gpuframe exported comes back, Import
// recognises its memory, which keeps its identity.
//
// # Order
//
// On a GPU no call waits for pending work. An exported array has a sync_event that
// follows all the work on its memory. An import makes a stream wait, on the device,
// for the producer's event. Work that a consumer has enqueued on its stream before it
// releases an array completes before the memory is reused. The host device has no
// events: an export waits until the data is ready.
//
// # Checks
//
// Structs are checked against the schema. Import checks every GPU address with the
// driver before it reads the memory. Kernels check offsets, views, run ends, type ids
// and dictionary indices; an import waits only for these checks, and
// [ImportOptions].Unchecked skips them. Errors name the field, for example
// "ArrowDeviceArray.array.children[3].buffers[1]". UTF-8 is not checked.
//
// By the standard, the structs and the buffers of CPU arrays are memory of the
// process. No driver can check their addresses, so a wrong address is not detected.
//
// # Types
//
// Every type of package column is supported, nested and sliced, in device, pinned,
// managed and host memory. All memory of one array must be of one kind.
//
// All functions are safe for concurrent use. A build without cgo has the same
// functions, which return errors that wrap device.ErrNotAvailable.
package arrowdev
