// Package devices has the devices of an engine: it opens them, connects their memory, and divides plans
// among them.
package devices

import (
	"errors"
	"fmt"
	"strings"

	physical "github.com/pbnjay/memory"

	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/memory"
)

// Set is the devices of an engine, one or more. The first one has the results.
type Set struct {
	// Members are the devices. Queries that are not divided run on the first one.
	Members []*Member
	// Divide is how queries are divided among the devices.
	Divide Dividing
}

// Member is one of the devices, with the manager of its memory.
type Member struct {
	Device   *device.Device
	Manager  *memory.Manager
	Spilling exec.Spilling
	// Streams are those of the queries, of tenants too, or nil for the manager's only.
	Streams *Streams
}

// NewMember returns a device with the memory of a manager.
func NewMember(manager *memory.Manager) *Member {
	return &Member{Device: manager.Device(), Manager: manager, Spilling: exec.Spilling{Manager: manager}}
}

// First returns the first device.
func (s *Set) First() *Member { return s.Members[0] }

// Options are those of [Open].
type Options struct {
	// Names are those of the devices.
	Names []string
	// Divide is how queries are divided among the devices.
	Divide Dividing
	// Memory and Spill are the options of all devices: each has an equal part of the budgets.
	Memory memory.Options
	// Spill is where rows go that memory is too short for.
	Spill spill.Options
}

// Open opens devices and a manager on each.
func Open(options Options) (*Set, error) {
	s := &Set{Divide: options.Divide}
	if err := s.open(options); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.connect()
	return s, nil
}

func (s *Set) open(options Options) error {
	if n := uint64(len(options.Names)); options.Memory.Budget > 0 {
		if options.Memory.Budget /= n; options.Memory.Budget == 0 {
			return fmt.Errorf("the option Budget is less than a byte for each of %d devices: %w", n, device.ErrInvalidValue)
		}
	}
	for _, name := range options.Names {
		dev, err := device.Open(name)
		if err != nil {
			return err
		}
		m, before := &Member{Device: dev, Streams: newStreams(dev)}, s.Members
		s.Members = append(s.Members, m)
		for _, other := range before {
			if err := fitTogether(other.Device, dev); err != nil {
				return err
			}
		}
		if m.Manager, err = memory.NewManager(dev, options.Memory); err != nil {
			return err
		}
		m.Spilling.Manager, m.Spilling.Options = m.Manager, spillShare(options.Spill, len(options.Names))
	}
	return nil
}

// connect lets devices copy from each other's memory: most tables that they exchange are too short to
// be worth it by themselves.
func (s *Set) connect() { memory.Connect(s.Managers()...) }

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

// Child returns the devices with children of their managers, which have a budget together. Zero is no
// further budget.
func (s *Set) Child(name string, budget uint64) (*Set, error) {
	if budget > 0 {
		budget = max(budget/uint64(len(s.Members)), 1)
	}
	child := &Set{Divide: s.Divide}
	for _, parent := range s.Members {
		mgr, err := parent.Manager.Child(name, budget)
		if err != nil {
			return nil, errors.Join(err, child.CloseManagers())
		}
		m := &Member{Device: parent.Device, Manager: mgr, Streams: parent.Streams}
		m.Spilling.Manager, m.Spilling.Options, m.Spilling.Parent = mgr, parent.Spilling.Options, &parent.Spilling
		child.Members = append(child.Members, m)
	}
	return child, nil
}

// Close closes the managers and the devices.
func (s *Set) Close() error {
	var failures []error
	for _, m := range s.Members {
		// Pinned memory that files were decoded into stays with the device otherwise.
		_, trimming := memory.TrimPinned(m.Device, 0)
		failures = append(failures, trimming)
	}
	failures = append(failures, s.CloseManagers())
	for _, m := range s.Members {
		failures = append(failures, m.Streams.close(), m.Device.Close())
	}
	return errors.Join(failures...)
}

// CloseManagers closes the managers and not the devices.
func (s *Set) CloseManagers() error {
	failures := []error{s.CloseFiles()}
	for _, m := range s.Members {
		if m.Manager != nil {
			failures = append(failures, m.Manager.Close())
		}
	}
	return errors.Join(failures...)
}

// CloseFiles closes the files of tables that left the devices, not the managers.
func (s *Set) CloseFiles() error {
	var failures []error
	for _, m := range s.Members {
		failures = append(failures, m.Spilling.Close())
	}
	return errors.Join(failures...)
}

// Devices returns the devices.
func (s *Set) Devices() []*device.Device {
	list := make([]*device.Device, len(s.Members))
	for i, m := range s.Members {
		list[i] = m.Device
	}
	return list
}

// Managers returns the managers of the devices.
func (s *Set) Managers() []*memory.Manager {
	list := make([]*memory.Manager, len(s.Members))
	for i, m := range s.Members {
		list[i] = m.Manager
	}
	return list
}

// String lists the names of the devices.
func (s *Set) String() string {
	var names []string
	for _, m := range s.Members {
		names = append(names, m.Device.Name())
	}
	return strings.Join(names, ", ")
}

// ExplainSpilling adds to an error of a query that lacked memory why tables of any device were not
// written to files.
func (s *Set) ExplainSpilling(err error) error {
	for _, m := range s.Members {
		err = m.Spilling.Explain(err)
	}
	return err
}
