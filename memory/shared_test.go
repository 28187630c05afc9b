package memory_test

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// sharing creates a manager of shareable memory. It skips the test on a device that
// cannot share memory.
func sharing(t testing.TB, dev *device.Device) *memory.Manager {
	t.Helper()
	tested := memory.NewSharedResource(dev)
	allocation, err := tested.Allocate(1, dev.DefaultStream())
	if errors.Is(err, device.ErrNotSupported) {
		t.Skipf("no shared memory here: %v", err)
	}
	require.NoError(t, err)
	require.NoError(t, tested.Free(allocation, nil))
	return devicetest.Manager(t, dev, memory.Options{Resource: tested})
}

func share(t testing.TB, block *memory.Block, options memory.ShareOptions) memory.Shared {
	t.Helper()
	shared, err := block.Share(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.NewFile(uintptr(shared.Descriptor), "").Close()) })
	return shared
}

func TestSharedMemoryIsTheSame(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		maker, user := sharing(t, dev), devicetest.Manager(t, dev, memory.Options{})
		slice, err := memory.NewSlice[int32](maker, 1000, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, slice.Fill(nil, 7))
		require.NoError(t, slice.Block().Synchronize(t.Context()))
		require.True(t, slice.Block().Shareable())

		released := 0
		shared := share(t, slice.Block(), memory.ShareOptions{})
		require.GreaterOrEqual(t, shared.Bytes, slice.Bytes())
		block, err := user.OpenShared(shared, memory.SharedOptions{Release: func() error { released++; return nil }})
		require.NoError(t, err)
		assert.Equal(t, shared.Bytes, block.Bytes())
		assert.Equal(t, memory.OtherProcess, block.Origin())
		assert.Equal(t, "other process", block.Origin().String())
		assert.True(t, block.External() && block.ReadOnly() && block.Ordered())
		assert.False(t, block.Shareable(), "it is its maker's to share")
		assert.Equal(t, shared.Bytes, user.Stats().External)

		view, err := memory.View[int32](block, 0, 1000)
		require.NoError(t, err)
		require.ErrorIs(t, view.Fill(nil, 8), memory.ErrReadOnly)
		require.NoError(t, slice.Fill(nil, 9), "its maker goes on writing")
		require.NoError(t, slice.Block().Synchronize(t.Context()))
		require.NoError(t, slice.Release())
		values := make([]int32, 1000)
		require.NoError(t, view.Download(t.Context(), nil, values))
		assert.Equal(t, []int32{9, 9}, []int32{values[0], values[999]}, "after its maker let go")

		require.Zero(t, released)
		require.NoError(t, block.Release())
		require.Equal(t, 1, released)
	})
}

func TestSharedMemoryForWriting(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		maker, user := sharing(t, dev), devicetest.Manager(t, dev, memory.Options{})
		slice, err := memory.NewSlice[int32](maker, 10, memory.AllocateOptions{})
		require.NoError(t, err)
		block, err := user.OpenShared(share(t, slice.Block(), memory.ShareOptions{Writable: true}), memory.SharedOptions{Writable: true})
		require.NoError(t, err)
		view, err := memory.View[int32](block, 0, 10)
		require.NoError(t, err)
		require.NoError(t, view.Fill(nil, 5))
		require.NoError(t, block.Synchronize(t.Context()))
		values := make([]int32, 10)
		require.NoError(t, slice.Download(t.Context(), nil, values))
		assert.EqualValues(t, 5, values[9])
		require.NoError(t, block.Release())

		block, err = user.OpenShared(share(t, slice.Block(), memory.ShareOptions{}), memory.SharedOptions{Writable: true})
		if dev.Kind() == device.Host {
			require.ErrorIs(t, err, device.ErrInvalidValue, "the kernel sees to it")
		} else {
			require.NoError(t, err, "a GPU's descriptor is good for both")
			require.NoError(t, block.Release())
		}
		require.NoError(t, slice.Release())
	})
}

// Only a whole allocation can be shared: a part of one would also share its
// neighbours.
func TestWhatIsShareable(t *testing.T) {
	dev := devicetest.Open(t, "host")
	maker := sharing(t, dev)
	whole, err := maker.Allocate(1, memory.AllocateOptions{})
	require.NoError(t, err)
	empty, err := maker.Allocate(0, memory.AllocateOptions{})
	require.NoError(t, err)
	ordinary, err := devicetest.Manager(t, dev, memory.Options{}).Allocate(1, memory.AllocateOptions{})
	require.NoError(t, err)
	limited := adaptor.NewLimit(memory.NewSharedResource(dev), 64<<20, adaptor.LimitOptions{})
	below, err := devicetest.Manager(t, dev, memory.Options{Resource: limited}).Allocate(1, memory.AllocateOptions{})
	require.NoError(t, err)
	child, err := maker.Child("child", 0)
	require.NoError(t, err)
	childs, err := child.Allocate(1, memory.AllocateOptions{})
	require.NoError(t, err)
	cache, err := memory.NewCachingResource(dev, memory.CachingOptions{Upstream: memory.NewSharedResource(dev)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cache.Close()) })
	part, err := devicetest.Manager(t, dev, memory.Options{Resource: cache}).Allocate(512, memory.AllocateOptions{})
	require.NoError(t, err)

	for name, test := range map[string]struct {
		block *memory.Block
		want  bool
	}{
		"whole": {whole, true}, "through an adaptor": {below, true}, "of a child": {childs, true},
		"empty": {empty, false}, "ordinary": {ordinary, false}, "a part": {part, false},
	} {
		assert.Equal(t, test.want, test.block.Shareable(), name)
		if !test.want {
			_, err := test.block.Share(memory.ShareOptions{})
			assert.ErrorIs(t, err, device.ErrNotSupported, name)
		}
		require.NoError(t, test.block.Release())
		assert.False(t, test.block.Shareable())
		_, err := test.block.Share(memory.ShareOptions{})
		assert.ErrorIs(t, err, memory.ErrReleased, name)
	}
	require.NoError(t, child.Close())
}

