//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

func TestRegistered(t *testing.T) {
	require.NoError(t, gorgoniacu.Registered())
	require.Contains(t, device.Backends(), gorgoniacu.Name)
	dev := devicetest.Open(t, "gorgonia")
	assert.Equal(t, "gorgonia:0", dev.Name())
	_, err := device.Open("gorgonia:999")
	require.ErrorIs(t, err, device.ErrNoDevice)

	other := devicetest.Open(t, "cuda:0")
	assert.True(t, dev.Same(other), "the same GPU by either binding")
	assert.Equal(t, other.Info(), dev.Info())
}

// TestErrors checks that the errors of both bindings match the same sentinels.
func TestErrors(t *testing.T) {
	for _, name := range []string{"gorgonia:0", "cuda:0"} {
		dev := devicetest.Open(t, name)
		_, err := dev.Driver().Alloc(1 << 60)
		require.ErrorIs(t, err, device.ErrOutOfMemory, name)
		require.ErrorIs(t, err, cuda.CodeOutOfMemory, name)
		var known *cuda.Error
		require.True(t, errors.As(err, &known), name)
		assert.Equal(t, "cuMemAlloc(1.0 EiB)", known.Operation, name)

		_, err = dev.Driver().ModuleLoad([]byte(".version 7.0\n.target sm_70\n.visible .entry broken() { no_such_instruction; }\n"))
		require.ErrorIs(t, err, backend.ErrInvalidCode, name)
		var compiled *cuda.CompileError
		require.True(t, errors.As(err, &compiled), name)
		assert.Contains(t, compiled.Log, "no_such_instruction", name)
	}
}

func TestContext(t *testing.T) {
	first := devicetest.Open(t, "gorgonia:0")
	context, err := gorgoniacu.Context(first)
	require.NoError(t, err)
	same, err := gorgoniacu.Context(devicetest.Open(t, "cuda:0"))
	require.NoError(t, err)
	assert.Equal(t, context, same, "the primary context, by either binding")
	do(t, first, func() error {
		current, err := cu.CurrentContext()
		assert.Equal(t, context, current)
		return err
	})
	failure := errors.New("of the function")
	require.ErrorIs(t, gorgoniacu.Do(first, func() error { return failure }), failure)

	_, err = gorgoniacu.Context(devicetest.Open(t, "host"))
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = gorgoniacu.Context(nil)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	closed, err := device.Open("gorgonia:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	_, err = gorgoniacu.Context(closed)
	require.ErrorIs(t, err, device.ErrClosed)
	require.ErrorIs(t, gorgoniacu.Do(closed, func() error { t.Error("it was called"); return nil }), device.ErrClosed)
}

// TestThreadKeepsItsContext calls the device from a thread with a private context, as a
// program that uses the binding has.
func TestThreadKeepsItsContext(t *testing.T) {
	dev := devicetest.Open(t, "gorgonia:0")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := cu.CurrentContext()
	require.NoError(t, err)
	handle, err := cu.GetDevice(0)
	require.NoError(t, err)
	own, err := handle.MakeContext(cu.SchedAuto)
	if err != nil {
		t.Skipf("a second context on the device: %v", err)
	}
	defer func() {
		require.NoError(t, own.Destroy())
		require.NoError(t, cu.SetCurrentContext(before))
	}()
	driver := dev.Driver()
	for name, call := range map[string]func() error{
		"through the binding": func() error {
			pointer, err := driver.Alloc(256)
			return errors.Join(err, driver.Memset(pointer, 0, 1, 256), driver.Free(pointer))
		},
		"through device/cuda": func() error { return driver.StreamSynchronize(0) },
		"a failure": func() error {
			if _, err := driver.Alloc(1 << 60); err == nil {
				return errors.New("the memory does not exist")
			}
			return nil
		},
		"Do": func() error { return gorgoniacu.Do(dev, cu.Synchronize) },
	} {
		require.NoError(t, call(), name)
		current, err := cu.CurrentContext()
		require.NoError(t, err)
		require.Equal(t, own, current, name)
	}
}

func TestStreams(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device, _ *memory.Manager) {
		ours, err := dev.NewStream()
		require.NoError(t, err)
		theirs, err := gorgoniacu.Stream(ours)
		require.NoError(t, err)
		do(t, dev, theirs.Synchronize)
		back, err := gorgoniacu.FromStream(dev, theirs)
		require.NoError(t, err)
		assert.Equal(t, ours.Handle(), back.Handle(), "the same stream")
		require.NoError(t, back.Close(), "it is not theirs to destroy")
		require.NoError(t, ours.Synchronize(t.Context()))
		require.NoError(t, ours.Close())
		_, err = gorgoniacu.Stream(ours)
		require.ErrorIs(t, err, device.ErrClosed)

		for _, handle := range []backend.Stream{0, 1} {
			theirs, err := gorgoniacu.Stream(dev.WrapStream(handle))
			require.NoError(t, err)
			assert.Equal(t, cu.NoStream, theirs, "the default stream")
		}
		_, err = gorgoniacu.Stream(dev.WrapStream(2))
		require.ErrorIs(t, err, device.ErrNotSupported)
		_, err = gorgoniacu.Stream(nil)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		none, err := gorgoniacu.FromStream(dev, cu.NoStream)
		require.NoError(t, err)
		assert.Same(t, dev.DefaultStream(), none)

		host := devicetest.Open(t, "host")
		_, err = gorgoniacu.Stream(host.DefaultStream())
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = gorgoniacu.FromStream(host, cu.NoStream)
		require.ErrorIs(t, err, device.ErrInvalidValue)
	})
}

