package caching

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory/internal/round"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Memory is allocated only if all its previous uses have completed, or come before
// the next work of the stream, for every interleaving of streams, work, memory
// pressure and trimming. The state is consistent after every step.
func TestCachingOrder(t *testing.T) {
	for name, configure := range map[string]func(s *scene) Options{
		"fixed": func(*scene) Options { return smallSegments(FixedSegments) },
		"stream-ordered upstream": func(s *scene) Options {
			options := smallSegments(FixedSegments)
			pool, err := resource.NewStreamOrdered(s.dev, resource.StreamOrderedOptions{})
			require.NoError(s.t, err)
			options.Upstream = pool
			return options
		},
		"expandable": func(*scene) Options { return smallSegments(ExpandableSegments) },
	} {
		t.Run(name, func(t *testing.T) {
			property.Check(t, func(t *rapid.T) {
				m := &orderModel{scene: newScene(t), t: t, limit: math.MaxUint64}
				options := configure(m.scene)
				options.OversizeBytes = rapid.SampledFrom([]uint64{0, 0, 280_000}).Draw(t, "oversize")
				options.CollectAbove = rapid.SampledFrom([]float64{0, 1, 0.01}).Draw(t, "collect above")
				options.InitialBytes = rapid.SampledFrom([]uint64{0, 0, 500_000}).Draw(t, "initial")
				m.start(options)
				m.run()
			})
		})
	}
}

// orderModel draws the events of a scene.
type orderModel struct {
	*scene
	t     *rapid.T
	limit uint64
}

var orderSizes = []uint64{0, 1, 512, 513, 4 << 10, 8 << 10, 8<<10 + 1, 20_000, 64 << 10, 100_000, 256 << 10, 300_000, 1 << 20, 3 << 20}

func (m *orderModel) run() {
	actions := map[string]func(){
		"allocate": m.allocateOne, "allocate more": m.allocateOne, "use": m.useOne, "use elsewhere": m.useElsewhere,
		"free": m.freeOne, "free more": m.freeOne, "work": m.workOne, "complete": m.complete, "close a stream": m.closeOne,
		"trim": m.trim, "prime": m.prime, "limit": m.setLimit, "pressure": m.press, "wait": m.wait, "crowd": m.crowd,
	}
	names := slices.Sorted(maps.Keys(actions))
	for range rapid.IntRange(1, 4).Draw(m.t, "streams") {
		m.newStream()
	}
	for range rapid.IntRange(1, 80).Draw(m.t, "steps") {
		actions[rapid.SampledFrom(names).Draw(m.t, "action")]()
		m.check()
		require.Equal(m.t, m.resource.reserved, m.sim.used, "what the driver has given")
	}
	m.finish()
}

// finish frees and closes everything, in one of two orders.
func (m *orderModel) finish() {
	m.sim.capacity = simulatedTotal
	early := rapid.Bool().Draw(m.t, "close early")
	if early {
		require.NoError(m.t, m.resource.Close())
		m.check()
	}
	for len(m.live) > 0 {
		m.freeOne()
	}
	if !early {
		require.NoError(m.t, m.resource.Close())
	}
	require.ErrorIs(m.t, m.resource.Close(), device.ErrClosed)
	_, err := m.resource.Allocate(1, m.streams[0])
	require.ErrorIs(m.t, err, device.ErrClosed)
	m.closed()
}

func (m *orderModel) drawStream() *device.Stream {
	return m.streams[rapid.IntRange(0, len(m.streams)-1).Draw(m.t, "stream")]
}

// drawAny returns one of the latest streams, which may be closed.
func (m *orderModel) drawAny() *device.Stream {
	return m.all[len(m.all)-1-rapid.IntRange(0, min(len(m.all), 8)-1).Draw(m.t, "any stream")]
}

func (m *orderModel) drawBlock() *sceneBlock {
	if len(m.live) == 0 {
		return nil
	}
	return m.live[rapid.IntRange(0, len(m.live)-1).Draw(m.t, "block")]
}

func (m *orderModel) allocateOne() {
	bytes := rapid.SampledFrom(orderSizes).Draw(m.t, "bytes")
	if _, err := m.tryAllocate(bytes, m.drawStream()); err != nil {
		m.short(round.Up(max(bytes, 1), roundingBytes), err)
	}
}

