package resource_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// requireManaged skips the test on a device without managed memory.
func requireManaged(t *testing.T, dev *device.Device) *memory.ManagedResource {
	t.Helper()
	tested := resource.NewManaged(dev)
	allocation, err := tested.Allocate(1, dev.DefaultStream())
	if errors.Is(err, device.ErrNotSupported) {
		t.Skipf("no managed memory here: %v", err)
	}
	require.NoError(t, err)
	require.NoError(t, tested.Free(allocation, nil))
	return tested
}

func TestManagedResource(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		tested := requireManaged(t, dev)
		assert.Same(t, dev, tested.Device())
		assert.Equal(t, device.MemoryManaged, tested.Kind())
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: tested, Budget: 1 << 20})

		slice, err := memory.NewSlice[int32](mgr, 1000, memory.AllocateOptions{Tag: "managed"})
		require.NoError(t, err)
		assert.Equal(t, device.MemoryManaged, slice.Block().Kind())
		info, err := dev.Driver().PointerInfo(slice.Pointer())
		require.NoError(t, err)
		assert.Equal(t, backend.MemoryManaged, info.Kind)

		further, err := dev.NewStream()
		require.NoError(t, err)
		require.NoError(t, slice.Fill(further, 7))
		require.NoError(t, slice.Block().Synchronize(t.Context()))
		assert.EqualValues(t, 7, *(*int32)(address.Pointer(slice.Pointer())), "the processor reads what the device wrote")
		*(*int32)(address.Pointer(slice.Pointer())) = 8
		values := make([]int32, 1000)
		require.NoError(t, slice.Download(t.Context(), nil, values))
		assert.Equal(t, []int32{8, 7}, values[:2], "and the other way")

		require.NoError(t, slice.Fill(further, 9), "a free waits for work on other streams")
		require.NoError(t, slice.Release())
		require.NoError(t, further.Close())
		require.NoError(t, tested.Close())
	})
}

func TestManagedResourceOutOfMemory(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		tested := requireManaged(t, dev)
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: tested, Budget: math.MaxUint64})
		_, err := mgr.Allocate(1<<62, memory.AllocateOptions{})
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		assert.ErrorContains(t, err, "managed")
		assert.Zero(t, mgr.Stats().Peak)
	})
}

// unmanaged is a device without managed memory.
type unmanaged struct{ backend.Device }

func (unmanaged) AllocManaged(uint64) (backend.Pointer, error) { return 0, backend.ErrNotSupported }

func TestManagedResourceNotSupported(t *testing.T) {
	dev, _ := launchtest.OpenWrapped(t, func(below backend.Device) unmanaged { return unmanaged{below} })
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource.NewManaged(dev)})
	_, err := mgr.Allocate(100, memory.AllocateOptions{})
	require.ErrorIs(t, err, device.ErrNotSupported)
	assert.Zero(t, mgr.Stats().InUse)
	assert.EqualValues(t, 1, mgr.Stats().Failures)
}
