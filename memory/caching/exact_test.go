package caching

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// inBothModes runs a test with fixed and with expandable segments.
func inBothModes(t *testing.T, f func(s *scene, options Options)) {
	t.Helper()
	for name, mode := range map[string]SegmentMode{"fixed": FixedSegments, "expandable": ExpandableSegments} {
		t.Run(name, func(t *testing.T) { f(newScene(t), smallSegments(mode)) })
	}
}

func TestOneStreamNeedsNoEvents(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		s.start(options)
		stream := s.newStream()
		before := s.sim.called(eventCalls...)
		for i := range 200 {
			small, large := s.allocate(uint64(512+i*40), stream), s.allocate(100_000, stream)
			s.use(small, stream)
			s.free(small)
			s.use(large, stream)
			s.free(large)
		}
		require.Equal(s.t, before, s.sim.called(eventCalls...), "with one stream there is nothing to order")
		require.Zero(s.t, s.resource.Stats().Waits)
		s.end()
	})
}

// Another stream waits exactly for the position at which the memory was freed.
func TestWaitIsForTheLastUse(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		options.LimitBytes = 256 << 10 // one segment
		s.start(options)
		a, b := s.newStream(), s.newStream()
		s.resource.cacheOf(a) // so that the resource has two streams

		early, _, late := s.allocate(80_000, b), s.allocate(10_000, b), s.allocate(110_000, b)
		s.use(early, b)
		s.free(early)
		freed := s.position(b)
		s.use(late, b)
		s.free(late)
		s.work(b)
		s.work(b)

		waiting := s.sim.called(waitingCalls...)
		block := s.allocate(80_000, a)
		require.Equal(s.t, early.address(), block.address())
		require.Equal(s.t, freed, s.ordered(a, b), "the wait is for the last use, and not for what was enqueued later")
		require.EqualValues(s.t, 1, s.resource.Stats().Waits)
		s.use(block, a)
		s.check()

		s.allocate(110_000, a)
		require.Equal(s.t, freed+1, s.ordered(a, b))
		require.Equal(s.t, waiting, s.sim.called(waitingCalls...), "it is the device that waits")
		s.end()
	})
}

func TestMemoryMovesWithoutWaitingOnceItsUseIsOver(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		options.LimitBytes = 256 << 10
		s.start(options)
		a, b := s.newStream(), s.newStream()
		s.resource.cacheOf(a)
		block := s.allocate(200_000, b)
		s.use(block, b)
		s.free(block)
		s.work(b)
		s.sim.advance(b.Handle(), s.position(b)-1) // all but the last
		waits := s.sim.called("StreamWaitEvent")
		s.allocate(200_000, a)
		require.Equal(s.t, waits, s.sim.called("StreamWaitEvent"))
		require.Zero(s.t, s.resource.Stats().Waits)
		require.NotZero(s.t, s.resource.Stats().CrossStream)
		s.end()
	})
}

// One event marks the use of all blocks that are freed between two pieces of work.
func TestAtMostOneEventForEachPieceOfWork(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		s.start(options)
		a, b := s.newStream(), s.newStream()
		s.free(s.allocate(1, a))
		s.free(s.allocate(1, b))
		before := s.sim.called("EventRecord")
		const rounds = 100
		for range rounds {
			for range 10 {
				first, second := s.allocate(700, b), s.allocate(9000, b)
				s.free(first)
				s.free(second)
			}
			s.work(b)
			s.sim.advance(b.Handle(), 1)
		}
		require.LessOrEqual(s.t, s.sim.called("EventRecord")-before, rounds)
		before = s.sim.called(eventCalls...)
		for range 100 {
			s.free(s.allocate(700, b))
		}
		require.Equal(s.t, before, s.sim.called(eventCalls...), "without work in between there is nothing to mark")
		s.end()
	})
}

// A block that further streams use is held until the work that they had when it was
// freed has completed. Freeing does not wait.
func TestBlocksOfFurtherStreamsAreHeld(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		options.LimitBytes = 64 << 10
		s.start(options)
		a, b, c := s.newStream(), s.newStream(), s.newStream()
		block := s.allocate(64<<10, a)
		s.use(block, b)
		s.use(block, c)
		waiting := s.sim.called(waitingCalls...)
		s.free(block)
		s.work(b)
		s.work(c)
		require.Equal(s.t, waiting, s.sim.called(waitingCalls...))
		require.EqualValues(s.t, 64<<10, s.resource.Stats().Held)
		s.check()

		s.sim.advance(b.Handle(), s.position(b)-1)
		_, err := s.resource.Trim(0)
		require.NoError(s.t, err)
		require.EqualValues(s.t, 64<<10, s.resource.Stats().Held, "one of them has not come so far")
		s.sim.advance(c.Handle(), s.position(c)-1)
		s.allocate(64<<10, a)
		require.Zero(s.t, s.resource.Stats().Held, "and the later work does not matter")
		require.Equal(s.t, waiting, s.sim.called(waitingCalls...))
		s.end()
	})
}

