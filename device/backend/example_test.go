package backend_test

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
)

// limited is a backend over another one that allocates at most limit bytes at a time.
type limited struct {
	backend.Device
	limit uint64
}

func (l limited) Alloc(bytes uint64) (backend.Pointer, error) {
	if bytes > l.limit {
		return 0, fmt.Errorf("%d bytes are more than %d: %w", bytes, l.limit, backend.ErrOutOfMemory)
	}
	return l.Device.Alloc(bytes)
}

func Example() {
	device, err := host.Driver{}.Open(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer device.Close()
	var driver backend.Device = limited{Device: device, limit: 1 << 20}

	_, err = driver.Alloc(1 << 21)
	fmt.Println(err, errors.Is(err, backend.ErrOutOfMemory))
	fmt.Println(driver.Info().Kind, backend.ComputeCapability{Major: 9}, backend.MemoryHost.HostAccessible())
	// Output:
	// 2097152 bytes are more than 1048576: out of device memory true
	// host 9.0 true
}
