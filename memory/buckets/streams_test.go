package buckets_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/buckets"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// newHeld returns a resource above a counting upstream, on a device with streams that
// tests can hold.
func newHeld(t *testing.T, options buckets.Options, streams int) (*buckets.Resource, *holding, *counting, []*device.Stream) {
	t.Helper()
	dev, driver := openHolding(t)
	all := newStreams(t, dev, streams)
	upstream := newCounting(memory.NewDriverResource(dev))
	tested, err := buckets.New(upstream, options)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, tested.Close())
		upstream.requireEmpty(t)
	})
	return tested, driver, upstream, all
}

func allocate(t testing.TB, r memory.Resource, bytes uint64, stream *device.Stream) resource.Allocation {
	t.Helper()
	allocation, err := r.Allocate(bytes, stream)
	require.NoError(t, err)
	require.Equal(t, bytes, allocation.Bytes)
	require.Equal(t, stream, allocation.Stream)
	return allocation
}

func TestOneStreamAsksTheDriverNothing(t *testing.T) {
	tested, driver, upstream, streams := newHeld(t, buckets.Options{}, 1)
	driver.hold(streams[0])
	first := allocate(t, tested, 1000, streams[0])
	require.NoError(t, tested.Free(first, []*device.Stream{streams[0]}))
	before := driver.records.Load()
	for range 1000 {
		next := allocate(t, tested, 513, streams[0])
		require.Equal(t, first.Pointer, next.Pointer, "the stream's own memory is ready while its work is not done")
		require.NoError(t, tested.Free(next, nil))
	}
	assert.Equal(t, before, driver.records.Load(), "nobody could ask for a mark")
	assert.Equal(t, 1, upstream.allocations)
	driver.letGo(streams[0])
}

func TestPendingMemoryIsNotHandedToAnotherStream(t *testing.T) {
	tested, driver, _, streams := newHeld(t, buckets.Options{}, 2)
	a, b := streams[0], streams[1]
	warm := allocate(t, tested, 1<<20, b) // creates the second stream's lane
	used := allocate(t, tested, 4096, a)
	driver.hold(a)
	require.NoError(t, tested.Free(used, nil))
	other := allocate(t, tested, 4096, b)
	require.NotEqual(t, used.Pointer, other.Pointer, "its last use is pending")

	driver.letGo(a)
	driver.hold(a) // work after the last use does not matter
	crossed := allocate(t, tested, 4096, b)
	require.Equal(t, used.Pointer, crossed.Pointer, "the exact event of its last use is reached")
	stats := tested.Stats()
	assert.EqualValues(t, 1, stats.Crossings)
	assert.EqualValues(t, 1, stats.Hits)
	assert.EqualValues(t, 3, stats.Misses)
	for _, allocation := range []resource.Allocation{warm, other, crossed} {
		require.NoError(t, tested.Free(allocation, nil))
	}
	assert.Zero(t, driver.waits.Load(), "nothing was waited for")
	driver.letGo(a)
}

// Memory freed while only one stream existed has no mark. It goes to another stream
// when its own stream is idle, or when the mark that the first search recorded is
// reached.
func TestUnmarkedMemory(t *testing.T) {
	tested, driver, _, streams := newHeld(t, buckets.Options{}, 2)
	a, b := streams[0], streams[1]
	idle, busy := allocate(t, tested, 256, a), allocate(t, tested, 512, a)
	require.NoError(t, tested.Free(idle, nil))
	require.NoError(t, tested.Free(busy, nil))
	require.Zero(t, driver.records.Load())
	first := allocate(t, tested, 256, b)
	assert.Equal(t, idle.Pointer, first.Pointer, "the stream that freed it is idle")

	driver.hold(a)
	second := allocate(t, tested, 512, b)
	assert.NotEqual(t, busy.Pointer, second.Pointer)
	driver.letGo(a)
	driver.hold(a)
	third := allocate(t, tested, 512, b)
	assert.Equal(t, busy.Pointer, third.Pointer, "the mark of the first who asked is reached")
	driver.letGo(a)
	for _, allocation := range []resource.Allocation{first, second, third} {
		require.NoError(t, tested.Free(allocation, nil))
	}
}

// Marking stops if no other stream searches a bin, and resumes after a search.
func TestMarksFollowDemand(t *testing.T) {
	tested, driver, _, streams := newHeld(t, buckets.Options{}, 2)
	a, b := streams[0], streams[1]
	require.NoError(t, tested.Free(allocate(t, tested, 256, b), nil))
	churn := func() int64 {
		before := driver.records.Load()
		for range 500 {
			require.NoError(t, tested.Free(allocate(t, tested, 4096, a), nil))
		}
		return driver.records.Load() - before
	}
	assert.EqualValues(t, 64, churn())
	assert.Zero(t, churn())
	driver.waitIdle()
	crossed := allocate(t, tested, 4096, b)
	assert.EqualValues(t, 64, churn())
	require.NoError(t, tested.Free(crossed, nil))
}

