package memory_test

import (
	"bytes"
	"sync"
	"testing"
	"unsafe"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

var _ arrowmemory.Allocator = (*memory.PinnedAllocator)(nil)

func paint(buffer []byte, mark byte) {
	for i := range buffer {
		buffer[i] = mark
	}
}

func TestPinnedAllocator(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		allocator := memory.NewPinnedAllocator(dev, 0)
		property.Check(t, func(t *rapid.T) {
			type held struct {
				buffer []byte
				mark   byte
			}
			var live []held
			verify := func(h held) {
				require.Equal(t, len(h.buffer), bytes.Count(h.buffer, []byte{h.mark}))
			}
			for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
				mark := byte(step)
				size := rapid.SampledFrom([]int{0, 1, 63, 64, 65, 1000, 40_000, 600_000, 3 << 20}).Draw(t, "size")
				if len(live) > 0 && rapid.Bool().Draw(t, "change") {
					i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
					verify(live[i])
					if rapid.IntRange(0, 9).Draw(t, "trim") == 0 {
						_, err := memory.TrimPinned(dev, uint64(rapid.IntRange(0, 16<<20).Draw(t, "keep")))
						require.NoError(t, err)
					}
					if rapid.Bool().Draw(t, "free") {
						allocator.Free(live[i].buffer)
						live = append(live[:i], live[i+1:]...)
						continue
					}
					kept := min(size, len(live[i].buffer))
					grown := allocator.Reallocate(size, live[i].buffer)
					require.Len(t, grown, size)
					verify(held{grown[:kept], live[i].mark})
					verify(held{grown[kept:], 0})
					paint(grown, mark)
					live[i] = held{grown, mark}
					continue
				}
				buffer := allocator.Allocate(size)
				require.Len(t, buffer, size)
				require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(buffer)))%64)
				verify(held{buffer, 0})
				paint(buffer, mark)
				live = append(live, held{buffer, mark})
			}
			for _, h := range live {
				verify(h)
				allocator.Free(h.buffer)
			}
			require.Zero(t, allocator.InUse())
		})
		require.NoError(t, allocator.Close())
		require.ErrorIs(t, allocator.Close(), memory.ErrClosed)
		assert.Len(t, allocator.Allocate(10), 10, "after Close it hands out ordinary memory")
	})
}

func TestPinnedAllocatorLimitAndLeak(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		allocator := memory.NewPinnedAllocator(dev, 5<<20)
		first := allocator.Allocate(4 << 20)
		second := allocator.Allocate(4 << 20) // over the limit: pageable memory
		require.Len(t, second, 4<<20)
		assert.EqualValues(t, 4<<20, allocator.InUse())
		allocator.Free(second)
		assert.EqualValues(t, 4<<20, allocator.InUse(), "pageable memory does not count")
		leaky := memory.NewPinnedAllocator(dev, 0)
		kept := leaky.Allocate(100)
		require.ErrorIs(t, leaky.Close(), memory.ErrLeak)
		kept[0] = 1 // still there
		allocator.Free(first)
		require.NoError(t, allocator.Close())
	})
}

// TestPinnedMemoryIsOnePool checks that staging memory, an allocator and a resource take
// memory from the device's pool, under its limit.
func TestPinnedMemoryIsOnePool(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	stats := func() memory.PinnedStats {
		stats, err := memory.PinnedStatsOf(dev)
		require.NoError(t, err)
		return stats
	}
	allocator := memory.NewPinnedAllocator(dev, 0)
	large := allocator.Allocate(4 << 20)
	require.Equal(t, memory.PinnedStats{Pinned: 4 << 20, InUse: 4 << 20}, stats())
	allocator.Free(large)
	require.Equal(t, memory.PinnedStats{Pinned: 4 << 20}, stats(), "kept for later requests")

	mgr, err := memory.NewManager(dev, memory.Options{Staging: memory.StagingOptions{Workers: 1, Chunks: 2}})
	require.NoError(t, err)
	require.NoError(t, memory.LimitPinned(dev, 8<<20))
	require.NoError(t, mgr.WarmStaging(t.Context()))
	full := memory.PinnedStats{Limit: 8 << 20, Pinned: 8 << 20, InUse: 8 << 20}
	require.Equal(t, full, stats(), "one of the two chunks is the buffer that the allocator has freed")

	pageable := allocator.Allocate(100)
	require.Len(t, pageable, 100)
	require.Equal(t, full, stats())
	require.Zero(t, allocator.InUse(), "beyond the limit memory is pageable")
	resource := memory.NewPinnedResource(dev)
	_, err = resource.Allocate(4096, dev.DefaultStream())
	require.ErrorIs(t, err, device.ErrOutOfMemory)
	require.ErrorContains(t, err, "4.0 KiB more exceed the limit of 8.0 MiB: 8.0 MiB are pinned, 8.0 MiB of them in use")

	released, err := mgr.TrimStaging(4 << 20)
	require.NoError(t, err)
	require.EqualValues(t, 4<<20, released)
	block, err := resource.Allocate(4096, dev.DefaultStream())
	require.NoError(t, err)
	require.Equal(t, memory.PinnedStats{Limit: 8 << 20, Pinned: 4<<20 + 4096, InUse: 4<<20 + 4096}, stats())
	require.NoError(t, resource.Free(block, nil))
	require.NoError(t, mgr.Close())
	require.NoError(t, memory.LimitPinned(dev, 0))
	require.NoError(t, allocator.Close())
	require.Zero(t, stats())

	_, err = memory.PinnedStatsOf(nil)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorIs(t, memory.LimitPinned(nil, 1), device.ErrInvalidValue)
	_, err = memory.TrimPinned(nil, 0)
	require.ErrorIs(t, err, device.ErrInvalidValue)
}

func TestPinnedAllocatorConcurrently(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		allocator := memory.NewPinnedAllocator(dev, 0)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for i := range 200 {
					buffer := allocator.Allocate(i*37 + 1)
					buffer[0] = 1
					allocator.Free(allocator.Reallocate(2*len(buffer), buffer))
				}
			})
		}
		group.Wait()
		assert.Zero(t, allocator.InUse())
		require.NoError(t, allocator.Close())
	})
}
