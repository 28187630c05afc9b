//go:build !linux || !cgo || !(amd64 || arm64)

package gorgoniacu

import (
	"fmt"
	"runtime"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Driver is the backend, which this build does not contain: its methods return an error
// that wraps [backend.ErrNotAvailable] and names the reason.
type Driver struct{}

var _ backend.Driver = Driver{}

// Devices returns an error that wraps [backend.ErrNotAvailable].
func (Driver) Devices() ([]backend.Info, error) { return nil, notInThisBuild() }

// Open returns an error that wraps [backend.ErrNotAvailable].
func (Driver) Open(int) (backend.Device, error) { return nil, notInThisBuild() }

func notInThisBuild() error {
	return fmt.Errorf("gorgonia: built for %s/%s, or without cgo: it needs cgo and 64-bit Linux: %w",
		runtime.GOOS, runtime.GOARCH, backend.ErrNotAvailable)
}