// TestPerThreadStream passes the stream that is not a pointer to every call with a
// stream, while stacks grow.
func TestPerThreadStream(t *testing.T) {
	dev := devicetest.Open(t, "gorgonia:0")
	driver := dev.Driver()
	const perThread = backend.Stream(2)
	event, err := driver.EventCreate(false)
	require.NoError(t, err)
	var grow func(depth int) error
	grow = func(depth int) error {
		var frame [1024]byte
		if depth > 0 {
			frame[depth%len(frame)] = 1
			return errors.Join(grow(depth-1), driver.EventRecord(event, perThread))
		}
		runtime.GC()
		return driver.StreamWaitEvent(perThread, event)
	}
	require.NoError(t, driver.EventRecord(event, perThread))
	require.NoError(t, grow(100))
	require.NoError(t, driver.StreamSynchronize(perThread))
	done, err := driver.StreamQuery(perThread)
	require.NoError(t, err)
	assert.True(t, done)
	require.NoError(t, driver.EventDestroy(event))
}

// TestModules checks that each side can use code that the other has loaded.
func TestModules(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device, mgr *memory.Manager) {
		const count = 1000
		values, err := memory.NewSlice[uint32](mgr, count, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, values.Fill(nil, 0))
		grid, threads := device.Dim3{X: 16}, device.Dim3{X: 64}

		var theirs cu.Module
		do(t, dev, func() (err error) {
			theirs, err = cu.LoadData(addScalar)
			return err
		})
		wrapped, err := gorgoniacu.FromModule(dev, theirs, kernels.LoadOptions{})
		require.NoError(t, err)
		assert.Equal(t, theirs, gorgoniacu.Module(wrapped))
		function, err := wrapped.Function("add_scalar")
		require.NoError(t, err)
		require.NoError(t, function.Launch(nil, grid, threads, 0, values, uint32(count), uint32(5)))
		_, err = wrapped.Function("no_such_function")
		require.ErrorIs(t, err, backend.ErrNotFound)
		require.NoError(t, wrapped.Close())
		require.ErrorIs(t, wrapped.Close(), device.ErrClosed)

		do(t, dev, func() error { _, err := theirs.Function("add_scalar"); return err }) // it is still loaded
		require.NoError(t, mgr.Stream().Synchronize(t.Context()))
		do(t, dev, theirs.Unload)

		ours, err := kernels.Load(dev, addScalar)
		require.NoError(t, err)
		do(t, dev, func() error { _, err := gorgoniacu.Module(ours).Function("add_wide"); return err })
		function, err = ours.Function("add_scalar")
		require.NoError(t, err)
		do(t, dev, func() error {
			_, err := gorgoniacu.Function(function).Attribute(cu.FnMaxThreadsPerBlock)
			return err
		})
		require.NoError(t, ours.Close())

		downloaded := make([]uint32, count)
		require.NoError(t, values.Download(t.Context(), nil, downloaded))
		for _, value := range downloaded {
			require.EqualValues(t, 5, value)
		}
		require.NoError(t, values.Release())

		_, err = gorgoniacu.FromModule(devicetest.Open(t, "host"), theirs, kernels.LoadOptions{})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = gorgoniacu.FromModule(dev, cu.Module{}, kernels.LoadOptions{})
		require.ErrorIs(t, err, device.ErrInvalidValue)
	})
}
