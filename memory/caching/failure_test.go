package caching

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// These tests check the steps of a caching resource before a request fails.

func TestCallbacksAreAskedInTurn(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		var asked []uint64
		var spare *sceneBlock
		options.LimitBytes = 256 << 10
		options.OnFailure = []func(uint64) bool{
			func(bytes uint64) bool { asked = append(asked, bytes); return false },
			func(bytes uint64) bool {
				asked = append(asked, bytes+1)
				if spare == nil {
					return false
				}
				s.free(spare)
				spare = nil
				return true
			},
			func(bytes uint64) bool { asked = append(asked, bytes+2); return false },
		}
		s.start(options)
		stream := s.newStream()
		spare = s.allocate(150_000, stream)
		require.Empty(s.t, asked)
		s.allocate(200_000, stream)
		require.Equal(s.t, []uint64{200_192, 200_193}, asked, "once there is memory nobody else is asked")

		asked = nil
		_, err := s.tryAllocate(200_000, stream)
		require.ErrorIs(s.t, err, device.ErrOutOfMemory)
		require.Equal(s.t, []uint64{200_192, 200_193, 200_194}, asked)
		s.end()
	})
}

func TestOversizeGoesFirst(t *testing.T) {
	s := newScene(t)
	options := smallSegments(FixedSegments)
	options.OversizeBytes = 3 << 20
	s.start(options)
	stream := s.newStream()
	old, oversize, recent := s.allocate(2<<20, stream), s.allocate(4<<20, stream), s.allocate(2<<20, stream)
	for _, block := range []*sceneBlock{old, oversize, recent} {
		s.free(block)
	}
	released, err := s.resource.Trim(4 << 20)
	require.NoError(t, err)
	require.EqualValues(t, 4<<20, released, "what is oversize, and nothing else")
	require.Equal(t, old.address(), s.allocate(2<<20, stream).address())
	s.end()
}

func TestOversizeIsNotSplit(t *testing.T) {
	s := newScene(t)
	options := smallSegments(FixedSegments)
	options.OversizeBytes = 3 << 20
	s.start(options)
	stream := s.newStream()
	oversize := s.allocate(4<<20, stream)
	s.free(oversize)
	small := s.allocate(100_000, stream)
	require.NotEqual(t, oversize.address(), small.address(), "a small request does not take it")
	require.Equal(t, oversize.address(), s.allocate(4<<20-100_000, stream).address(), "one that is nearly as large does")
	s.check()
	require.Greater(t, s.allocate(3<<20, stream).address(), uint64(0))
	s.end()
}

// Above the threshold, growth first releases the memory that has been unused for
// longest.
func TestTheOldestIsCollected(t *testing.T) {
	s := newScene(t)
	options := smallSegments(FixedSegments)
	options.LimitBytes, options.CollectAbove = 20<<20, 0.5
	s.start(options)
	stream := s.newStream()
	s.allocate(10_000, stream)
	oldest, middle, youngest := s.allocate(2<<20, stream), s.allocate(4<<20, stream), s.allocate(2<<20, stream)
	for _, block := range []*sceneBlock{middle, oldest, youngest} {
		s.free(block)
		_, err := s.resource.Trim(math.MaxUint64) // moves it out of the stream's cache
		require.NoError(t, err)
		s.allocate(10_000, stream) // the clock advances with every request
	}
	reserved := s.resource.Stats().Reserved
	require.Equal(t, uint64(8<<20+256<<10), reserved)
	s.allocate(6<<20, stream)
	require.Equal(t, reserved, s.resource.Stats().Reserved, "two segments went for one")
	require.Equal(t, youngest.address(), s.allocate(2<<20, stream).address(), "and not the youngest")
	s.end()
}

// Moving a segment to the shared cache does not reset its age.
func TestTheAgeOfSegmentsLasts(t *testing.T) {
	s := newScene(t)
	options := smallSegments(FixedSegments)
	options.LimitBytes, options.CollectAbove = 40<<20, 0.35
	s.start(options)
	stream := s.newStream()
	younger, older := s.allocate(2<<20, stream), s.allocate(2<<20, stream)
	for _, block := range []*sceneBlock{older, younger} {
		s.free(block)
		s.allocate(3<<20, stream) // freed memory leaves the stream's cache, and the clock advances
	}
	s.resource.mu.Lock()
	s.resource.flush()
	require.NoError(t, s.resource.coalesceIdle(false))
	s.resource.mu.Unlock()
	require.EqualValues(t, 12<<20, s.resource.Stats().Reserved)
	s.allocate(3<<20, stream)
	require.EqualValues(t, 14<<20, s.resource.Stats().Reserved)
	require.Equal(t, younger.address(), s.allocate(2<<20, stream).address())
	s.end()
}

