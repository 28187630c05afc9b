package kernels_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// The kernels of this device are Go functions.

func loadKernels(t testing.TB, gpu *launchtest.GPU, options kernels.LoadOptions) (*device.Device, *kernels.Module) {
	t.Helper()
	dev := launchtest.Open(t, gpu)
	module, err := kernels.LoadWith(dev, "code", options)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := module.Close(); !errors.Is(err, device.ErrClosed) {
			require.NoError(t, err)
		}
	})
	return dev, module
}

func function(t testing.TB, module *kernels.Module, name string) *kernels.Function {
	t.Helper()
	f, err := module.Function(name)
	require.NoError(t, err)
	return f
}

func newSlice[T memory.Element](t testing.TB, mgr *memory.Manager, n int) memory.Slice[T] {
	t.Helper()
	s, err := memory.NewSlice[T](mgr, n, memory.AllocateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Release()) })
	return s
}

func newStream(t testing.TB, dev *device.Device) *device.Stream {
	t.Helper()
	stream, err := dev.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := stream.Close(); !errors.Is(err, device.ErrClosed) {
			require.NoError(t, err)
		}
	})
	return stream
}

func one(gpu *launchtest.GPU) launchtest.Launch { return gpu.Launches()[0] }

func TestLaunchReachesTheDriver(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {Parameters: []int{8, 1, 16, 4}}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	values := newSlice[float32](t, mgr, 10)
	stream := newStream(t, dev)

	err := function(t, module, "k").Launch(stream, device.Dim3{X: 3, Y: 2}, device.Dim3{X: 32, Z: 4}, 1024,
		values, true, [2]uint64{7, 9}, float32(1.5))
	require.NoError(t, err)

	launch := one(gpu)
	assert.Equal(t, "k", launch.Name)
	assert.Equal(t, backend.LaunchConfig{
		Grid: device.Dim3{X: 3, Y: 2}, Block: device.Dim3{X: 32, Z: 4}, SharedBytes: 1024, Stream: stream.Handle(),
	}, launch.Config)
	assert.Equal(t, uint64(values.Pointer()), launch.Uint64(0))
	assert.Equal(t, []byte{1}, launch.Bytes(1, 1))
	assert.Equal(t, []byte{7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}, launch.Bytes(2, 16))
	assert.Equal(t, []byte{0, 0, 0xc0, 0x3f}, launch.Bytes(3, 4))
	assert.Equal(t, 1, values.Block().References())
	assert.Zero(t, module.UnrecordedArguments())
}

func TestNilStreamIsTheFirstBlocks(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	own := newStream(t, dev)
	first, err := memory.NewSlice[uint8](mgr, 1, memory.AllocateOptions{Stream: own})
	require.NoError(t, err)
	defer func() { require.NoError(t, first.Release()) }()
	f := function(t, module, "k")

	require.NoError(t, f.Launch(nil, device.Dim3{}, device.Dim3{}, 0, uint8(1), first, newSlice[uint8](t, mgr, 1)))
	assert.Equal(t, own.Handle(), one(gpu).Config.Stream)

	err = f.Launch(nil, device.Dim3{}, device.Dim3{}, 0, uint8(1), memory.Slice[uint8]{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	assert.ErrorContains(t, err, "kernels: launch k: the stream is nil")
}

// TestUseIsRecorded releases memory right after a launch on another stream: the driver
// must order the free after that stream.
func TestUseIsRecorded(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	pool, err := memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: pool})
	other := newStream(t, dev)
	f := function(t, module, "k")
	free := func(launch bool) []string {
		values, err := memory.NewSlice[uint8](mgr, 8, memory.AllocateOptions{})
		require.NoError(t, err)
		if launch {
			require.NoError(t, f.Launch(other, device.Dim3{}, device.Dim3{}, 0, values))
		}
		before := len(gpu.Calls())
		require.NoError(t, values.Release())
		return gpu.Calls()[before:]
	}
	wait, freed := eventRecord(other), "FreeAsync("+handle(mgr.Stream())+")"
	assert.Equal(t, []string{freed}, free(false))
	assert.Equal(t, []string{wait, freed}, free(true))

	gpu.LaunchError = device.ErrDeviceLost
	values := newSlice[uint8](t, mgr, 8)
	require.ErrorIs(t, f.Launch(other, device.Dim3{}, device.Dim3{}, 0, values), device.ErrDeviceLost)
	assert.Equal(t, 1, values.Block().References(), "a launch that fails lets go of its blocks")
}

