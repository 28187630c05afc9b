// Package gorgoniacu drives GPUs through gorgonia.org/cu, for programs that use
// that binding and want gpuframe on the same contexts, streams, memory, modules
// and functions. Importing it registers a backend:
//
//	import _ "github.com/gpuframe/gpuframe/gorgoniacu"
//
//	dev, err := device.Open("gorgonia:0")
//
// Everything of gpuframe works on such a device as it does on "cuda:0". Both use
// the primary context of the same GPU: their memory, streams and events are each
// other's, and device.Device.Same holds between the two.
//
// # Bridges
//
// The functions of this package turn gpuframe's nouns into the binding's and back
// ([DevicePtr] and [FromDevicePtr], [Stream] and [FromStream], and so on). They
// pass handles on: nothing is copied, and nobody gets to own anything more than
// before. What gpuframe made, gpuframe destroys, and a handle of it is good for as
// long as what it was taken from; what the binding made, the binding destroys, and
// not before gpuframe is done with it.
//
// The binding's functions work in the thread's current context. [Do] calls a
// function with the device's; a program that uses the binding much locks a thread
// and sets [Context] once:
//
//	context, err := gorgoniacu.Context(dev)
//	runtime.LockOSThread()
//	defer runtime.UnlockOSThread()
//	err = cu.SetCurrentContext(context)
//
// cu.NewContext is no way there: it makes a context of its own, beside the
// primary one, which cannot use the primary context's streams and functions.
//
// # Building and running
//
// Unlike package device/cuda, the binding needs cuda.h, of CUDA 11.4 to 12, and
// libcuda or its stub to build (CGO_CFLAGS and CGO_LDFLAGS say where), and a
// program that has it in it starts only where libcuda.so.1 is found (status 127
// otherwise), and ends at once with status 1 where the driver finds no GPU. That is
// why this package is a module of its own, and why gpuframe does not use the
// binding by default. scripts/fetch-cuda-header.sh gets both files where Debian's
// packages are at hand; "make gorgonia" compiles and tests the module.
//
// # What goes through the binding
//
// Devices, contexts, memory, fills, events, modules, functions and peers do.
// What the binding lacks does not, nor do three things for which it cannot be
// used safely: launches, what takes a stream, and what copies to or from host
// memory. Package internal/shim says why, and calls the driver for these.
//
// Errors are those of package device/cuda: a *cuda.Error, with the driver's code,
// or one that wraps it.
package gorgoniacu
