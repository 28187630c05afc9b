package buckets_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/buckets"
	"github.com/gpuframe/gpuframe/memory/resource"
)

func TestBins(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		stream := newStreams(t, dev, 1)[0]
		for _, test := range []struct {
			options        buckets.Options
			bytes, rounded uint64
			direct         bool
		}{
			{buckets.Options{}, 0, 256, false},
			{buckets.Options{}, 1, 256, false},
			{buckets.Options{}, 256, 256, false},
			{buckets.Options{}, 257, 512, false},
			{buckets.Options{}, 1<<20 - 1, 1 << 20, false},
			{buckets.Options{}, 1<<20 + 1, 2 << 20, false},
			{buckets.Options{LargestBytes: 4096}, 4096, 4096, false},
			{buckets.Options{LargestBytes: 4000}, 4096, 4096, false},
			{buckets.Options{LargestBytes: 4096}, 4097, 4097, true},
			{buckets.Options{SmallestBytes: 1000}, 1, 1024, false},
			{buckets.Options{SmallestBytes: 1}, 1, 256, false},
			{buckets.Options{SlabBytes: 1 << 16}, 300, 512, false},
		} {
			t.Run(fmt.Sprintf("%+v %d", test.options, test.bytes), func(t *testing.T) {
				upstream := newCounting(memory.NewDriverResource(dev))
				tested, err := buckets.New(upstream, test.options)
				require.NoError(t, err)
				allocation := allocate(t, tested, test.bytes, stream)
				stats := tested.Stats()
				assert.Equal(t, test.rounded, stats.InUseBytes)
				assert.EqualValues(t, 1, stats.InUseBlocks)
				require.NoError(t, tested.Free(allocation, nil))
				stats = tested.Stats()
				if test.direct {
					assert.Equal(t, buckets.Stats{Direct: 1}, stats)
					upstream.requireEmpty(t)
				} else {
					assert.EqualValues(t, 1, stats.Misses)
					assert.EqualValues(t, 1, stats.Returns)
					assert.EqualValues(t, 1, stats.CachedBlocks)
					assert.Equal(t, test.rounded, stats.CachedBytes)
				}
				require.NoError(t, tested.Close())
				assert.Zero(t, tested.Stats().UpstreamBytes)
				assert.Zero(t, tested.Stats().SlabIdle)
				upstream.requireEmpty(t)
			})
		}
	})
}

func TestOptions(t *testing.T) {
	dev, _ := openHolding(t)
	upstream := memory.NewDriverResource(dev)
	for _, options := range []buckets.Options{
		{SmallestBytes: 2048, LargestBytes: 1024},
		{SmallestBytes: math.MaxUint64},
		{LargestBytes: 1<<63 + 1},
		{SlabBytes: math.MaxUint64},
	} {
		_, err := buckets.New(upstream, options)
		require.ErrorIs(t, err, device.ErrInvalidValue, "%+v", options)
	}
	_, err := buckets.New(nil, buckets.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = buckets.NewPinned(nil, buckets.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
}

func TestMisuse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		stream := newStreams(t, dev, 1)[0]
		upstream := newCounting(memory.NewDriverResource(dev))
		tested, err := buckets.New(upstream, buckets.Options{})
		require.NoError(t, err)
		other, err := buckets.New(upstream, buckets.Options{})
		require.NoError(t, err)

		_, err = tested.Allocate(1, nil)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = tested.Allocate(math.MaxUint64, stream)
		require.Error(t, err, "a size that cannot be")
		allocation := allocate(t, tested, 100, stream)
		require.ErrorIs(t, other.Free(allocation, nil), device.ErrInvalidValue)
		require.ErrorIs(t, tested.Free(resource.Allocation{Pointer: allocation.Pointer, Bytes: 100, Stream: stream}, nil), device.ErrInvalidValue)
		require.NoError(t, tested.Free(allocation, nil))
		require.ErrorIs(t, tested.Free(allocation, nil), device.ErrInvalidValue, "freed twice")
		assert.Zero(t, tested.Stats().InUseBlocks)
		assert.Zero(t, tested.Stats().InUseBytes)
		assert.EqualValues(t, 1, tested.Stats().CachedBlocks)
		require.NoError(t, other.Close())
		require.NoError(t, tested.Close())
		require.ErrorIs(t, tested.Close(), memory.ErrClosed)
		_, err = tested.Allocate(1, stream)
		require.ErrorIs(t, err, memory.ErrClosed)
		upstream.requireEmpty(t)
	})
}