// TestReleaseDuringLaunch releases the caller's reference while the driver enqueues:
// the memory must last until the use is recorded.
func TestReleaseDuringLaunch(t *testing.T) {
	var release func() error
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{
		"k": {Run: func(launchtest.Launch) { release() }},
	}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	other := newStream(t, dev)
	values, err := memory.NewSlice[uint8](mgr, 8, memory.AllocateOptions{})
	require.NoError(t, err)
	release = func() error {
		err := values.Release()
		assert.NoError(t, err)
		assert.Zero(t, mgr.Stats().Frees, "the launch holds the block")
		return err
	}
	before := len(gpu.Calls())
	require.NoError(t, function(t, module, "k").Launch(other, device.Dim3{}, device.Dim3{}, 0, values, values))
	assert.EqualValues(t, 1, mgr.Stats().Frees)
	assert.Contains(t, gpu.Calls()[before:], eventRecord(other))
}

func eventRecord(stream *device.Stream) string { return "EventRecord(" + handle(stream) + ")" }

func handle(stream *device.Stream) string {
	digits := []byte{}
	for h := stream.Handle(); h > 0; h /= 10 {
		digits = append(digits, byte('0'+h%10))
	}
	slices.Reverse(digits)
	return string(digits)
}

func TestLaunchRefusals(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {Parameters: []int{8, 4}, MaxThreads: 256}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	stream := newStream(t, dev)
	values := newSlice[uint8](t, mgr, 8)
	released, err := memory.NewSlice[uint8](mgr, 8, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, released.Release())
	host := devicetest.Open(t, "host")
	onHost := newSlice[uint8](t, devicetest.Manager(t, host, memory.Options{}), 8)
	closed := newStream(t, dev)
	require.NoError(t, closed.Close())
	f := function(t, module, "k")
	huge := uint32(math.MaxUint32)

	for _, test := range []struct {
		name string
		err  error
		want error
		text string
	}{
		{"count", f.Launch(stream, device.Dim3{}, device.Dim3{}, 0, values), device.ErrInvalidValue,
			"kernels: launch k: 1 arguments, expected 2, of 8, 4 bytes"},
		{"width", f.Launch(stream, device.Dim3{}, device.Dim3{}, 0, values, uint64(1)), device.ErrInvalidValue,
			"kernels: launch k: argument 1: a value of 8 bytes (uint64), expected 4"},
		{"released", f.Launch(stream, device.Dim3{}, device.Dim3{}, 0, released, uint32(1)), memory.ErrReleased, "argument 0"},
		{"released block", f.Launch(stream, device.Dim3{}, device.Dim3{}, 0, released.Block(), uint32(1)), memory.ErrReleased, "argument 0"},
		{"nil block", f.Launch(stream, device.Dim3{}, device.Dim3{}, 0, (*memory.Block)(nil), uint32(1)), memory.ErrReleased, "argument 0"},
		{"another device's memory", f.Launch(stream, device.Dim3{}, device.Dim3{}, 0, onHost, uint32(1)), device.ErrInvalidValue,
			"argument 0: memory on host, the launch is on " + dev.Name()},
		{"another device's stream", f.Launch(host.DefaultStream(), device.Dim3{}, device.Dim3{}, 0, values, uint32(1)), device.ErrInvalidValue,
			"the stream is on host, the module on " + dev.Name()},
		{"closed stream", f.Launch(closed, device.Dim3{}, device.Dim3{}, 0, values, uint32(1)), device.ErrClosed, "kernels: launch k"},
		{"threads", f.Launch(stream, device.Dim3{}, device.Dim3{X: 16, Y: 17}, 0, values, uint32(1)), device.ErrInvalidValue,
			"a block of 16×17×1 threads: the kernel allows at most 256"},
		{"threads overflow", f.Launch(stream, device.Dim3{}, device.Dim3{X: huge, Y: huge, Z: huge}, 0, values, uint32(1)), device.ErrInvalidValue,
			"the kernel allows at most 256"},
		{"shared", f.Launch(stream, device.Dim3{}, device.Dim3{}, launchtest.SharedBytesOptIn+1, values, uint32(1)), device.ErrInvalidValue,
			"232449 bytes of dynamic and 0 of static shared memory: a block on " + dev.Name() + " has at most 232448"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.ErrorIs(t, test.err, test.want)
			assert.ErrorContains(t, test.err, test.text)
		})
	}
	assert.Empty(t, gpu.Launches(), "nothing of it reached the driver")
	assert.Equal(t, 1, values.Block().References())
}

