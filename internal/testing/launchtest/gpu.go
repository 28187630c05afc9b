package launchtest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
)

// Kernel stands for a function of device code.
type Kernel struct {
	// Parameters holds the size of each parameter in bytes. Nil means that the driver
	// is too old to report them.
	Parameters []int
	// MaxThreads is the maximum number of threads of a block; zero means 1024.
	MaxThreads int
	// StaticShared is in bytes.
	StaticShared int
	// Run is called by each launch, after the earlier work of the stream. It may be
	// nil.
	Run func(Launch)
}

// Launch holds the arguments of a launch as the driver received them.
type Launch struct {
	Name   string
	Config backend.LaunchConfig
	Slots  []uint64
	Starts []uint32
}

// Bytes returns the first n bytes of argument i.
func (l Launch) Bytes(i, n int) []byte {
	var memory []byte
	for _, slot := range l.Slots[l.Starts[i]:] {
		memory = binary.LittleEndian.AppendUint64(memory, slot)
	}
	return memory[:n]
}

// Uint64 returns argument i as a number of eight bytes.
func (l Launch) Uint64(i int) uint64 { return l.Slots[l.Starts[i]] }

// GPU is the driver of the device. Set its fields before use.
type GPU struct {
	backend.Device
	Kernels map[string]Kernel
	// LaunchError is returned by every launch, which then does nothing.
	LaunchError error
	// Discard makes launches run and record nothing, for benchmarks.
	Discard bool
	// RefuseCubins makes it load text only.
	RefuseCubins bool
	// NoGraphs removes the capture of streams, NoCompile the compilation of code
	// without loading it.
	NoGraphs, NoCompile bool

	retired  atomic.Bool
	mu       sync.Mutex
	names    []string // names of the functions; a handle is the index plus one
	launches []Launch
	shared   map[string]int // limit of dynamic shared memory, if it was set
	calls    []string
	images   []string

	// Captured work: of captures in progress by stream, of graphs by number.
	captures  map[backend.Stream][]work
	lost      map[backend.Stream]bool
	graphs    map[uintptr][]work
	lastGraph uintptr
}

// The limits of the device.
const (
	SharedBytes      = 48 << 10
	SharedBytesOptIn = 227 << 10
	MaxThreads       = 1024
	Multiprocessors  = 4
)

// opened numbers the devices, because a backend cannot be unregistered.
var opened atomic.Int64

type driver struct {
	gpu *GPU
}

// Devices lists the device while its test runs, because a backend cannot be
// unregistered.
func (d driver) Devices() ([]backend.Info, error) {
	if d.gpu.retired.Load() {
		return nil, backend.ErrNotAvailable
	}
	return []backend.Info{d.gpu.Info()}, nil
}

func (d driver) Open(int) (backend.Device, error) { return d.gpu, nil }

// Open opens a device over gpu until the end of the test.
func Open(t testing.TB, gpu *GPU) *device.Device {
	t.Helper()
	below, err := host.Driver{}.Open(0)
	require.NoError(t, err)
	gpu.Device = below
	gpu.shared = map[string]int{}
	gpu.captures, gpu.lost, gpu.graphs = map[backend.Stream][]work{}, map[backend.Stream]bool{}, map[uintptr][]work{}
	name := fmt.Sprintf("launchtest-%d", opened.Add(1))
	require.NoError(t, device.Register(name, driver{gpu}))
	dev, err := device.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, dev.Close())
		gpu.retired.Store(true)
	})
	return dev
}

// OpenWrapped opens a device until the end of the test, and puts wrap's device between it
// and its memory and streams.
func OpenWrapped[d backend.Device](t testing.TB, wrap func(below backend.Device) d) (*device.Device, d) {
	t.Helper()
	gpu := &GPU{}
	dev := Open(t, gpu)
	wrapped := wrap(gpu.Device)
	gpu.Device = wrapped
	return dev, wrapped
}

// Below returns the device that holds the memory and the streams.
func (g *GPU) Below() backend.Device { return g.Device }

