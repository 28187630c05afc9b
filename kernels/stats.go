package kernels

import (
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
)

// Stats count the kernels of a device since it was opened.
type Stats struct {
	// Launches counts kernels that were enqueued, and GraphLaunches graphs.
	Launches, GraphLaunches uint64
	// Modules counts loads of code, and LoadTime is the sum of their durations: nearly all
	// of it is compilation, unless the code was in the directory of compiled code.
	Modules  uint64
	LoadTime time.Duration
}

// StatsOf returns the counts of a device. They are zero on the host.
func StatsOf(dev *device.Device) Stats {
	c := countersOf(dev)
	if c == nil {
		return Stats{}
	}
	return Stats{
		Launches: c.launches.Load(), GraphLaunches: c.graphLaunches.Load(), Modules: c.modules.Load(),
		LoadTime: time.Duration(c.loadNanoseconds.Load()),
	}
}

// counters are the counts of a device.
type counters struct {
	launches, graphLaunches, modules, loadNanoseconds atomic.Uint64
}

var countersByDevice perdevice.Cache[*counters]

// countersOf returns the counters of a device, or nil without a device.
func countersOf(dev *device.Device) *counters {
	c, err := countersByDevice.Get(dev, func(*device.Device) (*counters, error) { return new(counters), nil })
	if err != nil {
		return nil
	}
	return c
}