func TestForeignMemory(t *testing.T) {
	for _, strict := range []bool{false, true} {
		gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
		dev, module := loadKernels(t, gpu, kernels.LoadOptions{Strict: strict})
		mgr := devicetest.Manager(t, dev, memory.Options{})
		owner := newSlice[uint8](t, mgr, 64)
		adopt := func(ordered bool) *memory.Block {
			block, err := mgr.Adopt(memory.ForeignMemory{
				Pointer: owner.Pointer(), Bytes: 64, Kind: device.MemoryDevice, Ordered: ordered,
			})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, block.Release()) })
			return block
		}
		f := function(t, module, "k")
		launch := func(argument any) error {
			return f.Launch(mgr.Stream(), device.Dim3{}, device.Dim3{}, 0, argument)
		}
		// Foreign memory with a known ready event counts as own memory.
		ready, err := mgr.Stream().Record()
		require.NoError(t, err)
		defer func() { require.NoError(t, ready.Close()) }()
		marked, err := mgr.Adopt(memory.ForeignMemory{Pointer: owner.Pointer(), Bytes: 64, Kind: device.MemoryDevice, Ready: ready})
		require.NoError(t, err)
		defer func() { require.NoError(t, marked.Release()) }()
		for _, argument := range []any{adopt(true), marked, kernels.Struct(uint8(1), marked)} {
			require.NoError(t, launch(argument))
		}
		assert.Zero(t, module.UnrecordedArguments())

		unordered, raw := launch(adopt(false)), launch(owner.Pointer())
		within := launch(kernels.Struct(adopt(false), owner.Pointer()))
		words := launch(&kernels.Words{Values: []uint64{uint64(owner.Pointer())}, Blocks: []*memory.Block{adopt(false)}})
		if !strict {
			for _, err := range []error{unordered, raw, within, words} {
				require.NoError(t, err)
			}
			assert.EqualValues(t, 5, module.UnrecordedArguments(), "passed on and counted")
			continue
		}
		require.ErrorIs(t, within, device.ErrInvalidValue)
		assert.ErrorContains(t, within, "argument 0: field 1: a raw device.Pointer")
		require.ErrorIs(t, words, device.ErrInvalidValue)
		require.ErrorIs(t, unordered, device.ErrInvalidValue)
		assert.ErrorContains(t, unordered, "argument 0: foreign memory that came without an event")
		require.ErrorIs(t, raw, device.ErrInvalidValue)
		assert.ErrorContains(t, raw, "argument 0: a raw device.Pointer")
		assert.Zero(t, module.UnrecordedArguments())
		assert.Len(t, gpu.Launches(), 3, "none of the refused")
	}
}

func TestSharedMemoryIsAskedForOnce(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {StaticShared: 8 << 10}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	stream := newStream(t, dev)
	function(t, module, "k")
	launch := func(bytes uint32) []string {
		before := len(gpu.Calls())
		// A Function that is looked up again keeps its attributes.
		require.NoError(t, function(t, module, "k").Launch(stream, device.Dim3{}, device.Dim3{}, bytes))
		return gpu.Calls()[before:]
	}
	assert.Empty(t, launch(0))
	assert.Empty(t, launch(40<<10))
	assert.Equal(t, []string{"FunctionSetAttribute(k, 8, 40961)"}, launch(40<<10+1))
	assert.Empty(t, launch(40<<10+1))
	assert.Equal(t, []string{"FunctionSetAttribute(k, 8, 224256)"}, launch(launchtest.SharedBytesOptIn-8<<10))
	assert.Empty(t, launch(100<<10))
	require.ErrorIs(t, function(t, module, "k").Launch(stream, device.Dim3{}, device.Dim3{}, launchtest.SharedBytesOptIn-8<<10+1), device.ErrInvalidValue)
}

func TestFunction(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {MaxThreads: 512, StaticShared: 64}}}
	_, module := loadKernels(t, gpu, kernels.LoadOptions{})
	f := function(t, module, "k")
	assert.Same(t, f, function(t, module, "k"))
	assert.Equal(t, "k", f.Name())
	assert.Equal(t, kernels.Attributes{
		MaxThreads: 512, StaticSharedBytes: 64, ConstantBytes: 102, LocalBytes: 103, Registers: 104, PTXVersion: 105, BinaryVersion: 106,
	}, f.Attributes())
	blocks, err := f.Occupancy(256, 100<<10)
	require.NoError(t, err)
	assert.Equal(t, 8, blocks)
	assert.Contains(t, gpu.Calls(), "FunctionSetAttribute(k, 8, 102400)")
	_, err = f.Occupancy(256, 1<<20)
	require.ErrorIs(t, err, device.ErrInvalidValue)

	_, err = module.Function("missing")
	require.ErrorIs(t, err, backend.ErrNotFound)
	assert.ErrorContains(t, err, `kernels: function "missing"`)
}

