package buckets_test

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/buckets"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// model tracks the live allocations, and the streams that may still use freed memory,
// to check the resource.
type model struct {
	t        *rapid.T
	driver   *holding
	upstream *counting
	resource *buckets.Resource
	options  buckets.Options
	streams  []*device.Stream
	// holds counts the holds of each stream and their ends. A stream is held while its
	// count is odd.
	holds []int
	live  []resource.Allocation
	// trails are the uses of freed memory that were pending at the free.
	trails []trail

	requests, direct, frees, directFrees uint64
	inUse                                uint64
}

// trail is a range of memory that a stream may use until its hold ends.
type trail struct {
	start, end   device.Pointer
	stream, hold int
}

func (m *model) rounded(bytes uint64) uint64 {
	if bytes > m.options.LargestBytes {
		return bytes
	}
	return max(m.options.SmallestBytes, 1<<bits.Len64(max(bytes, 1)-1))
}

func (m *model) pending(u trail) bool { return m.holds[u.stream] == u.hold }

// room returns the range of memory that an allocation occupies after rounding.
func (m *model) room(a resource.Allocation) (start, end device.Pointer) {
	return a.Pointer, a.Pointer.Add(m.rounded(a.Bytes))
}

func (m *model) allocate() {
	on := rapid.IntRange(0, len(m.streams)-1).Draw(m.t, "stream")
	bytes := rapid.OneOf(rapid.Uint64Range(0, 1200), rapid.Uint64Range(0, 3*m.options.LargestBytes/2)).Draw(m.t, "bytes")
	m.requests++
	allocation, err := m.resource.Allocate(bytes, m.streams[on])
	if err != nil {
		require.ErrorIs(m.t, err, errUpstream)
		m.requests--
		return
	}
	start, end := m.room(allocation)
	for _, other := range m.live {
		from, to := m.room(other)
		require.False(m.t, start < to && from < end, "%v overlaps %v, which is held", allocation, other)
	}
	for _, u := range m.trails {
		if start < u.end && u.start < end && u.stream != on {
			require.False(m.t, m.pending(u), "%v is still used by stream %d", allocation, u.stream)
		}
	}
	if bytes > m.options.LargestBytes {
		m.direct++
	}
	m.inUse += m.rounded(bytes)
	m.live = append(m.live, allocation)
}

func (m *model) free() {
	if len(m.live) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.live)-1).Draw(m.t, "which")
	var further []*device.Stream
	for j, stream := range m.streams {
		if rapid.IntRange(0, 4).Draw(m.t, "further") == 0 || stream == m.live[i].Stream {
			if rapid.Bool().Draw(m.t, "named") || stream != m.live[i].Stream {
				further = append(further, stream)
			}
			if m.holds[j]%2 == 1 {
				start, end := m.room(m.live[i])
				m.trails = append(m.trails, trail{start, end, j, m.holds[j]})
			}
		}
	}
	m.freeOne(i, further)
}

func (m *model) freeOne(i int, further []*device.Stream) {
	allocation := m.live[i]
	m.live = slices.Delete(m.live, i, i+1)
	require.NoError(m.t, m.resource.Free(allocation, further))
	m.inUse -= m.rounded(allocation.Bytes)
	m.frees++
	if allocation.Bytes > m.options.LargestBytes {
		m.directFrees++
	}
}

// freed checks a free to the upstream: it must name every stream with a pending use.
func (m *model) freed(allocation resource.Allocation, further []*device.Stream) {
	start, end := allocation.Pointer, allocation.Pointer.Add(allocation.Bytes)
	m.trails = slices.DeleteFunc(m.trails, func(u trail) bool {
		if u.start >= end || start >= u.end {
			return false
		}
		if m.pending(u) && !slices.ContainsFunc(append(further, allocation.Stream), m.streams[u.stream].Equal) {
			m.t.Errorf("%v was freed, but stream %d still uses it", allocation, u.stream)
		}
		return true
	})
}

func (m *model) toggleHold() {
	i := rapid.IntRange(0, len(m.streams)-1).Draw(m.t, "stream")
	if m.holds[i]%2 == 0 {
		m.driver.waitIdle()
		m.driver.hold(m.streams[i])
	} else {
		m.driver.letGo(m.streams[i])
	}
	m.holds[i]++
}

