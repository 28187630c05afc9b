package gpuframe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/devices"
	"github.com/gpuframe/gpuframe/internal/query/runs"
	"github.com/gpuframe/gpuframe/memory"
)

// Option configures [Open]. Each option may be given once.
type Option struct {
	name  string
	apply func(*settings) error
}

// settings are the values of the options.
type settings struct {
	device string
	// devices are the names of several devices, or nil.
	devices []string
	// divide is the choice of [DivideFrom].
	divide devices.Dividing
	memory memory.Options
	spill  spill.Options
}

// Device selects the device by its name, for example "cuda:1" or "host". Without this
// option Open takes the first GPU, or the host if the process can use no GPU.
func Device(name string) Option {
	return Option{"Device", func(s *settings) error {
		s.device = name
		return nil
	}}
}

// Budget limits the device memory that may be in use at a time, in bytes: see [Devices] for
// several devices. Without this option the memory of the device is the limit.
func Budget(bytes uint64) Option {
	return Option{"Budget", func(s *settings) error {
		if bytes == 0 {
			return fmt.Errorf("Budget is 0 bytes: leave the option out for no budget: %w", device.ErrInvalidValue)
		}
		s.memory.Budget = bytes
		return nil
	}}
}

// SpillBudget limits the pinned host memory for tables that queries hold and that the device
// has no room for, in bytes. Without this option the limit is half of the machine's memory. An
// engine and its tenants have one limit together.
func SpillBudget(bytes uint64) Option {
	return Option{"SpillBudget", func(s *settings) error {
		if bytes == 0 {
			return fmt.Errorf("SpillBudget is 0 bytes, expected one or more: leave the option out for half of the machine's memory: %w", device.ErrInvalidValue)
		}
		s.spill.HostBudget = bytes
		return nil
	}}
}

// SpillDirectory is the directory for a file of tables that queries hold and that neither the
// device nor SpillBudget has room for: inputs of sorts and joins, partial groups, caches. It must
// exist. The file is gone when no query needs it any more, also after an error, and when the
// process ends. Without this option queries use no file.
//
// A file that cannot be written or read is a [*SpillError], which names it and the bytes. One
// that cannot be written leaves its table where it is, so the query fails only if it lacks
// memory then.
func SpillDirectory(path string) Option {
	return Option{"SpillDirectory", func(s *settings) error {
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a directory")}
		}
		if err != nil {
			return fmt.Errorf("SpillDirectory: %w: create the directory first", err)
		}
		s.spill.Directory = path
		return nil
	}}
}

// SpillError is the failure of a file with a table of a query: see [SpillDirectory].
type SpillError = spill.FileError

// Engine runs queries: it is an open device, or several, and the manager of its memory. Its
// methods may be called from any goroutine.
type Engine struct {
	tenancy *runs.Tenancy
	close   func() error
}

// Open opens a device and a memory manager on it.
//
// # Ownership
//
// The caller closes the engine after it has released everything made with it.
//
// # Errors
//
// The error wraps device.ErrInvalidValue for an option that is given twice or has no
// sensible value, and otherwise the error of device.Open: a GPU that cannot be used is
// an error, Open does not fall back to the host.
func Open(options ...Option) (*Engine, error) {
	s, err := open(options)
	if err != nil {
		return nil, fmt.Errorf("gpuframe: open: %w", err)
	}
	return s, nil
}

func open(options []Option) (*Engine, error) {
	chosen, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	if chosen.devices == nil {
		chosen.devices = []string{chosen.device}
	}
	set, err := devices.Open(devices.Options{Names: chosen.devices, Divide: chosen.divide, Memory: chosen.memory, Spill: chosen.spill})
	if err != nil {
		return nil, err
	}
	return newEngine(nil, set, set.Close), nil
}

func settingsOf(options []Option) (settings, error) {
	s := settings{divide: devices.UsualDividing}
	applied := make(map[string]bool, len(options))
	for i, o := range options {
		switch {
		case o.apply == nil:
			return s, fmt.Errorf("option %d is the zero Option: %w", i, device.ErrInvalidValue)
		case applied[o.name]:
			return s, fmt.Errorf("option %s is given twice: %w", o.name, device.ErrInvalidValue)
		}
		applied[o.name] = true
		if err := o.apply(&s); err != nil {
			return s, err
		}
	}
	if applied["Device"] && applied["Devices"] {
		return s, fmt.Errorf("options Device and Devices are both given, expected one of them: %w", device.ErrInvalidValue)
	}
	return s, nil
}

// Managed returns an engine with the memory of a manager, for programs that have one.
//
// # Ownership
//
// The caller closes the engine, and then the manager, which the engine does not close.
func Managed(manager *memory.Manager) (*Engine, error) {
	if manager == nil {
		return nil, fmt.Errorf("gpuframe: managed: the manager is nil: %w", device.ErrInvalidValue)
	}
	set := &devices.Set{Members: []*devices.Member{devices.NewMember(manager)}}
	return newEngine(nil, set, set.CloseFiles), nil
}

// Device returns the device, the first one of several. It is open until the engine is closed.
func (e *Engine) Device() *device.Device { return e.tenancy.Devices.First().Device }

// Manager returns the manager of the engine's memory, that of the first device of several. A query
// that runs while no other does works on the manager's stream; others have separate streams, to which
// the memory of their results belongs. Work on results is ordered by memory.Block.OrderBefore,
// as all of gpuframe is.
func (e *Engine) Manager() *memory.Manager { return e.tenancy.Devices.First().Manager }

// Tenant returns an engine on the same device. Its queries share a separate budget, in
// bytes, below that of e; each of several devices has an equal part of it. Zero means no
// separate budget. Its close is independent; it must come before that of e.
//
// # Errors
//
// The error is that of [memory.Manager.Child].
func (e *Engine) Tenant(name string, budget uint64) (*Engine, error) {
	set, err := e.tenancy.Devices.Child(name, budget)
	if err != nil {
		return nil, fmt.Errorf("gpuframe: tenant %q: %w", name, err)
	}
	return newEngine(e.tenancy, set, set.CloseManagers), nil
}

// newEngine makes an engine on devices, or a tenant of another one.
func newEngine(parent *runs.Tenancy, set *devices.Set, end func() error) *Engine {
	tenancy := runs.NewTenancy(parent, set)
	return &Engine{tenancy, sync.OnceValue(func() error { return errors.Join(tenancy.Close(), end()) })}
}

// ErrClosed is wrapped by the error of a query whose engine is closed.
var ErrClosed = device.ErrClosed

// Close closes the manager and the device. Queries that wait, and later ones, get an error
// that wraps [ErrClosed]. Close waits for those that run; iterations of [Query.Batches] end
// at their next frame. The error names memory that was not released. Further calls return
// the same error. Closing a nil Engine does nothing.
func (e *Engine) Close() error {
	if e == nil {
		return nil
	}
	return e.close()
}