func TestFurtherStreamsThatAreDoneHoldNothing(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		s.start(options)
		a, b := s.newStream(), s.newStream()
		block := s.allocate(1000, a)
		s.use(block, b)
		s.sim.idle()
		records := s.sim.called("EventRecord")
		s.free(block)
		require.Zero(s.t, s.resource.Stats().Held)
		require.Equal(s.t, records, s.sim.called("EventRecord"))
		s.end()
	})
}

// Streams may be closed before the memory that they used is freed, or while it is
// cached: their last work still counts.
func TestClosedStreams(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		options.LimitBytes = 256 << 10
		s.start(options)
		a, own, further := s.newStream(), s.newStream(), s.newStream()
		s.free(s.allocate(1, a))
		block := s.allocate(100_000, own)
		s.use(block, own)
		s.use(block, further)
		s.close(own)
		s.close(further)
		s.free(block)
		require.EqualValues(s.t, 100_352, s.resource.Stats().Held)
		s.check()
		s.sim.advance(further.Handle(), 1)
		_, err := s.resource.Trim(0)
		require.NoError(s.t, err)
		require.NotZero(s.t, s.resource.Stats().Held)

		waiting := s.sim.called(waitingCalls...)
		s.sim.advance(further.Handle(), s.position(further))
		s.allocate(100_000, a)
		require.Equal(s.t, waiting, s.sim.called(waitingCalls...))
		s.end()
	})
	inBothModes(t, func(s *scene, options Options) {
		options.LimitBytes = 256 << 10
		s.start(options)
		a, own := s.newStream(), s.newStream()
		block := s.allocate(100_000, own)
		s.use(block, own)
		s.free(block)
		s.close(own)
		s.allocate(100_000, a)
		require.Equal(s.t, s.position(own), s.ordered(a, own))
		s.end()
	})
}

// Adjacent free memory of different streams becomes one run after their work has
// completed: it can be released, serves a larger request, and Close releases
// everything.
func TestFreeMemoryOfSeveralStreamsIsJoined(t *testing.T) {
	sideBySide := func(s *scene) (a, b *sceneBlock) {
		first, second := s.newStream(), s.newStream()
		a, b = s.allocate(100_000, first), s.allocate(100_000, second)
		require.Equal(s.t, a.address()+a.node().Bytes, b.address())
		s.use(a, first)
		s.use(b, second)
		s.free(a)
		s.free(b)
		return a, b
	}
	inBothModes(t, func(s *scene, options Options) {
		s.start(options)
		sideBySide(s)
		released, err := s.resource.Trim(0)
		require.NoError(s.t, err)
		require.Zero(s.t, released, "work is pending")
		s.sim.idle()
		released, err = s.resource.Trim(0)
		require.NoError(s.t, err)
		require.EqualValues(s.t, 256<<10, released)
		s.end()
	})
	inBothModes(t, func(s *scene, options Options) {
		options.LimitBytes = 256 << 10
		s.start(options)
		sideBySide(s)
		s.sim.idle()
		s.allocate(256<<10, s.streams[0])
		s.end()
	})
	inBothModes(t, func(s *scene, options Options) {
		s.start(options)
		sideBySide(s)
		s.end()
	})
}

// The remainder of a run taken from another stream is merged with the adjacent free
// memory of the stream.
func TestRestsAreJoined(t *testing.T) {
	inBothModes(t, func(s *scene, options Options) {
		options.LimitBytes = 256 << 10
		s.start(options)
		a, b := s.newStream(), s.newStream()
		first, second, third, _ := s.allocate(50_000, b), s.allocate(80_000, b), s.allocate(60_000, a), s.allocate(70_000, a)
		s.use(third, a)
		s.free(third)
		s.use(second, b)
		s.free(second)
		// a takes part of the memory of b, next to its own memory.
		taken := s.allocate(75_000, a)
		require.Equal(s.t, second.address(), taken.address())
		s.check()
		s.free(taken)
		s.free(first)
		s.end()
	})
}