// Launches returns the launches so far.
func (g *GPU) Launches() []Launch {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.launches)
}

// Calls returns the calls that ordered or ended work: the name of each, with the stream
// if it has one.
func (g *GPU) Calls() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.calls)
}

// Images returns the loaded code.
func (g *GPU) Images() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.images)
}

func (g *GPU) note(format string, arguments ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, fmt.Sprintf(format, arguments...))
}

// Info implements backend.Device.
func (g *GPU) Info() backend.Info {
	info := g.Device.Info()
	info.Kind, info.Name, info.Multiprocessors = backend.CUDA, "launchtest", Multiprocessors
	info.ComputeCapability = backend.ComputeCapability{Major: 9}
	return info
}

// Attribute implements backend.Device.
func (g *GPU) Attribute(attribute backend.Attribute) (int, error) {
	switch attribute {
	case backend.MaxSharedMemoryPerBlock:
		return SharedBytes, nil
	case backend.MaxSharedMemoryPerBlockOptIn:
		return SharedBytesOptIn, nil
	}
	return g.Device.Attribute(attribute)
}

// PointerInfo implements backend.Memory: all memory is the device's.
func (g *GPU) PointerInfo(pointer backend.Pointer) (backend.PointerInfo, error) {
	info, err := g.Device.PointerInfo(pointer)
	if info.Kind == backend.MemoryHost {
		info = backend.PointerInfo{Kind: backend.MemoryDevice}
	}
	return info, err
}

// Synchronize implements backend.Device.
func (g *GPU) Synchronize() error {
	g.note("Synchronize")
	g.mu.Lock()
	streams := slices.Collect(maps.Keys(g.captures))
	g.mu.Unlock()
	for _, stream := range streams {
		if err := g.refuseCaptured("Synchronize", stream); err != nil {
			return err
		}
	}
	return g.Device.Synchronize()
}

// EventRecord implements backend.Streams.
func (g *GPU) EventRecord(event backend.Event, stream backend.Stream) error {
	g.note("EventRecord(%d)", stream)
	if err := g.refuseCaptured("EventRecord", stream); err != nil {
		return err
	}
	return g.Device.EventRecord(event, stream)
}

// StreamQuery reports pending work always, so that code cannot omit an order because
// the work has completed.
func (g *GPU) StreamQuery(stream backend.Stream) (done bool, err error) {
	return false, g.refuseCaptured("StreamQuery", stream)
}

// FreeAsync implements backend.Memory.
func (g *GPU) FreeAsync(pointer backend.Pointer, stream backend.Stream) error {
	g.note("FreeAsync(%d)", stream)
	if err := g.refuseCaptured("FreeAsync", stream); err != nil {
		return err
	}
	return g.Device.FreeAsync(pointer, stream)
}

const module = backend.Module(1)

