// Package bitmap converts between Arrow's bits and tensors' bytes of 0 or 1, on every
// kind of device.
//
// Bits are numbered from the lowest bit of the first byte. On a GPU each function
// enqueues one kernel of bitmap.cu. Its PTX is part of the program and is compiled for
// a device on first use. On the host the processor does the work, after the earlier
// work of the stream and before the function returns.
package bitmap