func TestHeldMemoryOutlivesTheResource(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, options := range map[string]buckets.Options{"": {}, "slabs": {SlabBytes: 4096}} {
			t.Run(name, func(t *testing.T) {
				streams := newStreams(t, dev, 2)
				upstream := newCounting(memory.NewDriverResource(dev))
				tested, err := buckets.New(upstream, options)
				require.NoError(t, err)
				small, large := allocate(t, tested, 300, streams[0]), allocate(t, tested, 1<<30, streams[0])
				cached := allocate(t, tested, 3000, streams[1])
				require.NoError(t, tested.Free(cached, nil))
				require.NoError(t, tested.Close())
				blocks, _ := upstream.balance()
				assert.Equal(t, 2, blocks)
				require.NoError(t, dev.Driver().MemsetAsync(small.Pointer, 7, 1, 300, streams[0].Handle()))
				require.NoError(t, tested.Free(small, streams))
				require.NoError(t, tested.Free(large, nil))
				upstream.requireEmpty(t)
				assert.Zero(t, tested.Stats().UpstreamBytes)
				assert.Zero(t, tested.Stats().InUseBytes)
			})
		}
	})
}

func TestTheOldestMakesRoom(t *testing.T) {
	tested, driver, upstream, streams := newHeld(t, buckets.Options{CacheBytes: 3000}, 2)
	a, b := streams[0], streams[1]
	var all []resource.Allocation
	for i := range 4 {
		all = append(all, allocate(t, tested, 1000, streams[i%2]))
	}
	younger := allocate(t, tested, 600, b)
	large := allocate(t, tested, 4000, a)
	require.NoError(t, tested.Free(large, nil))
	assert.EqualValues(t, 1, tested.Stats().Releases, "what is larger than the cache is not kept")
	assert.NotContains(t, upstream.outstanding, large.Pointer)

	require.NoError(t, tested.Free(all[0], nil)) // a
	require.NoError(t, tested.Free(all[1], nil)) // b
	driver.waitIdle()
	require.NoError(t, tested.Free(all[2], nil)) // a
	assert.NotContains(t, upstream.outstanding, all[0].Pointer, "the oldest")
	assert.Contains(t, upstream.outstanding, all[1].Pointer)
	assert.Equal(t, uint64(2048), tested.Stats().CachedBytes)

	// The oldest chunk is b's, which still has pending work.
	driver.waitIdle()
	driver.hold(b)
	onB := allocate(t, tested, 1000, b)
	require.Equal(t, all[1].Pointer, onB.Pointer)
	require.NoError(t, tested.Free(onB, nil))
	require.NoError(t, tested.Free(allocate(t, tested, 1000, a), nil))
	driver.waitIdle()
	require.NoError(t, tested.Free(younger, nil))
	assert.Contains(t, upstream.outstanding, onB.Pointer)
	assert.NotContains(t, upstream.outstanding, all[2].Pointer, "the oldest that is done")

	// Both cached chunks are now b's. The oldest is evicted because neither has
	// completed its work.
	var further []*device.Stream
	upstream.onFree = func(allocation resource.Allocation, streams []*device.Stream) {
		assert.Equal(t, onB.Pointer, allocation.Pointer)
		further = append(slices.Clone(streams), allocation.Stream)
	}
	require.NoError(t, tested.Free(all[3], nil))
	assert.Contains(t, further, b, "the upstream is told who still uses it")
	upstream.onFree = nil
	driver.letGo(b)
	assert.LessOrEqual(t, tested.Stats().CachedBytes, uint64(3000))
	assert.Zero(t, tested.Stats().InUseBytes)
}

func TestTrim(t *testing.T) {
	tested, driver, upstream, streams := newHeld(t, buckets.Options{}, 2)
	var all []resource.Allocation
	for range 10 {
		all = append(all, allocate(t, tested, 1024, streams[0]))
	}
	pending := allocate(t, tested, 4096, streams[1])
	driver.hold(streams[1])
	require.NoError(t, tested.Free(pending, nil))
	for _, allocation := range all {
		require.NoError(t, tested.Free(allocation, nil))
	}
	driver.waitIdle()
	released, err := tested.Trim(4096 + 3*1024)
	require.NoError(t, err)
	assert.EqualValues(t, 7*1024, released)
	assert.Contains(t, upstream.outstanding, all[9].Pointer, "the youngest stay")
	assert.NotContains(t, upstream.outstanding, all[0].Pointer)
	driver.waitIdle()
	released, err = tested.Trim(0)
	require.NoError(t, err)
	assert.EqualValues(t, 3*1024, released)
	assert.EqualValues(t, 4096, tested.Stats().CachedBytes, "its work is not done")
	assert.Zero(t, driver.waits.Load())
	driver.letGo(streams[1])
	released, err = tested.Trim(0)
	require.NoError(t, err)
	assert.EqualValues(t, 4096, released)
	assert.EqualValues(t, 11, tested.Stats().Releases)
}