// ModuleLoad implements backend.Modules. Every code holds all the kernels.
func (g *GPU) ModuleLoad(image []byte) (backend.Module, error) {
	g.note("ModuleLoad")
	if len(image) == 0 || string(image) == Cubin {
		return 0, fmt.Errorf("launchtest: the image is empty: %w", backend.ErrInvalidCode)
	}
	if g.RefuseCubins && strings.HasPrefix(string(image), Cubin) {
		return 0, fmt.Errorf("launchtest: a cubin: %w", backend.ErrInvalidCode)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.images = append(g.images, string(image))
	return module, nil
}

// Cubin is the prefix of compiled code; the source follows it.
const Cubin = "\x7fELF"

// ModuleCompile implements backend.Modules.
func (g *GPU) ModuleCompile(image []byte) ([]byte, error) {
	g.note("ModuleCompile")
	switch {
	case g.NoCompile:
		return nil, fmt.Errorf("launchtest: ModuleCompile: %w", backend.ErrNotSupported)
	case len(image) == 0:
		return nil, fmt.Errorf("launchtest: the image is empty: %w", backend.ErrInvalidCode)
	}
	return append([]byte(Cubin), image...), nil
}

// ModuleUnload implements backend.Modules.
func (g *GPU) ModuleUnload(backend.Module) error {
	g.note("ModuleUnload")
	return nil
}

// ModuleFunction implements backend.Modules.
func (g *GPU) ModuleFunction(_ backend.Module, name string) (backend.Function, error) {
	g.note("ModuleFunction(%s)", name)
	if _, ok := g.Kernels[name]; !ok {
		return 0, fmt.Errorf("launchtest: no function %q: %w", name, backend.ErrNotFound)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names = append(g.names, name)
	return backend.Function(len(g.names)), nil
}

func (g *GPU) find(function backend.Function) (string, Kernel) {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := g.names[function-1]
	kernel := g.Kernels[name]
	if kernel.MaxThreads == 0 {
		kernel.MaxThreads = MaxThreads
	}
	return name, kernel
}

// FunctionAttribute implements backend.Modules.
func (g *GPU) FunctionAttribute(function backend.Function, attribute backend.FunctionAttribute) (int, error) {
	name, kernel := g.find(function)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch attribute {
	case backend.FunctionMaxThreadsPerBlock:
		return kernel.MaxThreads, nil
	case backend.FunctionStaticSharedBytes:
		return kernel.StaticShared, nil
	case backend.FunctionMaxDynamicSharedBytes:
		if set, ok := g.shared[name]; ok {
			return set, nil
		}
		return SharedBytes - kernel.StaticShared, nil
	}
	return 100 + int(attribute), nil // a different number for each attribute
}

// FunctionSetAttribute implements backend.Modules.
func (g *GPU) FunctionSetAttribute(function backend.Function, attribute backend.FunctionAttribute, value int) error {
	name, _ := g.find(function)
	g.note("FunctionSetAttribute(%s, %d, %d)", name, attribute, value)
	if attribute == backend.FunctionMaxDynamicSharedBytes {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.shared[name] = value
	}
	return nil
}

// FunctionParameters implements backend.Modules.
func (g *GPU) FunctionParameters(function backend.Function) ([]backend.Parameter, error) {
	_, kernel := g.find(function)
	if kernel.Parameters == nil {
		return nil, fmt.Errorf("launchtest: FunctionParameters: %w", backend.ErrNotSupported)
	}
	parameters := []backend.Parameter{}
	offset := 0
	for _, bytes := range kernel.Parameters {
		align := min(bytes, 8)
		offset = (offset + align - 1) / align * align
		parameters = append(parameters, backend.Parameter{Offset: offset, Bytes: bytes})
		offset += bytes
	}
	return parameters, nil
}

// Occupancy implements backend.Modules as if threads were all that counts.
func (g *GPU) Occupancy(_ backend.Function, blockThreads int, _ uint32) (int, error) {
	g.note("Occupancy(%d)", blockThreads)
	return 2048 / blockThreads, nil
}

// Launch implements backend.Modules.
func (g *GPU) Launch(function backend.Function, config backend.LaunchConfig, slots []uint64, starts []uint32) error {
	if g.LaunchError != nil {
		return g.LaunchError
	}
	if g.Discard {
		return nil
	}
	name, kernel := g.find(function)
	launch := Launch{Name: name, Config: config, Slots: slices.Clone(slots), Starts: slices.Clone(starts)}
	replay := func(stream backend.Stream) error {
		again := launch
		again.Config.Stream = stream
		return g.run(kernel, again)
	}
	if g.captured(config.Stream, replay) {
		return nil
	}
	return g.run(kernel, launch)
}

// run does a launch.
func (g *GPU) run(kernel Kernel, launch Launch) error {
	g.mu.Lock()
	g.launches = append(g.launches, launch)
	g.mu.Unlock()
	if kernel.Run == nil {
		return nil
	}
	if err := g.StreamSynchronize(launch.Config.Stream); err != nil {
		return err
	}
	kernel.Run(launch)
	return nil
}
