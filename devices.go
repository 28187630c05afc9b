package gpuframe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	physical "github.com/pbnjay/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/exchange"
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
		s.divide = dividing{leastRows: rows, few: min(rows, usualFewRows)}
		return nil
	}}
}

// dividing is the choice of DivideFrom: what is worth dividing among devices, and whether tables stay
// on the devices that have them.
type dividing struct {
	leastRows, leastBytes, few int64
	stay                       bool
}

// usualDividing is the choice without DivideFrom.
var usualDividing = dividing{leastBytes: leastDivided, few: usualFewRows, stay: true}

// leastDivided is the number of bytes in device memory from which scans are divided without
// DivideFrom. Half of it moves over PCIe 5 in 0.6 ms.
const leastDivided = 64 << 20

// usualFewRows is the number of rows that are not worth dividing. Operations on as many take tens of
// microseconds on a GPU, most of it to begin them; so does each step of an exchange.
const usualFewRows = 1 << 16

// member is one of the devices of an engine, with the manager of its memory.
type member struct {
	device   *device.Device
	manager  *memory.Manager
	spilling exec.Spilling
}

// explainSpilling adds to an error of a query that lacked memory why tables of any device were not
// written to files.
func (e *Engine) explainSpilling(err error) error {
	explained := e.spilling.Explain(err)
	for _, m := range e.others {
		explained = m.spilling.Explain(explained)
	}
	return explained
}

// Devices returns the devices of the engine, that of [Engine.Device] first.
func (e *Engine) Devices() []*device.Device {
	list := []*device.Device{e.device}
	for _, m := range e.others {
		list = append(list, m.device)
	}
	return list
}

// Managers returns the managers of the memory of [Engine.Devices], in their order.
func (e *Engine) Managers() []*memory.Manager {
	list := []*memory.Manager{e.manager}
	for _, m := range e.others {
		list = append(list, m.manager)
	}
	return list
}

// openMembers opens devices and a manager on each.
func openMembers(chosen settings) (list []*member, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeMembers(list))
			list = nil
		}
	}()
	options := chosen.memory
	if n := uint64(len(chosen.devices)); options.Budget > 0 {
		if options.Budget /= n; options.Budget == 0 {
			return list, fmt.Errorf("Budget is less than a byte for each of %d devices: %w", n, device.ErrInvalidValue)
		}
	}
	for _, name := range chosen.devices {
		dev, err := device.Open(name)
		if err != nil {
			return list, err
		}
		m := &member{device: dev}
		list = append(list, m)
		for _, other := range list[:len(list)-1] {
			if err := fitTogether(other.device, dev); err != nil {
				return list, err
			}
		}
		if m.manager, err = memory.NewManager(dev, options); err != nil {
			return list, err
		}
		m.spilling.Manager, m.spilling.Options = m.manager, spillShare(chosen.spill, len(chosen.devices))
	}
	connect(list)
	return list, nil
}

// connect lets devices copy from each other's memory: most tables that they exchange are too short to
// be worth it by themselves.
func connect(list []*member) {
	var managers []*memory.Manager
	for _, m := range list {
		managers = append(managers, m.manager)
	}
	memory.Connect(managers...)
}

// fitTogether refuses devices that cannot exchange rows.
func fitTogether(a, b *device.Device) error {
	switch {
	case a.Same(b):
		return fmt.Errorf("Devices has %s twice, expected different devices: %w", b.Name(), device.ErrInvalidValue)
	case a.Kind() != b.Kind():
		return fmt.Errorf("Devices has %s of kind %v and %s of kind %v, expected one kind: %w", a.Name(), a.Kind(), b.Name(), b.Kind(), device.ErrInvalidValue)
	}
	return nil
}

// spillShare returns the part of the options for one of several devices.
func spillShare(all spill.Options, devices int) spill.Options {
	if devices < 2 {
		return all
	}
	if all.HostBudget == 0 {
		all.HostBudget = physical.TotalMemory() / 2
	}
	all.HostBudget = max(all.HostBudget/uint64(devices), 1)
	return all
}

