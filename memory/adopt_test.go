package memory_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// producer is memory allocated by another library.
func producer(t *testing.T, dev *device.Device, bytes uint64) (device.Pointer, device.MemoryKind) {
	t.Helper()
	pointer, err := dev.Driver().Alloc(bytes)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Driver().Free(pointer)) })
	return pointer, memory.NewDriverResource(dev).Kind()
}

func TestAdopt(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1})
		pointer, kind := producer(t, dev, 4096)
		releases := 0
		block, err := mgr.Adopt(memory.ForeignMemory{
			Pointer: pointer, Bytes: 4096, Kind: kind, Origin: memory.DLPack,
			Release: func() error { releases++; return nil },
		})
		require.NoError(t, err)
		assert.True(t, block.External())
		assert.False(t, block.Ordered())
		assert.Equal(t, memory.DLPack, block.Origin())
		stats := mgr.Stats()
		assert.Zero(t, stats.InUse, "foreign memory is in no budget")
		assert.EqualValues(t, 4096, stats.External)
		assert.EqualValues(t, 1, stats.ExternalBlocks)

		view, err := memory.View[int32](block, 0, 1024)
		require.NoError(t, err)
		require.NoError(t, view.Fill(nil, 42))
		require.NoError(t, block.Retain())
		require.NoError(t, block.Release())
		assert.Zero(t, releases)
		require.NoError(t, block.Release())
		assert.Equal(t, 1, releases)
		assert.Zero(t, mgr.Stats().External)
	})
}

func TestAdoptReadOnly(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		pointer, kind := producer(t, dev, 64)
		block, err := mgr.Adopt(memory.ForeignMemory{Pointer: pointer, Bytes: 64, Kind: kind, ReadOnly: true})
		require.NoError(t, err)
		view, err := memory.View[uint8](block, 0, 64)
		require.NoError(t, err)
		require.ErrorIs(t, view.Fill(nil, 1), memory.ErrReadOnly)
		require.ErrorIs(t, view.Upload(t.Context(), nil, make([]byte, 64)), memory.ErrReadOnly)
		require.ErrorIs(t, view.CopyFrom(nil, view), memory.ErrReadOnly)
		require.NoError(t, view.Download(t.Context(), nil, make([]byte, 64)))
		require.NoError(t, block.Release())
	})
}

func TestAdoptRefuses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		pointer, kind := producer(t, dev, 1<<20)
		cases := map[string]memory.ForeignMemory{
			"null":          {Bytes: 1, Kind: kind},
			"wrapping":      {Pointer: pointer, Bytes: math.MaxUint64, Kind: kind},
			"unknown kind":  {Pointer: pointer, Bytes: 1},
			"other's kinds": {Pointer: pointer, Bytes: 1, Kind: map[device.Kind]device.MemoryKind{device.Host: device.MemoryDevice, device.CUDA: device.MemoryHost}[dev.Kind()]},
		}
		if dev.Kind() == device.CUDA {
			cases["longer than it is"] = memory.ForeignMemory{Pointer: pointer, Bytes: 1 << 40, Kind: kind}
			cases["pinned, it says"] = memory.ForeignMemory{Pointer: pointer, Bytes: 1, Kind: device.MemoryPinned}
			cases["nowhere"] = memory.ForeignMemory{Pointer: 0x1234, Bytes: 1, Kind: kind}
		}
		for name, foreign := range cases {
			foreign.Release = func() error { t.Errorf("%s: what was not adopted was released", name); return nil }
			_, err := mgr.Adopt(foreign)
			require.Error(t, err, name)
			assert.True(t, errors.Is(err, device.ErrInvalidValue) || errors.Is(err, memory.ErrOverflow), "%s: %v", name, err)
		}
		assert.Zero(t, mgr.Stats().ExternalBlocks)
	})
}

func TestFindExported(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		block, err := mgr.Allocate(1000, memory.AllocateOptions{})
		require.NoError(t, err)
		pointer := block.Pointer()
		_, found := memory.FindExported(pointer, 1000)
		require.False(t, found, "what was not exported cannot come back")

		require.NoError(t, block.BeginExport())
		require.NoError(t, block.BeginExport())
		again, found := memory.FindExported(pointer.Add(10), 990)
		require.True(t, found)
		assert.Same(t, block, again)
		require.NoError(t, again.Release())
		_, found = memory.FindExported(pointer.Add(10), 991)
		require.False(t, found)
		_, found = memory.FindExported(pointer-1, 1)
		require.False(t, found)

		require.NoError(t, block.Release(), "Go is done with it")
		require.NoError(t, block.EndExport())
		again, found = memory.FindExported(pointer, 1)
		require.True(t, found, "one library still holds it")
		require.NoError(t, again.Release())
		require.NoError(t, block.EndExport())
		_, found = memory.FindExported(pointer, 1)
		require.False(t, found)
	})
}