func (m *model) trim() {
	keep := rapid.Uint64Range(0, m.options.CacheBytes).Draw(m.t, "keep")
	before := m.resource.Stats()
	released, err := m.resource.Trim(keep)
	require.NoError(m.t, err)
	after := m.resource.Stats()
	require.Equal(m.t, before.UpstreamBytes-after.UpstreamBytes, released)
	if !slices.ContainsFunc(m.holds, func(holds int) bool { return holds%2 == 1 }) {
		// Without a hold, the remaining memory waits only for short work of the host
		// device.
		m.driver.waitIdle()
		_, err := m.resource.Trim(keep)
		require.NoError(m.t, err)
		require.LessOrEqual(m.t, m.resource.Stats().CachedBytes, keep)
	}
}

func (m *model) check(*rapid.T) {
	stats := m.resource.Stats()
	require.LessOrEqual(m.t, stats.CachedBytes, m.options.CacheBytes)
	require.Equal(m.t, m.inUse, stats.InUseBytes)
	require.EqualValues(m.t, len(m.live), stats.InUseBlocks)
	require.Equal(m.t, m.direct, stats.Direct)
	require.Equal(m.t, m.requests, stats.Hits+stats.Misses+stats.Direct)
	require.Equal(m.t, stats.UpstreamBytes, stats.InUseBytes+stats.CachedBytes+stats.SlabIdle)
	_, bytes := m.upstream.balance()
	require.Equal(m.t, bytes, stats.UpstreamBytes)
	// Memory freed into a bin is still cached, was reused or was released. Memory
	// released without having been kept counts only as freed.
	unkept := m.frees - m.directFrees - stats.Returns
	require.Equal(m.t, stats.Returns+unkept, stats.CachedBlocks+stats.Hits+stats.Releases)
}

func TestResourceIsItsModel(t *testing.T) {
	dev, driver := openHolding(t)
	streams := newStreams(t, dev, 4)
	below, err := memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
	require.NoError(t, err)
	property.Check(t, func(t *rapid.T) {
		for _, stream := range streams {
			driver.letGo(stream) // holds that a failure may have left
		}
		m := &model{
			t: t, driver: driver, upstream: newCounting(below), holds: make([]int, len(streams)), streams: streams,
			options: buckets.Options{
				SmallestBytes: 256 << rapid.IntRange(0, 2).Draw(t, "smallest"),
				LargestBytes:  1024 << rapid.IntRange(0, 5).Draw(t, "largest"),
				CacheBytes:    rapid.Uint64Range(1, 1<<16).Draw(t, "cache"),
				SlabBytes:     rapid.SampledFrom([]uint64{0, 0, 4096, 16384}).Draw(t, "slab"),
			},
		}
		m.upstream.limit = rapid.SampledFrom([]uint64{0, 1 << 16}).Draw(t, "limit")
		m.upstream.onFree = m.freed
		m.resource, err = buckets.New(m.upstream, m.options)
		require.NoError(t, err)
		t.Repeat(map[string]func(*rapid.T){
			"allocate":  func(*rapid.T) { m.allocate() },
			"allocate2": func(*rapid.T) { m.allocate() },
			"free":      func(*rapid.T) { m.free() },
			"free2":     func(*rapid.T) { m.free() },
			"hold":      func(*rapid.T) { m.toggleHold() },
			"trim":      func(*rapid.T) { m.trim() },
			"":          m.check,
		})
		half := len(m.live) / 2
		for len(m.live) > half {
			m.freeOne(0, nil)
		}
		require.NoError(t, m.resource.Close())
		for len(m.live) > 0 {
			m.freeOne(0, nil)
		}
		for i, holds := range m.holds {
			if holds%2 == 1 {
				m.driver.letGo(streams[i])
			}
		}
		m.upstream.requireEmpty(t)
		stats := m.resource.Stats()
		require.Zero(t, stats.UpstreamBytes)
		require.Zero(t, stats.CachedBytes)
		require.Zero(t, stats.SlabIdle)
		require.Zero(t, stats.InUseBytes)
	})
	require.NoError(t, below.Close())
}
