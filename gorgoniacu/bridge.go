//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/kernels"
)

// onGPU refuses devices that the binding knows nothing of. Those of package
// device/cuda pass: they are the same.
func onGPU(dev *device.Device) error {
	if dev == nil || dev.Kind() != device.CUDA {
		return fmt.Errorf("%v is no GPU: %w", dev, device.ErrInvalidValue)
	}
	return nil
}

// Context returns the device's primary context, in which everything that gpuframe
// has on the device lives. It is good until the device is closed. Do not destroy
// it: it is the context of the CUDA runtime, too. cu.CtxFromCUContext does that
// when what it returns is closed or collected.
func Context(dev *device.Device) (cu.CUContext, error) {
	context, err := contextOf(dev)
	if err != nil {
		return cu.CUContext{}, fmt.Errorf("gorgonia: context of %v: %w", dev, err)
	}
	return context, nil
}

// contextOf retains the context to learn which it is. The device retains it, too,
// so it may be released again at once.
func contextOf(dev *device.Device) (context cu.CUContext, err error) {
	if err := onGPU(dev); err != nil {
		return context, err
	}
	if _, err := dev.Attribute(backend.MultiprocessorCount); err != nil {
		return context, err // it is closed
	}
	handle, err := cu.GetDevice(dev.Info().Ordinal)
	if err != nil {
		return context, told(err, "cuDeviceGet", "")
	}
	if context, err = handle.RetainPrimaryCtx(); err != nil {
		return context, told(err, "cuDevicePrimaryCtxRetain", "")
	}
	return context, check(handle.ReleasePrimaryCtx(), "cuDevicePrimaryCtxRelease")
}

// Do calls a function that uses the binding: on a locked thread whose current
// context is the device's. It leaves the thread with the context that it had, and
// returns what the function returns.
func Do(dev *device.Device, call func() error) error {
	context, err := Context(dev)
	if err != nil {
		return err
	}
	return within(shim.NewDevice(dev.Info().Ordinal, word(context)), call)
}

// perThread is CUDA's name for the calling thread's own default stream, and legacy
// for the one that all threads have.
const (
	legacy    = 1
	perThread = 2
)

// Stream returns a stream as the binding has it. It is good until the stream is
// closed, and is gpuframe's to destroy. CUDA's per-thread default stream, which
// gpuframe meets as number 2, cannot be one of the binding's:
// device.ErrNotSupported.
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

// FromStream makes gpuframe's stream of one of the binding's, which was made in
// the primary context of the device; cu.NoStream is the default stream. The
// binding keeps it: it must live as long as memory that it used, and Close does
// not destroy it.
func FromStream(dev *device.Device, s cu.Stream) (*device.Stream, error) {
	if err := onGPU(dev); err != nil {
		return nil, fmt.Errorf("gorgonia: stream: %w", err)
	}
	return dev.WrapStream(backend.Stream(word(s))), nil
}

// Module returns loaded code as the binding has it. It is good until the module is
// closed, and is gpuframe's to unload.
func Module(m *kernels.Module) cu.Module { return fromWord[cu.Module](uintptr(m.Handle())) }

// FromModule makes gpuframe's module of code that the binding has loaded in the
// primary context of the device. The binding keeps it: it unloads it once the
// kernels are done that gpuframe has launched, and after that nothing of the
// kernels.Module may be used. Closing that leaves the code loaded.
func FromModule(dev *device.Device, m cu.Module, options kernels.LoadOptions) (*kernels.Module, error) {
	if err := onGPU(dev); err != nil {
		return nil, fmt.Errorf("gorgonia: module: %w", err)
	}
	return kernels.WrapModule(dev, backend.Module(word(m)), options)
}

// Function returns a kernel as the binding has it. It is good until its module is
// closed. What cu.Function.Launch is given it reads eight bytes each of, so point
// it to no smaller variables; and it records nothing: see [DevicePtr].
func Function(f *kernels.Function) cu.Function { return fromWord[cu.Function](uintptr(f.Handle())) }