func TestOpenSharedRefuses(t *testing.T) {
	dev := devicetest.Open(t, "host")
	maker, user := sharing(t, dev), devicetest.Manager(t, dev, memory.Options{})
	gpu := launchtest.Open(t, &launchtest.GPU{})
	elsewhere, err := gpu.NewStream()
	require.NoError(t, err)
	block, err := maker.Allocate(1, memory.AllocateOptions{})
	require.NoError(t, err)
	shared := share(t, block, memory.ShareOptions{})
	never := func() error { panic("called") }
	for name, test := range map[string]struct {
		shared  memory.Shared
		options memory.SharedOptions
	}{
		"no descriptor":    {memory.Shared{Descriptor: -1, Bytes: 2 << 20}, memory.SharedOptions{Release: never}},
		"no bytes":         {memory.Shared{Descriptor: shared.Descriptor}, memory.SharedOptions{Release: never}},
		"too many bytes":   {memory.Shared{Descriptor: shared.Descriptor, Bytes: shared.Bytes * 2}, memory.SharedOptions{Release: never}},
		"foreign stream":   {shared, memory.SharedOptions{Stream: elsewhere, Release: never}},
		"standard input":   {memory.Shared{Descriptor: 0, Bytes: 2 << 20}, memory.SharedOptions{Release: never}},
		"without a number": {memory.Shared{Descriptor: 1 << 20, Bytes: 2 << 20}, memory.SharedOptions{Release: never}},
	} {
		_, err := user.OpenShared(test.shared, test.options)
		assert.ErrorIs(t, err, device.ErrInvalidValue, name)
		assert.ErrorContains(t, err, "memory: open ", name)
	}
	require.NoError(t, block.Release())
	require.NoError(t, elsewhere.Close())

	closed, err := memory.NewManager(dev, memory.Options{})
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	_, err = closed.OpenShared(shared, memory.SharedOptions{})
	require.ErrorIs(t, err, memory.ErrClosed)
}

// unshared is a device without shared memory.
type unshared struct{ backend.Device }

func (unshared) PhysicalCreateShared(uint64) (backend.Physical, error) {
	return 0, backend.ErrNotSupported
}

func TestSharedResourceFailures(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	tested := memory.NewSharedResource(dev)
	assert.Equal(t, device.MemoryDevice, tested.Kind())
	for _, bytes := range []uint64{1 << 62, math.MaxUint64} {
		_, err := tested.Allocate(bytes, dev.DefaultStream())
		assert.ErrorContains(t, err, "of shared memory")
	}
	assert.ErrorIs(t, tested.Free(resource.Allocation{Pointer: 64, Bytes: 1, Stream: dev.DefaultStream()}, nil), device.ErrInvalidValue)
	gpu.Device = unshared{gpu.Device}
	_, err := tested.Allocate(1, dev.DefaultStream())
	assert.ErrorIs(t, err, device.ErrNotSupported)
	require.NoError(t, tested.Close())
}

// opening shares a block and opens it.
func opening() faulttest.Operation {
	return faulttest.Operation{
		Name: "share and open", Says: "memory: ", Mends: []string{"SetAccessReadOnly"},
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			maker := sharing(t, m.Device())
			return func(context.Context) (func(testing.TB), error) {
				made, err := maker.Allocate(10, memory.AllocateOptions{})
				if err != nil {
					return nil, err
				}
				shared, err := made.Share(memory.ShareOptions{})
				if err != nil {
					return nil, errors.Join(err, made.Release())
				}
				file := os.NewFile(uintptr(shared.Descriptor), "shared memory")
				block, err := m.OpenShared(shared, memory.SharedOptions{})
				return nil, errors.Join(err, block.Release(), made.Release(), file.Close())
			}
		},
	}
}

func TestEveryDriverCallOfSharingFails(t *testing.T) { faulttest.EachCall(t, opening()) }

func TestTheDeviceIsLostWhileSharing(t *testing.T) { faulttest.EachCallLost(t, opening()) }