// A free in stream order is work of the memory's own stream. It does not keep Trim from
// freeing the stream's other memory.
func TestTrimIsNotStoppedByItsOwnFrees(t *testing.T) {
	tested, driver, upstream, streams := newHeld(t, buckets.Options{}, 1)
	first, second := allocate(t, tested, 1024, streams[0]), allocate(t, tested, 1024, streams[0])
	require.NoError(t, tested.Free(first, nil))
	require.NoError(t, tested.Free(second, nil))
	driver.waitIdle()
	upstream.onFree = func(resource.Allocation, []*device.Stream) { driver.hold(streams[0]) }
	released, err := tested.Trim(0)
	require.NoError(t, err)
	assert.EqualValues(t, 2048, released)
	assert.Zero(t, tested.Stats().CachedBytes)
	upstream.onFree = nil
	driver.letGo(streams[0])
}

func TestTheUpstreamIsAskedAgain(t *testing.T) {
	tested, driver, upstream, streams := newHeld(t, buckets.Options{}, 2)
	a, b := streams[0], streams[1]
	upstream.limit = 10 << 10
	first, second := allocate(t, tested, 4096, a), allocate(t, tested, 4096, b)
	require.NoError(t, tested.Free(first, nil))
	driver.hold(b)
	require.NoError(t, tested.Free(second, nil))
	driver.waitIdle()
	other := allocate(t, tested, 2049, a)
	require.Equal(t, first.Pointer, other.Pointer)
	require.NoError(t, tested.Free(other, nil))
	driver.waitIdle()

	_, err := tested.Allocate(8192, a)
	require.ErrorIs(t, err, errUpstream, "what b uses is not given up for a")
	assert.Contains(t, err.Error(), "4.0 KiB of the cache")
	assert.EqualValues(t, 1, tested.Stats().Retries)
	assert.EqualValues(t, 4096, tested.Stats().CachedBytes)
	assert.Zero(t, tested.Stats().InUseBytes)

	driver.letGo(b)
	large := allocate(t, tested, 8192, a)
	assert.EqualValues(t, 2, tested.Stats().Retries)
	assert.Zero(t, tested.Stats().CachedBytes)

	// The stream's own memory is freed even while in use, because the upstream frees in
	// stream order.
	driver.hold(a)
	require.NoError(t, tested.Free(large, nil))
	small := allocate(t, tested, 4096, a)
	require.NoError(t, tested.Free(small, nil))
	driver.letGo(a)
}

// Trim does not make an upstream that waits for streams wait. A Free into a full cache
// does not either, as long as the cache holds idle memory.
func TestPinnedDoesNotWait(t *testing.T) {
	dev, driver := openHolding(t)
	streams := newStreams(t, dev, 2)
	a, b := streams[0], streams[1]
	tested, err := buckets.NewPinned(dev, buckets.Options{CacheBytes: 2 << 20, SlabBytes: 4096})
	require.NoError(t, err)
	assert.Equal(t, device.MemoryPinned, tested.Kind())
	_, ok := resource.Find[*memory.PinnedResource](tested)
	assert.True(t, ok)

	// Two pieces of one slab, one of them pending.
	done, pending := allocate(t, tested, 512, b), allocate(t, tested, 512, a)
	first, second := allocate(t, tested, 1<<20, a), allocate(t, tested, 1<<20, a)
	driver.hold(a)
	require.NoError(t, tested.Free(pending, nil))
	require.NoError(t, tested.Free(done, []*device.Stream{a}))
	_, err = tested.Trim(0)
	require.NoError(t, err)
	assert.Zero(t, driver.waits.Load())
	driver.letGo(a)

	require.NoError(t, tested.Free(first, nil))
	driver.waitIdle()
	driver.hold(a) // with later work
	require.NoError(t, tested.Free(second, nil))
	_, err = tested.Trim(0)
	require.NoError(t, err)
	assert.Zero(t, driver.waits.Load())
	driver.letGo(a)
	require.NoError(t, tested.Close())
	assert.Zero(t, tested.Stats().UpstreamBytes)
	assert.Zero(t, tested.Stats().SlabIdle)
}

