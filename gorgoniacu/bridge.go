//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/kernels"
)

// onGPU returns an error for devices of other kinds. It accepts devices of package
// device/cuda, which share the primary context.
func onGPU(dev *device.Device) error {
	if dev == nil || dev.Kind() != device.CUDA {
		return fmt.Errorf("%v is no GPU: %w", dev, device.ErrInvalidValue)
	}
	return nil
}

// Context returns the device's primary context, which holds everything that gpuframe
// has on the device. It is valid until the device is closed. Do not destroy it: the
// CUDA runtime uses it too. The result of cu.CtxFromCUContext destroys it when it is
// closed or collected.
func Context(dev *device.Device) (cu.CUContext, error) {
	context, err := contextOf(dev)
	if err != nil {
		return cu.CUContext{}, fmt.Errorf("gorgonia: context of %v: %w", dev, err)
	}
	return context, nil
}

// contextOf retains the context to read its handle. The device retains it too, so
// contextOf releases it immediately.
func contextOf(dev *device.Device) (context cu.CUContext, err error) {
	if err := onGPU(dev); err != nil {
		return context, err
	}
	if _, err := dev.Attribute(backend.MultiprocessorCount); err != nil {
		return context, err // it is closed
	}
	handle, err := cu.GetDevice(dev.Info().Ordinal)
	if err != nil {
		return context, callFailed(err, "cuDeviceGet", "")
	}
	if context, err = handle.RetainPrimaryCtx(); err != nil {
		return context, callFailed(err, "cuDevicePrimaryCtxRetain", "")
	}
	return context, check(handle.ReleasePrimaryCtx(), "cuDevicePrimaryCtxRelease")
}

// Do calls a function that uses the binding, on a locked thread with the device's
// context current. It restores the thread's context and returns the function's error.
func Do(dev *device.Device, call func() error) error {
	context, err := Context(dev)
	if err != nil {
		return err
	}
	return within(context, dev.Info().Ordinal, call)
}

// perThread is CUDA's handle of the calling thread's default stream, legacy that of the
// default stream shared by all threads.
const (
	legacy    = 1
	perThread = 2
)

// Stream returns a stream as the binding's type. It is valid until the stream is
// closed, and gpuframe destroys it.
//
// # Errors
//
// CUDA's per-thread default stream, handle 2, has no value of the binding's type and
// returns device.ErrNotSupported.
func Stream(s *device.Stream) (cu.Stream, error) {
	var err error
	switch {
	case s == nil:
		err = fmt.Errorf("the stream is nil: %w", device.ErrInvalidValue)
	case onGPU(s.Device()) != nil:
		err = onGPU(s.Device())
	case s.Closed():
		err = device.ErrClosed
	case s.Handle() == perThread:
		err = fmt.Errorf("the binding has no per-thread default stream: %w", device.ErrNotSupported)
	case s.Handle() == 0, s.Handle() == legacy:
		return cu.NoStream, nil
	default:
		return fromWord[cu.Stream](uintptr(s.Handle())), nil
	}
	return cu.NoStream, fmt.Errorf("gorgonia: stream: %w", err)
}

// FromStream makes a gpuframe stream from a stream of the binding in the primary
// context of the device; cu.NoStream is the default stream.
//
// # Ownership
//
// The binding keeps the stream: it must live as long as memory that it used, and Close
// does not destroy it.
func FromStream(dev *device.Device, s cu.Stream) (*device.Stream, error) {
	if err := onGPU(dev); err != nil {
		return nil, fmt.Errorf("gorgonia: stream: %w", err)
	}
	return dev.WrapStream(backend.Stream(word(s))), nil
}

// Module returns loaded code as the binding's type. It is valid until the module is
// closed, and gpuframe unloads it.
func Module(m *kernels.Module) cu.Module { return fromWord[cu.Module](uintptr(m.Handle())) }

// FromModule makes a gpuframe module from code that the binding has loaded in the
// primary context of the device.
//
// # Ownership
//
// The binding keeps the code. It may unload it once the kernels that gpuframe has
// launched are done; the kernels.Module must not be used afterwards. Closing the
// kernels.Module leaves the code loaded.
func FromModule(dev *device.Device, m cu.Module, options kernels.LoadOptions) (*kernels.Module, error) {
	if err := onGPU(dev); err != nil {
		return nil, fmt.Errorf("gorgonia: module: %w", err)
	}
	return kernels.WrapModule(dev, backend.Module(word(m)), options)
}

// Function returns a kernel as the binding's type. It is valid until its module is
// closed. cu.Function.Launch reads eight bytes of each argument, so point it to
// variables of at least that size. It records no use of memory: see [DevicePtr].
func Function(f *kernels.Function) cu.Function { return fromWord[cu.Function](uintptr(f.Handle())) }
