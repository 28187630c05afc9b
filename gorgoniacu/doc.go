// Package gorgoniacu drives GPUs through gorgonia.org/cu, for programs that use that
// binding and need gpuframe on the same contexts, streams, memory, modules and
// functions. Importing it registers a backend:
//
//	import _ "github.com/gpuframe/gpuframe/gorgoniacu"
//
//	dev, err := device.Open("gorgonia:0")
//
// All of gpuframe works on such a device as it does on "cuda:0". Both use the primary
// context of the same GPU: they share memory, streams and events, and
// device.Device.Same holds between the two.
//
// # Bridges
//
// The functions of this package convert gpuframe's types to the binding's and back
// ([DevicePtr] and [FromDevicePtr], [Stream] and [FromStream], and so on). They pass
// handles: they copy nothing, and ownership does not change. gpuframe destroys the
// objects that it made, and their handles are valid while the original object is. The
// binding destroys the objects that it made, after gpuframe has finished with them.
//
// The binding's functions use the thread's current context. [Do] calls a function with
// the device's context current. A program with many calls of the binding locks a thread
// and sets [Context] once:
//
//	context, err := gorgoniacu.Context(dev)
//	runtime.LockOSThread()
//	defer runtime.UnlockOSThread()
//	err = cu.SetCurrentContext(context)
//
// Do not use cu.NewContext: it creates a second context, which cannot use the streams
// and functions of the primary one.
//
// # Building and running
//
// Unlike package device/cuda, the binding needs cuda.h, of CUDA 11.4 to 12, and libcuda
// or its stub to build (set CGO_CFLAGS and CGO_LDFLAGS to their folders). A program
// that contains it does not start without libcuda.so.1 (status 127), and exits with
// status 1 if the driver finds no GPU. This package is therefore a separate module, and
// gpuframe does not use the binding by default. scripts/fetch-cuda-header.sh fetches
// both files from Debian's packages; "make gorgonia" compiles and tests the module.
//
// # Operations that use the binding
//
// The primary context, allocations, synchronous fills and copies on the device, events
// and functions use the binding. All other operations are those of package device/cuda,
// on the same context:
//
//   - Those that the binding lacks: pools, page-locked memory, pointer attributes,
//     virtual and shared memory, pools of peers, the compiler's log and its output,
//     setting a function's attributes, graphs that any thread may capture.
//   - Launches. The binding reads eight bytes for each argument of any width, and
//     allocates.
//   - Operations with a stream. The binding's Stream holds a C pointer, which the
//     garbage collector sees. CUDA's special streams 1 and 2 are not pointers, and
//     Go ends the process when it finds one of them on a stack.
//   - Copies to and from host memory. cgo searches the binding's arguments for Go
//     pointers, and panics if the memory lies within a Go object with pointers,
//     although the driver reads none of them.
//
// Set GPUFRAME_LIBCUDA to no other library than the one that the program is linked with.
//
// Errors are those of package device/cuda: a *cuda.Error, with the driver's code, or
// one that wraps it.
package gorgoniacu