func TestFurtherStreams(t *testing.T) {
	tested, driver, _, streams := newHeld(t, buckets.Options{}, 3)
	a, b, c := streams[0], streams[1], streams[2]
	used := allocate(t, tested, 4096, a)
	driver.hold(b)
	require.NoError(t, tested.Free(used, []*device.Stream{b, a}))
	other := allocate(t, tested, 4096, a)
	require.NotEqual(t, used.Pointer, other.Pointer, "the further stream's use is pending for the own stream too")
	third := allocate(t, tested, 4096, c)
	require.NotEqual(t, used.Pointer, third.Pointer)

	driver.waitIdle()
	forB := allocate(t, tested, 4096, b)
	require.Equal(t, used.Pointer, forB.Pointer, "work on the further stream itself comes after its use")
	require.NoError(t, tested.Free(forB, []*device.Stream{c}))
	driver.letGo(b)
	again := allocate(t, tested, 4096, a)
	require.Equal(t, used.Pointer, again.Pointer)
	for _, allocation := range []resource.Allocation{other, third, again} {
		require.NoError(t, tested.Free(allocation, nil))
	}
	assert.Zero(t, driver.waits.Load())
}

func TestClosedStreams(t *testing.T) {
	tested, driver, _, streams := newHeld(t, buckets.Options{}, 4)
	a, b, c := streams[0], streams[1], streams[2]
	onClosed, byClosed := allocate(t, tested, 4096, a), allocate(t, tested, 4096, c)
	early := allocate(t, tested, 512, a)
	require.NoError(t, tested.Free(early, nil))
	driver.hold(a)
	require.NoError(t, a.Close())
	require.NoError(t, tested.Free(onClosed, nil))
	require.NoError(t, tested.Free(byClosed, []*device.Stream{a}))
	_, err := tested.Allocate(1, a)
	require.ErrorIs(t, err, memory.ErrClosed)

	other := allocate(t, tested, 4096, b)
	require.NotContains(t, []device.Pointer{onClosed.Pointer, byClosed.Pointer}, other.Pointer)
	driver.letGo(a)
	first, second := allocate(t, tested, 4096, b), allocate(t, tested, 4096, b)
	assert.ElementsMatch(t, []device.Pointer{onClosed.Pointer, byClosed.Pointer}, []device.Pointer{first.Pointer, second.Pointer})
	last := allocate(t, tested, 512, b)
	assert.Equal(t, early.Pointer, last.Pointer)

	// The closed stream's lane is now empty and is removed when the next one is
	// created. Its statistics are kept.
	before := tested.Stats()
	fresh := allocate(t, tested, 1<<20, streams[3])
	after := tested.Stats()
	assert.Equal(t, before.Misses+1, after.Misses)
	assert.Equal(t, before.Returns, after.Returns)
	for _, allocation := range []resource.Allocation{other, first, second, last, fresh} {
		require.NoError(t, tested.Free(allocation, nil))
	}
	assert.Zero(t, tested.Stats().InUseBlocks)
}

// Two Stream values that wrap one handle count as one stream.
func TestWrappedStreams(t *testing.T) {
	tested, driver, upstream, streams := newHeld(t, buckets.Options{}, 1)
	driver.hold(streams[0])
	for range 5 {
		wrapped := tested.Device().WrapStream(streams[0].Handle())
		require.NoError(t, tested.Free(allocate(t, tested, 4096, wrapped), nil))
	}
	assert.Equal(t, 1, upstream.allocations)
	driver.letGo(streams[0])
}

// On every device, the work on memory that another stream gets has completed. The work
// is long enough to be pending most of the time, but the test does not depend on that.
func TestCrossStreamReuse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		streams := newStreams(t, dev, 2)
		upstream, err := memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
		require.NoError(t, err)
		counted := newCounting(upstream)
		tested, err := buckets.New(counted, buckets.Options{})
		require.NoError(t, err)
		const size = 32 << 20
		a, b := streams[0], streams[1]
		crossed := 0
		for range 20 {
			used := allocate(t, tested, size, a)
			for range 50 {
				require.NoError(t, dev.Driver().MemsetAsync(used.Pointer, 1, 4, size/4, a.Handle()))
			}
			done, err := a.Record()
			require.NoError(t, err)
			require.NoError(t, tested.Free(used, nil))
			// The first misses as long as the work is pending.
			var taken []resource.Allocation
			for attempt := 0; ; attempt++ {
				next := allocate(t, tested, size, b)
				if next.Pointer == used.Pointer {
					reached, err := done.Done()
					require.NoError(t, err)
					require.True(t, reached, "memory was handed out while its last use was pending")
					crossed++
				}
				taken = append(taken, next)
				if next.Pointer == used.Pointer || attempt == 1 {
					break
				}
				require.NoError(t, done.Wait(t.Context()))
			}
			require.NoError(t, done.Close())
			for _, next := range taken {
				require.NoError(t, tested.Free(next, nil))
			}
			_, err = tested.Trim(0)
			require.NoError(t, err)
		}
		assert.Positive(t, crossed)
		require.NoError(t, tested.Close())
		counted.requireEmpty(t)
		require.NoError(t, upstream.Close())
	})
}
