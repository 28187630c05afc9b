package host

import (
	"fmt"
	"runtime"

	"github.com/pbnjay/memory"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Driver offers the machine as one device, with ordinal 0. The zero value is ready for
// use.
type Driver struct {
	// Count is the number of devices; zero means one. All devices are the same machine:
	// they share its memory and its processors. More than one is for programs and tests
	// of several devices on a machine without GPUs:
	//
	//	device.Register("hosts", host.Driver{Count: 4}) // "hosts:0" to "hosts:3"
	Count int
	// NoPeers makes CanAccessPeer false for every other device, and refuses copies from
	// their memory, as GPUs without a connection do.
	NoPeers bool
}

var _ backend.Driver = Driver{}

// Devices describes the machine, once for each device. It never fails.
func (d Driver) Devices() ([]backend.Info, error) {
	infos := make([]backend.Info, d.count())
	for i := range infos {
		infos[i] = describe(i)
	}
	return infos, nil
}

func (d Driver) count() int { return max(d.Count, 1) }

// Open opens a Device of the machine. Devices that are open at the same time share the
// memory, the streams, the events and the pools, also those of different ordinals. An
// ordinal that is not less than Count returns [backend.ErrNoDevice].
func (d Driver) Open(ordinal int) (backend.Device, error) {
	if err := d.checkOrdinal("Open", "ordinal", ordinal); err != nil {
		return nil, err
	}
	return newDevice(d, ordinal), nil
}

func (d Driver) checkOrdinal(operation, field string, ordinal int) error {
	switch {
	case ordinal >= 0 && ordinal < d.count():
		return nil
	case d.count() == 1:
		return failure(operation, backend.ErrNoDevice, "%s %d: the host is device 0 and the only one", field, ordinal)
	}
	return failure(operation, backend.ErrNoDevice, "%s %d: the devices are 0 to %d", field, ordinal, d.count()-1)
}

// describe leaves the UUID zero, because no identifier of a machine exists on every
// system that Go supports.
func describe(ordinal int) backend.Info {
	processors := runtime.GOMAXPROCS(0)
	noun := "processors"
	if processors == 1 {
		noun = "processor"
	}
	return backend.Info{
		Kind:            backend.Host,
		Ordinal:         ordinal,
		Name:            fmt.Sprintf("Host (%s, %d %s)", runtime.GOARCH, processors, noun),
		TotalMemory:     memory.TotalMemory(),
		Multiprocessors: processors,
	}
}