func TestSlabs(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		stream := newStreams(t, dev, 1)[0]
		upstream := newCounting(memory.NewDriverResource(dev))
		tested, err := buckets.New(upstream, buckets.Options{SlabBytes: 1 << 16, CacheBytes: 1024})
		require.NoError(t, err)
		var all []resource.Allocation
		for range 1 << 16 / 256 {
			all = append(all, allocate(t, tested, 256, stream))
		}
		assert.Equal(t, 1, upstream.allocations, "one slab for all")
		pointers := map[device.Pointer]bool{}
		for _, allocation := range all {
			pointers[allocation.Pointer] = true
			require.Zero(t, uint64(allocation.Pointer-all[0].Pointer)%256)
		}
		assert.Len(t, pointers, len(all))
		for _, allocation := range all[1:] {
			require.NoError(t, tested.Free(allocation, nil))
		}
		stats := tested.Stats()
		assert.EqualValues(t, 1024, stats.CachedBytes)
		assert.EqualValues(t, 1<<16-1024-256, stats.SlabIdle)
		assert.EqualValues(t, 1<<16, stats.UpstreamBytes)
		again := allocate(t, tested, 4096, stream)
		assert.Equal(t, 2, upstream.allocations, "another bin has slabs of its own")
		require.NoError(t, tested.Free(again, nil))
		require.NoError(t, tested.Free(all[0], nil))
		assert.LessOrEqual(t, tested.Stats().CachedBytes, uint64(1024))
		require.NoError(t, tested.Close())
		upstream.requireEmpty(t)
		assert.Zero(t, tested.Stats().SlabIdle)
	})
}

// Goroutines that share a few streams fill their allocations with a private number,
// which no other goroutine may overwrite. The test uses pinned memory because the
// processor can access it on every device.
func TestConcurrentUse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		const goroutines, bound = 32, 256 << 10
		upstream := newCounting(memory.NewPinnedResource(dev))
		tested, err := buckets.New(upstream, buckets.Options{CacheBytes: bound, SlabBytes: 1 << 16})
		require.NoError(t, err)
		streams := newStreams(t, dev, 8)
		var group sync.WaitGroup
		for id := range goroutines {
			group.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(id)))
				var mine []resource.Allocation
				free := func(i int) {
					allocation := mine[i]
					for _, value := range address.Bytes(allocation.Pointer, allocation.Bytes) {
						if value != byte(id) {
							assert.Equal(t, byte(id), value, "two holders of the same memory")
							break
						}
					}
					var further []*device.Stream
					if random.IntN(3) == 0 {
						further = streams[:random.IntN(4)]
					}
					assert.NoError(t, tested.Free(allocation, further))
					mine = slices.Delete(mine, i, i+1)
				}
				for step := range 300 {
					if len(mine) > 0 && random.IntN(2) == 0 {
						free(random.IntN(len(mine)))
					}
					allocation, err := tested.Allocate(uint64(1+random.IntN(1<<random.IntN(16))), streams[random.IntN(len(streams))])
					if !assert.NoError(t, err) {
						return
					}
					memory := address.Bytes(allocation.Pointer, allocation.Bytes)
					for i := range memory {
						memory[i] = byte(id)
					}
					mine = append(mine, allocation)
					if step%50 == 0 {
						_, err := tested.Trim(bound / 2)
						assert.NoError(t, err)
						assert.LessOrEqual(t, tested.Stats().CachedBytes, uint64(bound))
					}
				}
				for len(mine) > 0 {
					free(0)
				}
			})
		}
		group.Wait()
		stats := tested.Stats()
		assert.EqualValues(t, goroutines*300, stats.Hits+stats.Misses)
		assert.Zero(t, stats.InUseBytes)
		assert.Equal(t, stats.UpstreamBytes, stats.CachedBytes+stats.SlabIdle)
		require.NoError(t, tested.Close())
		upstream.requireEmpty(t)
	})
}

// Memory freed while the resource is being closed reaches the upstream, whichever call
// comes first.
func TestCloseWhileOthersFree(t *testing.T) {
	dev, _ := openHolding(t)
	streams := newStreams(t, dev, 4)
	for range 200 {
		upstream := newCounting(memory.NewDriverResource(dev))
		tested, err := buckets.New(upstream, buckets.Options{SlabBytes: 8192})
		require.NoError(t, err)
		start := make(chan struct{})
		var group sync.WaitGroup
		for i := range 16 {
			allocation := allocate(t, tested, uint64(256<<(i%8)), streams[i%4])
			group.Go(func() {
				<-start
				assert.NoError(t, tested.Free(allocation, nil))
			})
		}
		group.Go(func() {
			<-start
			assert.NoError(t, tested.Close())
		})
		close(start)
		group.Wait()
		upstream.requireEmpty(t)
		require.Zero(t, tested.Stats().CachedBytes)
		require.Zero(t, tested.Stats().SlabIdle)
	}
}