// Memory that is mostly free is released while the resource is in use, but not again
// before a pause.
func TestShrinking(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		s.start(options)
		now := time.Now()
		s.resource.shrinking.now = func() time.Time { return now }
		stream := s.newStream()
		fill := func() {
			var blocks []*sceneBlock
			for range 12 {
				blocks = append(blocks, s.allocate(2<<20, stream))
			}
			s.resource.shrinking.demand = 1 << 20 // as if the rest had been reserved because of fragmentation
			for _, block := range blocks {
				s.free(block)
			}
			s.check()
		}
		fill()
		require.LessOrEqual(s.t, s.resource.Stats().Reserved, uint64(4<<20))
		fill()
		require.GreaterOrEqual(s.t, s.resource.Stats().Reserved, uint64(24<<20), "it rests")
		now = now.Add(time.Hour)
		fill()
		require.LessOrEqual(s.t, s.resource.Stats().Reserved, uint64(4<<20))
		now = now.Add(shortestPause)
		fill()
		require.GreaterOrEqual(s.t, s.resource.Stats().Reserved, uint64(24<<20), "it has grown again, and rests longer")
		now = now.Add(longestPause)
		fill()
		require.LessOrEqual(s.t, s.resource.Stats().Reserved, uint64(4<<20))
		s.end()
	})
}

// Primed memory serves both pools.
func TestPrimedMemoryMoves(t *testing.T) {
	s := newScene(t)
	options := smallSegments(ExpandableSegments)
	options.InitialBytes = 4 << 20
	s.start(options)
	stream := s.newStream()
	require.EqualValues(t, 4<<20, s.resource.Stats().Cached)
	created := s.sim.called("PhysicalCreate")
	s.allocate(1000, stream)
	s.allocate(300_000, stream)
	require.Equal(t, created, s.sim.called("PhysicalCreate"))
	require.EqualValues(t, 4<<20, s.resource.Stats().Reserved)
	s.check()
	s.end()
}

// Growth merges with adjacent free memory if its last use has completed.
func TestGrowthJoinsItsNeighbour(t *testing.T) {
	const segment = 256 << 10
	setUp := func() (s *scene, a, b *device.Stream, first *sceneBlock) {
		s = newScene(t)
		s.start(smallSegments(ExpandableSegments))
		a, b = s.newStream(), s.newStream()
		s.resource.cacheOf(b)
		first = s.allocate(100_000, a)
		s.use(first, a)
		s.free(first)
		require.EqualValues(t, segment, s.resource.Stats().Reserved)
		return s, a, b, first
	}
	s, a, _, first := setUp()
	second := s.allocate(2<<20, a)
	require.Equal(t, first.address(), second.address(), "it is the stream's own")
	require.EqualValues(t, 2<<20+segment, s.resource.Stats().Reserved)
	s.check()
	s.end()

	s, _, b, first := setUp()
	second = s.allocate(2<<20, b)
	require.Equal(t, first.address()+segment, second.address(), "another stream is not done with it")
	s.check()
	s.end()

	s, _, b, first = setUp()
	s.sim.idle()
	_, err := s.resource.Trim(math.MaxUint64) // updates which work has completed
	require.NoError(t, err)
	second = s.allocate(2<<20, b)
	require.Equal(t, first.address(), second.address(), "nobody uses it any more")
	require.EqualValues(t, 2<<20+segment, s.resource.Stats().Reserved)
	s.check()
	s.end()
}

// Memory merged with growth keeps the epoch of its last use, and only its stream may
// use it.
func TestGrowthKeepsTheLastUse(t *testing.T) {
	s := newScene(t)
	options := smallSegments(ExpandableSegments)
	options.LimitBytes = 4 << 20
	s.start(options)
	a, b := s.newStream(), s.newStream()
	s.resource.cacheOf(b)
	var blocks []*sceneBlock
	for range 4 {
		blocks = append(blocks, s.allocate(1<<20, a))
	}
	s.free(blocks[1])
	_, err := s.resource.Trim(0)
	require.NoError(t, err)
	require.EqualValues(t, 3<<20, s.resource.Stats().Reserved)
	s.use(blocks[2], a)
	used := s.position(a)
	s.free(blocks[2])
	larger := s.allocate(3<<19, a) // the hole and half of the free memory after it
	require.Equal(t, blocks[1].address(), larger.address())
	s.work(a)
	rest := s.allocate(1<<19, b)
	require.Equal(t, larger.address()+(3<<19), rest.address())
	require.Equal(t, used, s.ordered(b, a))
	s.check()
	s.end()
}

