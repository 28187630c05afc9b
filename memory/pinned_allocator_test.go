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
		rapid.Check(t, func(t *rapid.T) {
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
						_, err := allocator.Trim(uint64(rapid.IntRange(0, 16<<20).Draw(t, "keep")))
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
		assert.EqualValues(t, 4<<20, allocator.Pinned())
		allocator.Free(second)
		leaky := memory.NewPinnedAllocator(dev, 0)
		kept := leaky.Allocate(100)
		require.ErrorIs(t, leaky.Close(), memory.ErrLeak)
		kept[0] = 1 // still there
		allocator.Free(first)
		require.NoError(t, allocator.Close())
	})
}

func TestPinnedAllocatorTrim(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		allocator := memory.NewPinnedAllocator(dev, 0)
		large, small := allocator.Allocate(8<<20), allocator.Allocate(100)
		paint(small, 7)
		pinned := allocator.Pinned()
		released, err := allocator.Trim(0)
		require.NoError(t, err)
		require.Zero(t, released, "all of it is in use")

		allocator.Free(large)
		released, err = allocator.Trim(pinned - 1)
		require.NoError(t, err)
		assert.EqualValues(t, 8<<20, released)
		assert.Equal(t, pinned-8<<20, allocator.Pinned())
		require.Equal(t, 100, bytes.Count(small, []byte{7}), "what is in use stays")

		neighbour := allocator.Allocate(100)
		allocator.Free(small)
		released, err = allocator.Trim(0)
		require.NoError(t, err)
		require.Zero(t, released, "small buffers share their memory")
		allocator.Free(neighbour)
		_, err = allocator.Trim(0)
		require.NoError(t, err)
		assert.Zero(t, allocator.Pinned())
		again := allocator.Allocate(100)
		paint(again, 1)
		allocator.Free(again)
		require.NoError(t, allocator.Close())
	})
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
