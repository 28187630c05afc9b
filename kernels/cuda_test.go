package kernels_test

import (
	_ "embed"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed testdata/launch.ptx
var launchPTX string

// openGPU opens the first GPU for tests that are too large for the emulator.
func openGPU(t testing.TB) (*device.Device, *memory.Manager, *kernels.Module) {
	t.Helper()
	return loaded(t, devicetest.Open(t, "cuda:0"))
}

// openKernels opens the first GPU or the emulator.
func openKernels(t testing.TB) (*device.Device, *memory.Manager, *kernels.Module) {
	t.Helper()
	return loaded(t, devicetest.OpenKernels(t))
}

func loaded(t testing.TB, dev *device.Device) (*device.Device, *memory.Manager, *kernels.Module) {
	t.Helper()
	mgr := devicetest.Manager(t, dev, memory.Options{})
	module, err := kernels.Load(dev, launchPTX)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, module.Close()) })
	return dev, mgr, module
}

func download[T memory.Element](t testing.TB, s memory.Slice[T]) []T {
	t.Helper()
	values := make([]T, s.Len())
	require.NoError(t, s.Download(t.Context(), nil, values))
	return values
}

// TestLoad loads valid and invalid code, on every device.
func TestLoad(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		if dev.Kind() == device.Host {
			_, err := kernels.Load(dev, launchPTX)
			require.ErrorIs(t, err, device.ErrNotSupported)
			assert.ErrorContains(t, err, "PTX needs a CUDA device")
			return
		}
		_, err := kernels.Load(dev, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry broken() { no_such_instruction; }\n")
		require.ErrorIs(t, err, backend.ErrInvalidCode)
		assert.ErrorContains(t, err, "no_such_instruction", "the compiler's log")
		_, err = kernels.Load(dev, []byte{})
		require.ErrorIs(t, err, backend.ErrInvalidCode)

		module, err := kernels.Load(dev, []byte(launchPTX))
		require.NoError(t, err)
		_, err = module.Function("no_such_function")
		require.ErrorIs(t, err, backend.ErrNotFound)
		require.NoError(t, module.Close())
	})
	_, err := kernels.Load(nil, launchPTX)
	require.ErrorIs(t, err, device.ErrInvalidValue)
}

func TestGPUArgumentsArrive(t *testing.T) {
	_, mgr, module := openKernels(t)
	out := newSlice[uint8](t, mgr, 112)
	require.NoError(t, out.Fill(nil, 0))
	err := function(t, module, "echo").Launch(nil, device.Dim3{}, device.Dim3{X: 32}, 0, out,
		uint8(0xab), int16(-2), uint32(0xdeadbeef), math.Pi, [2]uint64{1 << 40, 1 << 63}, true, float32(-0.5))
	require.NoError(t, err)
	got := download(t, out)
	order := binary.LittleEndian
	assert.Equal(t, uint8(0xab), got[0])
	assert.Equal(t, int16(-2), int16(order.Uint16(got[16:])))
	assert.Equal(t, uint32(0xdeadbeef), order.Uint32(got[32:]))
	assert.Equal(t, math.Pi, math.Float64frombits(order.Uint64(got[48:])))
	assert.Equal(t, uint64(1<<40), order.Uint64(got[64:]))
	assert.Equal(t, uint64(1<<63), order.Uint64(got[72:]))
	assert.Equal(t, uint8(1), got[80])
	assert.Equal(t, float32(-0.5), math.Float32frombits(order.Uint32(got[96:])))
}

func TestGPUChecksTheSignature(t *testing.T) {
	dev, mgr, module := openKernels(t)
	out := newSlice[uint32](t, mgr, 1)
	f := function(t, module, "set")
	err := f.Launch(nil, device.Dim3{}, device.Dim3{}, 0, out)
	if dev.Info().DriverVersion < 12040 {
		t.Skip("the driver cannot tell what a kernel takes")
	}
	require.ErrorIs(t, err, device.ErrInvalidValue)
	assert.ErrorContains(t, err, "1 arguments, expected 2, of 8, 4 bytes")
	err = f.Launch(nil, device.Dim3{}, device.Dim3{}, 0, out, uint64(1))
	assert.ErrorContains(t, err, "argument 1: a value of 8 bytes (uint64), expected 4")
	err = function(t, module, "empty").Launch(mgr.Stream(), device.Dim3{}, device.Dim3{}, 0, out)
	assert.ErrorContains(t, err, "1 arguments, expected none")
	require.NoError(t, f.Launch(nil, device.Dim3{}, device.Dim3{}, 0, out, uint32(7)))
	assert.Equal(t, []uint32{7}, download(t, out))
}

func TestGPUEmptyRegionIsNull(t *testing.T) {
	_, mgr, module := openKernels(t)
	f := function(t, module, "set")
	require.NoError(t, f.Launch(mgr.Stream(), device.Dim3{}, device.Dim3{}, 0, memory.Slice[uint32]{}, uint32(7)))
	require.NoError(t, f.Launch(nil, device.Dim3{}, device.Dim3{}, 0, newSlice[uint32](t, mgr, 0), uint32(7)))
	require.NoError(t, mgr.Stream().Synchronize(t.Context()))
}