// Memory that is being moved from one pool to the other does not leak if the driver
// fails.
func TestMovingFails(t *testing.T) {
	for _, call := range []string{"Unmap", "Map", "SetAccess"} {
		for number := range 3 {
			s := newScene(t)
			s.start(smallSegments(ExpandableSegments))
			stream := s.newStream()
			var small []*sceneBlock
			for range 64 {
				small = append(small, s.allocate(8<<10, stream))
			}
			for _, block := range small {
				s.free(block)
			}
			_, err := s.resource.Trim(math.MaxUint64)
			require.NoError(t, err)
			reserved := s.resource.Stats().Reserved
			require.EqualValues(t, 512<<10, reserved)
			calls := 0
			s.sim.fail = func(name string) error {
				if name != call {
					return nil
				}
				if calls++; calls-1 == number {
					return errInjected
				}
				return nil
			}
			_, err = s.tryAllocate(500_000, stream)
			require.Positive(t, calls, "nothing was moved")
			require.Equal(t, calls > number, err != nil)
			s.sim.fail = nil
			s.check()
			require.Equal(t, s.resource.Stats().Reserved, s.sim.used, "what was under way is given back")
			s.end()
		}
	}
}

// A hole is filled from the end that is adjacent to free memory.
func TestGrowthFillsHoles(t *testing.T) {
	s := newScene(t)
	s.start(smallSegments(ExpandableSegments))
	stream := s.newStream()
	var blocks []*sceneBlock
	for range 4 {
		blocks = append(blocks, s.allocate(1<<20, stream))
	}
	s.free(blocks[1])
	_, err := s.resource.Trim(0)
	require.NoError(t, err)
	require.EqualValues(t, 3<<20, s.resource.Stats().Reserved)
	again := s.allocate(1<<20, stream)
	require.Equal(t, blocks[1].address(), again.address())
	s.check()

	s.free(again)
	_, err = s.resource.Trim(0)
	require.NoError(t, err)
	s.free(blocks[2])
	larger := s.allocate(2<<20, stream)
	require.Equal(t, blocks[1].address(), larger.address(), "the hole and what is free behind it")
	require.EqualValues(t, 4<<20, s.resource.Stats().Reserved)
	s.check()
	s.end()
}

// As a last resort, a request waits for the work that keeps memory from being
// released, including that of held blocks.
func TestTheLastResortWaits(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		options.LimitBytes = 512 << 10
		s.start(options)
		a, b := s.newStream(), s.newStream()
		held, pending := s.allocate(200<<10, a), s.allocate(200<<10, b)
		s.use(held, b)
		s.free(held)
		s.use(pending, b)
		s.free(pending)
		require.NotZero(s.t, s.resource.Stats().Held)
		s.allocate(512<<10, a)
		require.Zero(s.t, s.resource.Stats().Held)
		s.check()
		s.end()
	})
}

func TestOutOfMemoryNamesEverything(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		options.LimitBytes = 512 << 10
		s.start(options)
		stream := s.newStream()
		s.allocate(100<<10, stream)
		_, err := s.tryAllocate(600<<10, stream)
		var failure *OutOfMemoryError
		require.ErrorAs(s.t, err, &failure)
		require.ErrorIs(s.t, err, errLimit)
		text := err.Error()
		for _, part := range []string{"no 600 KiB on " + s.dev.Name(), "(64 MiB of 64 MiB free)", "256 KiB reserved (peak 256 KiB) in 1 segments",
			"100 KiB in use", "0 B held", "156 KiB cached in pieces of at most 156 KiB", "the limit is 512 KiB", "LimitBytes", "try: ", "AllocateWait"} {
			require.Contains(s.t, text, part)
		}
		require.NotContains(s.t, text, "in pieces: ")
		s.end()
	})
	// Enough memory is cached, but not in one piece; other processes hold the rest.
	failure := &OutOfMemoryError{Asked: 1 << 20, Device: "cuda:0", Free: 1 << 30, Total: 8 << 30,
		Resource: Stats{Reserved: 4 << 20, InUse: 2 << 20, Cached: 2 << 20}, Err: device.ErrOutOfMemory}
	require.Contains(t, failure.Error(), "ExpandableSegments")
	require.Contains(t, failure.Error(), "7.0 GiB")
	require.NotContains(t, failure.Error(), "LimitBytes")
	require.NotContains(t, failure.Error(), "the limit is")
}

func TestRequestsThatNoDeviceCanServe(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		s.start(options)
		stream := s.newStream()
		for _, bytes := range []uint64{math.MaxUint64, math.MaxInt64 + 1, math.MaxInt64, 1 << 50} {
			_, err := s.tryAllocate(bytes, stream)
			require.ErrorIs(s.t, err, device.ErrOutOfMemory, "%d", bytes)
		}
		require.ErrorIs(s.t, s.resource.Prime(math.MaxUint64), resource.ErrOverflow)
		require.ErrorIs(s.t, s.resource.Free(resource.Allocation{}, nil), device.ErrInvalidValue)
		s.end()
	})
}
