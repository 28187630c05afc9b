package host

import (
	"fmt"
	"runtime"

	"github.com/pbnjay/memory"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Driver offers the machine as its only device, with ordinal 0. The zero value is ready
// for use.
type Driver struct{}

var _ backend.Driver = Driver{}

// Devices describes the machine. It never fails.
func (Driver) Devices() ([]backend.Info, error) {
	return []backend.Info{describe()}, nil
}

// Open opens a Device of the machine. Devices that are open at the same time share the
// memory, the streams, the events and the pools. Any ordinal except 0 returns
// [backend.ErrNoDevice].
func (Driver) Open(ordinal int) (backend.Device, error) {
	if ordinal != 0 {
		return nil, failure("Open", backend.ErrNoDevice, "ordinal %d: the host is device 0 and the only one", ordinal)
	}
	return newDevice(), nil
}

// describe leaves the UUID zero, because no identifier of a machine exists on every
// system that Go supports.
func describe() backend.Info {
	processors := runtime.GOMAXPROCS(0)
	noun := "processors"
	if processors == 1 {
		noun = "processor"
	}
	return backend.Info{
		Kind:            backend.Host,
		Name:            fmt.Sprintf("Host (%s, %d %s)", runtime.GOARCH, processors, noun),
		TotalMemory:     memory.TotalMemory(),
		Multiprocessors: processors,
	}
}
