package adaptor_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

var _ layer = (*adaptor.Prefetch)(nil)

// managed allocates managed memory; the embedded DriverResource frees it.
type managed struct{ *memory.DriverResource }

func (m managed) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	pointer, err := m.Device().Driver().AllocManaged(bytes)
	return resource.Allocation{Pointer: pointer, Bytes: bytes, Stream: stream}, err
}

func (m managed) Kind() device.MemoryKind { return device.MemoryManaged }

func TestPrefetch(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		foot := newLedger(managed{memory.NewDriverResource(dev)})
		stream := newStream(t, dev)
		prefetch := adaptor.NewPrefetch(foot)
		allocation, err := prefetch.Allocate(1<<20, stream)
		if errors.Is(err, device.ErrNotSupported) {
			t.Skip("there is no managed memory here")
		}
		require.NoError(t, err)
		assert.Equal(t, device.MemoryManaged, prefetch.Kind())
		fill(t, allocation, stream, 5)
		assert.True(t, all(contents(t, allocation.Pointer, 1<<20, stream), 5))
		require.NoError(t, prefetch.Free(allocation, nil))
		foot.requireEmpty(t)
	})
}

func TestPrefetchLeavesOtherMemoryAlone(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		prefetch := adaptor.NewPrefetch(foot)
		allocation, err := prefetch.Allocate(100, dev.DefaultStream())
		require.NoError(t, err)
		require.NoError(t, prefetch.Free(allocation, nil))
	})
}

// mistaken reports its memory as managed.
type mistaken struct{ memory.Resource }

func (mistaken) Kind() device.MemoryKind { return device.MemoryManaged }

func TestPrefetchThatFailsLeaksNothing(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		concurrent, err := dev.Attribute(backend.ConcurrentManagedAccess)
		require.NoError(t, err)
		if concurrent == 0 {
			t.Skip("the device cannot prefetch at all")
		}
		foot := newLedger(memory.NewDriverResource(dev))
		_, err = adaptor.NewPrefetch(mistaken{foot}).Allocate(100, newStream(t, dev))
		require.ErrorIs(t, err, device.ErrInvalidValue)
		foot.requireEmpty(t)
	})
}
