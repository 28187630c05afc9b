package gpuframe

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/devices"
	"github.com/gpuframe/gpuframe/memory"
)

// Devices selects several devices of one kind by their names, for example "cuda:0" and "cuda:1".
// Queries run on all of them, and their results are those of one device, bit for bit:
//   - Scans are divided by row groups and batches.
//   - Filters, expressions, and joins with a right side that is copied to each device work on the
//     rows of their device.
//   - Groups, first rows and the rows of Top are made in parts, which the first device merges.
//   - Rows to sort move to the devices by ranges of the keys.
//   - Many groups, the rows of windows with partition keys, and both sides of joins of large tables
//     move by a hash of their keys.
//   - All other operations run on the first device, which also has the results.
//
// [Query.Explain] shows the exchanges. Scans of few rows are not divided, and tables in the memory
// of a device are read by that device: see [DivideFrom] and [Engine.Table].
//
// Budget and SpillBudget are the totals of all devices: each device has an equal part. A query
// that needs more on one of them fails, or moves tables to host memory, though another one has
// room. Without Budget the memory of each device is its limit.
//
// GPUs of different models work together; as all get the same number of batches, the slowest
// one determines the time. GPUs that cannot access each other's memory exchange rows through
// host memory.
//
// # Errors
//
// The error of Open wraps device.ErrInvalidValue for no names, for a device that is named
// twice, for devices of different kinds, such as "cuda:0" and "host", and if Device is given
// too; otherwise it is that of device.Open for the first device that cannot be opened.
func Devices(names ...string) Option {
	return Option{"Devices", func(s *settings) error {
		if len(names) == 0 {
			return fmt.Errorf("Devices has no name, expected one or more, such as \"cuda:0\": %w", device.ErrInvalidValue)
		}
		s.devices = slices.Clone(names)
		return nil
	}}
}

// DivideFrom sets the number of rows from which a scan is divided among several devices. Tables in
// the memory of a device are divided too: their rows are copied to the other devices.
//
// Without this option a scan of rows of the host is divided if its columns have 64 MiB or more in
// device memory: the work on less takes less time than the exchanges. Tables in the memory of
// a device are read by that device, for it reads its own memory ten times as fast as others can.
// Partial groups and rows to sort that turn out to be 65,536 or fewer move to the first device, or
// fewer than the rows of DivideFrom.
// Rows of an unknown number are divided with and without the option.
func DivideFrom(rows int64) Option {
	return Option{"DivideFrom", func(s *settings) error {
		if rows < 0 {
			return fmt.Errorf("DivideFrom is %d rows, expected zero or more: %w", rows, device.ErrInvalidValue)
		}
		s.divide = devices.DividingFrom(rows)
		return nil
	}}
}

// Devices returns the devices of the engine, that of [Engine.Device] first.
func (e *Engine) Devices() []*device.Device { return e.tenancy.Devices.Devices() }

// Managers returns the managers of the memory of [Engine.Devices], in their order.
func (e *Engine) Managers() []*memory.Manager { return e.tenancy.Devices.Managers() }