func TestGPULargeSharedMemory(t *testing.T) {
	dev, mgr, module := openKernels(t)
	limit, err := dev.Attribute(backend.MaxSharedMemoryPerBlockOptIn)
	require.NoError(t, err)
	n := limit / 4
	values := make([]uint32, n)
	for i := range values {
		values[i] = uint32(i)
	}
	s := newSlice[uint32](t, mgr, n)
	require.NoError(t, s.Upload(t.Context(), nil, values))
	f := function(t, module, "reverse")
	require.NoError(t, f.Launch(nil, device.Dim3{}, device.Dim3{X: 256}, uint32(4*n), s, uint32(n)))
	for i, value := range download(t, s) {
		require.Equal(t, uint32(n-1-i), value)
	}
	err = f.Launch(nil, device.Dim3{}, device.Dim3{X: 256}, uint32(limit)+4, s, uint32(n))
	require.ErrorIs(t, err, device.ErrInvalidValue)
	assert.ErrorContains(t, err, "static shared memory")
}

func TestGPUThreadLimit(t *testing.T) {
	_, mgr, module := openKernels(t)
	out := newSlice[uint32](t, mgr, 1)
	f := function(t, module, "narrow")
	assert.Equal(t, 64, f.Attributes().MaxThreads)
	require.NoError(t, f.Launch(nil, device.Dim3{}, device.Dim3{X: 64}, 0, out))
	assert.Equal(t, []uint32{64}, download(t, out))
	err := f.Launch(nil, device.Dim3{}, device.Dim3{X: 65}, 0, out)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	assert.ErrorContains(t, err, "a block of 65×1×1 threads: the kernel allows at most 64")
}

func TestGPUAttributes(t *testing.T) {
	_, _, module := openKernels(t)
	f := function(t, module, "increment")
	attributes := f.Attributes()
	assert.Equal(t, 70, attributes.PTXVersion)
	assert.Positive(t, attributes.Registers)
	assert.Equal(t, 1024, attributes.MaxThreads)
	assert.Zero(t, attributes.StaticSharedBytes)
	assert.Zero(t, attributes.LocalBytes)
	blocks, err := f.Occupancy(256, 0)
	require.NoError(t, err)
	assert.Positive(t, blocks)
}

// TestGPUReleaseAfterLaunch releases memory while kernels of another stream use it, and
// allocates again immediately: no increment may land in the new memory.
func TestGPUReleaseAfterLaunch(t *testing.T) {
	dev, mgr, module := openKernels(t)
	other := newStream(t, dev)
	f := function(t, module, "increment")
	n, rounds := 1<<20, 50
	if devicetest.Emulated(dev) {
		n, rounds = 1<<12, 5
	}
	for range rounds {
		s, err := memory.NewSlice[uint32](mgr, n, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, s.Block().OrderBefore(other))
		for range 10 {
			require.NoError(t, f.Launch(other, device.Dim3{X: 8}, device.Dim3{X: 64}, 0, s, uint64(n)))
		}
		require.NoError(t, s.Release())
		next, err := memory.NewSlice[uint32](mgr, n, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, next.Fill(nil, 5))
		require.NoError(t, other.Synchronize(t.Context()))
		for _, value := range download(t, next) {
			if value != 5 {
				t.Fatal("a kernel wrote to memory that was released after its launch")
			}
		}
		require.NoError(t, next.Release())
	}
}

// TestGPUCloseUnderKernels unloads the code while its kernels are enqueued.
func TestGPUCloseUnderKernels(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	const times = 20
	n := 1 << 22
	if devicetest.Emulated(dev) {
		n = 1 << 14
	}
	s := newSlice[uint32](t, mgr, n)
	require.NoError(t, s.Fill(nil, 0))
	module, err := kernels.LoadWith(dev, launchPTX, kernels.LoadOptions{Strict: true})
	require.NoError(t, err)
	f := function(t, module, "increment")
	for range times {
		require.NoError(t, f.Launch(nil, device.Dim3{X: 8}, device.Dim3{X: 256}, 0, s, uint64(n)))
	}
	require.NoError(t, module.Close())
	for _, value := range download(t, s) {
		if value != times {
			t.Fatalf("%d increments instead of %d", value, times)
		}
	}
	require.ErrorIs(t, f.Launch(nil, device.Dim3{X: 8}, device.Dim3{X: 256}, 0, s, uint64(n)), device.ErrClosed)
}

// BenchmarkLaunchEmpty measures launches on a GPU. Beyond some thousand that are
// enqueued, the driver makes the caller wait for the device.
func BenchmarkLaunchEmpty(b *testing.B) {
	_, mgr, module := openGPU(b)
	benchmarkLaunches(b, mgr, function(b, module, "empty"), function(b, module, "empty_8"))
}
