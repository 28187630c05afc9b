//go:build !linux || !cgo || !(amd64 || arm64)

package cuda

import (
	"runtime"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Driver is the CUDA backend, which this build does not contain: its methods return an
// error that wraps [backend.ErrNotAvailable] and names the reason.
type Driver struct{}

var _ backend.Driver = Driver{}

// Devices returns an error that wraps [backend.ErrNotAvailable].
func (Driver) Devices() ([]backend.Info, error) { return nil, notInThisBuild() }

// Open returns an error that wraps [backend.ErrNotAvailable].
func (Driver) Open(int) (backend.Device, error) { return nil, notInThisBuild() }

func notInThisBuild() error {
	switch {
	case runtime.GOOS != "linux":
		return unavailable("CUDA is supported on Linux only so far, and this is %s", runtime.GOOS)
	case runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64":
		return unavailable("CUDA is supported on amd64 and arm64 only, and this is %s", runtime.GOARCH)
	}
	return unavailable("built without cgo: build with CGO_ENABLED=1 and a C compiler")
}