// closeMembers closes managers and devices.
func closeMembers(list []*member) error {
	var failures []error
	for _, m := range list {
		// Pinned memory that files were decoded into stays with the device otherwise.
		_, trimming := memory.TrimPinned(m.device, 0)
		failures = append(failures, trimming)
	}
	failures = append(failures, closeManagers(list))
	for _, m := range list {
		failures = append(failures, m.device.Close())
	}
	return errors.Join(failures...)
}

// closeManagers closes the managers, if they were made.
func closeManagers(list []*member) error {
	var failures []error
	for _, m := range list {
		failures = append(failures, m.spilling.Close())
		if m.manager != nil {
			failures = append(failures, m.manager.Close())
		}
	}
	return errors.Join(failures...)
}

// childMembers makes children of the managers.
func (e *Engine) childMembers(name string, budget uint64) (list []*member, err error) {
	for _, parent := range append([]*member{e.member}, e.others...) {
		mgr, err := parent.manager.Child(name, budget)
		if err != nil {
			return nil, errors.Join(err, closeManagers(list))
		}
		m := &member{device: parent.device, manager: mgr}
		m.spilling.Manager, m.spilling.Options, m.spilling.Parent = mgr, parent.spilling.Options, &parent.spilling
		list = append(list, m)
	}
	return list, nil
}

// deviceNames lists the names of the devices.
func (e *Engine) deviceNames() string {
	var names []string
	for _, dev := range e.Devices() {
		names = append(names, dev.Name())
	}
	return strings.Join(names, ", ")
}

// otherMembers returns the further devices for the execution of a query.
func (e *Engine) otherMembers() (list []exec.Member) {
	for _, m := range e.others {
		list = append(list, exec.Member{Manager: m.manager, Spilling: &m.spilling})
	}
	return list
}

// onDevices adds the further devices to the settings of a query.
func (e *Engine) onDevices(s *exec.Settings) {
	if len(e.others) == 0 {
		return
	}
	tag := s.Tag
	s.Others, s.Turns, s.Stay = e.otherMembers(), &exec.Turns{}, e.divide.stay
	s.FewRows = e.divide.few
	s.Move = func(ctx context.Context, table *buffer.Buffer, m *memory.Manager) (*buffer.Buffer, error) {
		return exchange.Copy(ctx, table, m, exchange.Options{Tag: tag})
	}
	s.Scatter = func(ctx context.Context, parts []*buffer.Buffer, to []*memory.Manager) ([]*buffer.Buffer, error) {
		return exchange.Scatter(ctx, parts, to, exchange.Options{Tag: tag})
	}
}

// optimize returns the plan that the engine runs.
func (e *Engine) optimize(ctx context.Context, n plan.Node, without ...string) (plan.Node, error) {
	optimized, err := plan.OptimizeWithout(ctx, n, without...)
	if err != nil || len(e.others) == 0 {
		return optimized, err
	}
	way, pinned, err := e.wayOfRows()
	if err != nil {
		return nil, err
	}
	least := e.manager.Budget()
	for _, m := range e.others {
		least = min(least, m.manager.Budget())
	}
	return plan.Distribute(optimized, plan.Devices{
		Count: 1 + len(e.others), Way: way, Pinned: pinned, Memory: least, First: e.device,
		LeastRows: e.divide.leastRows, LeastBytes: e.divide.leastBytes, Stay: e.divide.stay,
	})
}

// wayOfRows describes how rows move between the devices: by peer copies if each device has access
// to the memory of all others. isPinned is set if some move through pinned memory.
func (e *Engine) wayOfRows() (way string, isPinned bool, err error) {
	peers, pinned := 0, 0
	for _, from := range e.Devices() {
		for _, to := range e.Devices() {
			route, err := exchange.RouteBetween(from, to)
			if err != nil {
				return "", false, fmt.Errorf("gpuframe: %w", err)
			}
			switch route.Means {
			case exchange.PeerCopy:
				peers++
			case exchange.Pinned:
				pinned++
			}
		}
	}
	switch {
	case pinned == 0:
		return "peer copies", false, nil
	case peers == 0:
		return "pinned memory", true, nil
	}
	return fmt.Sprintf("peer copies, and pinned memory for %d of %d pairs of devices", pinned, pinned+peers), true, nil
}
