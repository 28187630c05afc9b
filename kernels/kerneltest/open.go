package kerneltest

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
)

// SeedVariable is the environment variable that sets the seed of the schedule.
const SeedVariable = "GPUFRAME_PTXRUN_SEED"

// Options configure an emulated device. The zero value is right for most tests.
type Options struct {
	// Multiprocessors is the number that the device reports. Zero means 2, so that
	// grid-stride loops iterate more than once.
	Multiprocessors int
	// BlocksPerMultiprocessor is the maximum that Occupancy reports and that is
	// resident at a time. Zero means 3.
	BlocksPerMultiprocessor int
	// Seed is the seed of the schedule. Zero means that of the environment, or else 1.
	// Every launch has a different schedule.
	Seed uint64
	// Budget is the number of warp instructions after which a launch counts as endless.
	// Zero means 100 million.
	Budget uint64
	// NoRaces turns off the search for races in shared memory.
	NoRaces bool
	// Ordinal is the number of the device. Devices of different numbers are peers, each with
	// separate memory: a kernel that reads memory of another one fails.
	Ordinal int
	// Tolerant makes faults errors of the launch only; the test does not fail.
	Tolerant bool
}

// opened numbers the devices, because a backend cannot be unregistered.
var opened atomic.Int64

type driver struct {
	*shared
}

// shared is the state that all openings of one emulated device share.
type shared struct {
	options Options
	test    testing.TB
	memory  spans

	mu        sync.Mutex // protects the tables
	modules   map[backend.Module]*loaded
	functions map[backend.Function]*kernel
	handles   uintptr
	captures  captures

	graphs   sync.Mutex // held while a graph is launched
	launches sync.Mutex // one at a time
	launched uint64
}

// Devices implements backend.Driver.
func (d driver) Devices() ([]backend.Info, error) {
	opened, err := d.Open(d.options.Ordinal)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return []backend.Info{opened.Info()}, nil
}

// Open implements backend.Driver.
func (d driver) Open(ordinal int) (backend.Device, error) {
	if ordinal != d.options.Ordinal {
		return nil, fmt.Errorf("kerneltest: ordinal %d: the device has number %d: %w", ordinal, d.options.Ordinal, backend.ErrNoDevice)
	}
	below, err := host.Driver{Count: mostPeers}.Open(ordinal)
	if err != nil {
		return nil, err
	}
	return &emulator{Device: below, shared: d.shared}, nil
}

// mostPeers is the number of ordinals of emulated devices.
const mostPeers = 16

// Open opens an emulated device until the end of the test. It uses only the first of
// options. A [Fault] of a kernel fails the test, unless the device is tolerant.
func Open(t testing.TB, options ...Options) *device.Device {
	t.Helper()
	name := register(t, options...)
	dev, err := device.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

func newDriver(t testing.TB, o Options) driver {
	return driver{&shared{options: o, test: t, modules: map[backend.Module]*loaded{}, functions: map[backend.Function]*kernel{}, captures: newCaptures()}}
}

// register makes an emulated device that device.Open opens by the returned name until the
// end of the test.
func register(t testing.TB, options ...Options) (name string) {
	t.Helper()
	o := withDefaults(t, options)
	name = fmt.Sprintf("emulator-%d", opened.Add(1))
	d := newDriver(t, o)
	require.NoError(t, device.Register(name, d))
	t.Cleanup(d.clear)
	if o.Ordinal != 0 {
		name = fmt.Sprintf("%s:%d", name, o.Ordinal)
	}
	return name
}

// clear drops what the device has loaded. The registry keeps the device itself until the
// process ends.
func (s *shared) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.modules)
	clear(s.functions)
	s.captures = newCaptures()
}

// Emulated reports whether a device belongs to this package.
func Emulated(dev *device.Device) bool {
	_, ok := dev.Driver().(*emulator)
	return ok
}

func withDefaults(t testing.TB, options []Options) Options {
	t.Helper()
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	if o.Multiprocessors == 0 {
		o.Multiprocessors = 2
	}
	if o.BlocksPerMultiprocessor == 0 {
		o.BlocksPerMultiprocessor = 3
	}
	if o.Budget == 0 {
		o.Budget = 100e6
	}
	if o.Seed == 0 {
		o.Seed = 1
		if text := os.Getenv(SeedVariable); text != "" {
			seed, err := strconv.ParseUint(text, 10, 64)
			require.NoError(t, err, SeedVariable)
			o.Seed = seed
		}
	}
	return o
}
