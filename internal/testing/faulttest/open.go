package faulttest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
)

// opened numbers the devices, because a backend cannot be unregistered.
var opened atomic.Int64

type family struct {
	driver *Driver
}

func (f family) Devices() ([]backend.Info, error) { return []backend.Info{f.driver.Info()}, nil }

func (f family) Open(int) (backend.Device, error) { return f.driver, nil }

// OpenHost opens the host device with fault injection until the end of the test.
func OpenHost(t testing.TB) (*device.Device, *Driver) {
	t.Helper()
	below, err := host.Driver{}.Open(0)
	require.NoError(t, err)
	return open(t, below)
}

// OpenGPU opens a device with fault injection until the end of the test. It imitates a
// GPU with the given kernels.
func OpenGPU(t testing.TB, kernels map[string]launchtest.Kernel) (*device.Device, *Driver) {
	t.Helper()
	gpu := &launchtest.GPU{Kernels: kernels}
	launchtest.Open(t, gpu) // which closes it, too
	return open(t, unclosed{gpu})
}

// unclosed is a device that its owner closes.
type unclosed struct{ backend.Device }

func (u unclosed) Close() error { return u.Device.Synchronize() }

// Below returns the underlying device.
func (u unclosed) Below() backend.Device { return u.Device }

func open(t testing.TB, below backend.Device) (*device.Device, *Driver) {
	t.Helper()
	driver := NewDriver(below)
	name := fmt.Sprintf("faulttest-%d", opened.Add(1))
	require.NoError(t, device.Register(name, family{driver}))
	dev, err := device.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() {
		driver.Arm(nil)
		require.NoError(t, dev.Close())
	})
	return dev, driver
}

// OpenOver opens a device with fault injection over another one, for example one of several of
// the host, until the end of the test, which closes both.
func OpenOver(t testing.TB, below backend.Device) (*device.Device, *Driver) {
	t.Helper()
	return open(t, below)
}

// OpenEmulator opens the PTX emulator with fault injection until the end of the test.
func OpenEmulator(t testing.TB) (*device.Device, *Driver) {
	t.Helper()
	return open(t, unclosed{kerneltest.Open(t).Driver()}) // which closes it, too
}