func TestUseAfterClose(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	stream := newStream(t, dev)
	f := function(t, module, "k")
	require.NoError(t, module.Close())
	calls := gpu.Calls()
	assert.Equal(t, []string{"Synchronize", "ModuleUnload"}, calls[len(calls)-2:])

	require.ErrorIs(t, module.Close(), device.ErrClosed)
	require.ErrorIs(t, f.Launch(stream, device.Dim3{}, device.Dim3{}, 0), device.ErrClosed)
	_, err := module.Function("k")
	require.ErrorIs(t, err, device.ErrClosed)
	_, err = f.Occupancy(32, 0)
	require.ErrorIs(t, err, device.ErrClosed)
	assert.Equal(t, launchtest.MaxThreads, f.Attributes().MaxThreads, "what is known already can still be asked for")
}

// TestCloseDuringLaunches closes the module under goroutines that use it: each
// launch either runs before the unloading or is refused.
func TestCloseDuringLaunches(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	values := newSlice[uint8](t, mgr, 8)
	var launchers sync.WaitGroup
	launched := make(chan struct{}, 4)
	for range 4 {
		launchers.Go(func() {
			for i := 0; ; i++ {
				f, err := module.Function("k")
				if err == nil {
					err = f.Launch(nil, device.Dim3{}, device.Dim3{}, uint32(i%100)<<10, values, uint32(i))
				}
				if err != nil {
					assert.ErrorIs(t, err, device.ErrClosed)
					return
				}
				if i == 10 {
					launched <- struct{}{}
				}
				runtime.Gosched()
			}
		})
	}
	for range 4 {
		<-launched
	}
	require.NoError(t, module.Close())
	launchers.Wait()
	count := len(gpu.Launches())
	require.ErrorIs(t, module.Close(), device.ErrClosed)
	assert.Len(t, gpu.Launches(), count)
	assert.GreaterOrEqual(t, count, 40)
}

func TestGridFor(t *testing.T) {
	for _, test := range []struct {
		n, threads int
		want       uint32
	}{
		{-1, 256, 1}, {0, 256, 1}, {1, 256, 1}, {256, 256, 1}, {257, 256, 2}, {1 << 20, 256, 4096},
		{10, 0, 10}, {math.MaxInt, 1, math.MaxInt32}, {math.MaxInt, 1024, math.MaxInt32},
	} {
		assert.Equal(t, device.Dim3{X: test.want}, kernels.GridFor(test.n, test.threads), "%d by %d", test.n, test.threads)
	}
}

// BenchmarkLaunch measures what Launch adds to the driver's call, which here is
// a Go function that only looks up the kernel.
func BenchmarkLaunch(b *testing.B) {
	gpu := &launchtest.GPU{Discard: true, Kernels: map[string]launchtest.Kernel{
		"empty": {Parameters: []int{}}, "eight": {Parameters: []int{8, 8, 8, 8, 8, 8, 8, 4}},
	}}
	dev, module := loadKernels(b, gpu, kernels.LoadOptions{Strict: true})
	mgr := devicetest.Manager(b, dev, memory.Options{})
	benchmarkLaunches(b, mgr, function(b, module, "empty"), function(b, module, "eight"))
}

// benchmarkLaunches launches a kernel without arguments, and one with four slices
// and four numbers.
func benchmarkLaunches(b *testing.B, mgr *memory.Manager, empty, eight *kernels.Function) {
	stream := mgr.Stream()
	single, block := device.Dim3{X: 1}, device.Dim3{X: 32}
	var separate [4]memory.Slice[float64]
	for i := range separate {
		separate[i] = newSlice[float64](b, mgr, 1024)
	}
	whole := newSlice[float64](b, mgr, 1024)
	for _, launch := range []struct {
		name      string
		function  *kernels.Function
		arguments []any
	}{
		{"no arguments", empty, nil},
		{"8 arguments, 1 block", eight, []any{whole, whole, whole, whole, uint64(1024), uint64(0), 2.5, uint32(7)}},
		{"8 arguments, 4 blocks", eight, []any{separate[0], separate[1], separate[2], separate[3], uint64(1024), uint64(0), 2.5, uint32(7)}},
	} {
		b.Run(launch.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := launch.function.Launch(stream, single, block, 0, launch.arguments...); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, stream.Synchronize(b.Context()))
		})
	}
}
