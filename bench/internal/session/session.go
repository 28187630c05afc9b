// Package session opens the device of a benchmark.
package session

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Run opens a device by name, with a manager without a budget, runs the benchmark, and
// closes both. The error may be any of these.
func Run(name string, benchmark func(dev *device.Device, mgr *memory.Manager) error) (err error) {
	dev, err := device.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mgr.Close()) }()
	return benchmark(dev, mgr)
}