// short checks that a request failed because of too little memory, and only after
// every step was tried.
func (m *orderModel) short(size uint64, err error) {
	t := m.t
	var failure *OutOfMemoryError
	require.ErrorAs(t, err, &failure)
	require.ErrorIs(t, err, device.ErrOutOfMemory)
	require.Equal(t, size, failure.Asked)
	s := m.resource.Stats()
	require.Equal(t, s, failure.Resource)
	require.Equal(t, s.Reserved, s.InUse+s.Held+s.Cached)
	require.Zero(t, s.Held, "held memory was not waited for")
	require.LessOrEqual(t, s.LargestFree, s.Cached)
	require.Equal(t, m.limit == math.MaxUint64, failure.Limit == 0)
	require.True(t, failure.Limit == 0 || failure.Limit == m.limit)
	require.Equal(t, m.sim.capacity-min(m.sim.capacity, m.sim.used), failure.Free)
	most := round.Up(size, simulatedGranularity)
	require.True(t, s.Reserved+most > m.limit || m.sim.used+most > m.sim.capacity,
		"%d bytes were refused, with %d reserved of %d, %d used of %d", size, s.Reserved, m.limit, m.sim.used, m.sim.capacity)
	m.nothingIdle()
}

// nothingIdle checks that all memory that could be released was released.
func (m *orderModel) nothingIdle() {
	used := func(address, bytes uint64) bool {
		return slices.ContainsFunc(m.live, func(block *sceneBlock) bool {
			node := block.node()
			return node.Address < address+bytes && address < node.Address+node.Bytes
		})
	}
	switch g := m.resource.segments.(type) {
	case *fixedSegments:
		for _, s := range g.byAddress {
			require.True(m.t, used(uint64(s.allocation.Pointer), s.allocation.Bytes), "a segment is free and was kept")
		}
	case *mappedSegments:
		for i := range g.pools {
			for _, piece := range g.pools[i].mapped {
				require.True(m.t, used(piece.address, piece.bytes), "a piece is free and was kept")
			}
		}
	}
}

func (m *orderModel) useOne() {
	if block := m.drawBlock(); block != nil && !block.allocation.Stream.Closed() {
		m.use(block, block.allocation.Stream)
	}
}

func (m *orderModel) useElsewhere() {
	if block, stream := m.drawBlock(), m.drawStream(); block != nil {
		m.use(block, stream)
	}
}

func (m *orderModel) freeOne() {
	if block := m.drawBlock(); block != nil {
		m.free(block)
	}
}

func (m *orderModel) workOne() { m.work(m.drawStream()) }

func (m *orderModel) complete() {
	m.sim.advance(m.drawAny().Handle(), rapid.Uint64Range(1, 8).Draw(m.t, "count"))
}

func (m *orderModel) closeOne() {
	m.close(m.drawStream())
	m.newStream()
}

func (m *orderModel) trim() {
	before := m.resource.Stats()
	waited := m.sim.called(waitingCalls...)
	released, err := m.resource.Trim(rapid.SampledFrom([]uint64{0, 1, 300_000, math.MaxUint64}).Draw(m.t, "keep"))
	require.NoError(m.t, err)
	after := m.resource.Stats()
	require.Equal(m.t, before.Reserved-after.Reserved, released)
	require.Equal(m.t, before.InUse, after.InUse)
	require.Equal(m.t, waited, m.sim.called(waitingCalls...), "trimming waits for nothing")
}

func (m *orderModel) prime() {
	bytes := rapid.SampledFrom(orderSizes[1:]).Draw(m.t, "bytes")
	if err := m.resource.Prime(bytes); err != nil {
		m.short(round.Up(bytes, roundingBytes), err)
	}
}

func (m *orderModel) setLimit() {
	bytes := rapid.SampledFrom([]uint64{0, 0, 200_000, 1 << 20, 4 << 20}).Draw(m.t, "limit")
	m.limit = bytes
	if bytes == 0 {
		m.limit = math.MaxUint64
	}
	require.NoError(m.t, m.resource.SetLimit(bytes))
}

// press leaves little memory on the device.
func (m *orderModel) press() {
	m.sim.capacity = rapid.SampledFrom([]uint64{0, 1 << 20, 2 << 20, simulatedTotal}).Draw(m.t, "capacity")
}

// wait orders streams as a program does for its own reasons.
func (m *orderModel) wait() {
	require.NoError(m.t, m.drawStream().WaitStream(m.drawAny()))
}

// crowd opens and closes enough streams to make the resource retire some.
func (m *orderModel) crowd() {
	if rapid.IntRange(0, 4).Draw(m.t, "seldom") > 0 {
		return
	}
	for range fewStreamCaches {
		stream := m.newStream()
		if block, err := m.tryAllocate(1000, stream); err == nil {
			m.use(block, stream)
			m.free(block)
		} else {
			m.short(1024, err)
		}
		if rapid.Bool().Draw(m.t, "done") {
			m.sim.advance(stream.Handle(), 1)
		}
		m.close(stream)
	}
}
