package kernels

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// WrapModule makes a Module from code that another library has loaded onto the device,
// such as a CUmodule of its primary context. The other library owns the handle: it must
// not unload it before the launched kernels are done, and Close does not unload it.
func WrapModule(dev *device.Device, handle backend.Module, options LoadOptions) (*Module, error) {
	if dev == nil || handle == 0 {
		return nil, fmt.Errorf("kernels: wrap a module: the device is nil or the handle is zero: %w", device.ErrInvalidValue)
	}
	m, err := newModule(dev, handle, options)
	if err != nil {
		return nil, fmt.Errorf("kernels: wrap a module on %s: %w", dev, err)
	}
	m.borrowed = true
	return m, nil
}

// Handle returns the driver's handle, for another library. It is valid until Close.
func (m *Module) Handle() backend.Module { return m.handle }

// Handle returns the driver's handle, for another library. It is valid until the module
// is closed. Launches through it are not recorded on any block.
func (f *Function) Handle() backend.Function { return f.handle }
