package caching

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// The work of a completed epoch has completed. A wait for an epoch covers its work,
// and waits for no more as long as the end of the epoch could be marked.
func TestEpochsAgainstPositions(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		s := newScene(t)
		stream := s.newStream()
		var e epochs
		e.open(stream)
		// freed is the stream position at which a block was freed; blocks are in
		// ascending order.
		type freed struct{ epoch, position uint64 }
		var blocks []freed
		// exact is set if every mark was recorded and kept.
		exact := true
		draw := func() freed { return blocks[rapid.IntRange(0, len(blocks)-1).Draw(t, "block")] }
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			action := rapid.SampledFrom([]string{"free", "free", "work", "work", "work", "advance", "ask", "over", "before", "wait", "fail"}).Draw(t, "action")
			if len(blocks) == 0 && action != "work" && action != "advance" {
				action = "free"
			}
			switch action {
			case "free":
				blocks = append(blocks, freed{e.now(), s.position(stream)})
				e.watch.Arm()
			case "work":
				s.work(stream)
				exact = exact && len(e.marks) < mostMarks
			case "fail":
				s.sim.fail = func(call string) error {
					if call == "EventRecord" {
						return errInjected
					}
					return nil
				}
				s.work(stream)
				s.sim.fail, exact = nil, false
			case "advance":
				s.sim.advance(stream.Handle(), rapid.Uint64Range(1, 5).Draw(t, "count"))
			case "ask":
				block := draw()
				done := s.completed(stream) >= block.position
				if over := e.poll(block.epoch); exact {
					require.Equal(t, done, over)
				} else {
					require.False(t, over && !done)
				}
			case "over":
				block := draw()
				require.False(t, e.isDone(block.epoch) && s.completed(stream) < block.position)
			case "before":
				block, other := draw(), s.newStream()
				done := s.completed(stream) >= block.position
				require.NoError(t, e.orderAfter(other, block.epoch))
				ordered := s.ordered(other, stream)
				require.True(t, done || ordered >= block.position)
				if exact && done {
					require.Zero(t, ordered, "nothing was to be waited for")
				} else if exact {
					require.Equal(t, block.position, ordered)
				}
			case "wait":
				block := draw()
				before := s.completed(stream)
				require.NoError(t, e.wait(block.epoch))
				require.GreaterOrEqual(t, s.completed(stream), block.position)
				if exact {
					require.Equal(t, max(before, block.position), s.completed(stream))
				}
			}
			require.LessOrEqual(t, len(e.marks), mostMarks)
		}
		e.close()
		s.closeAll()
	})
}

// completed returns the number of completed pieces of work of a stream.
func (s *scene) completed(stream *device.Stream) uint64 {
	s.sim.mu.Lock()
	defer s.sim.mu.Unlock()
	return s.sim.streams[stream.Handle()].completed
}

// closeAll ends a scene without a resource.
func (s *scene) closeAll() {
	for len(s.streams) > 0 {
		s.close(s.streams[0])
	}
	s.sim.requireEmpty(s.t, s.dev, len(s.all))
}

// If a stream has too many marks, the blocks of a dropped mark count as used until a
// later mark.
func TestEpochsGiveMarksUp(t *testing.T) {
	s := newScene(t)
	stream, other := s.newStream(), s.newStream()
	var e epochs
	e.open(stream)
	type freed struct{ epoch, position uint64 }
	var blocks []freed
	for range 5 * mostMarks {
		blocks = append(blocks, freed{e.now(), s.position(stream)})
		e.watch.Arm()
		s.work(stream)
		require.LessOrEqual(t, len(e.marks), mostMarks)
	}
	for _, block := range blocks {
		require.NoError(t, e.orderAfter(other, block.epoch))
		require.GreaterOrEqual(t, s.ordered(other, stream), block.position)
	}
	s.sim.idle()
	require.True(t, e.poll(blocks[len(blocks)-1].epoch))
	require.Empty(t, e.marks, "marks that were reached go")
	e.close()
	s.closeAll()
}

// The watch may be running when the epochs are closed: its event is closed too.
func TestEpochsClosedUnderAWatch(t *testing.T) {
	s := newScene(t)
	stream := s.newStream()
	var e epochs
	e.open(stream)
	e.watch.Arm()
	var closing bool
	require.NoError(t, stream.Enqueue(func(backend.Stream) error { return nil }))
	require.Len(t, e.marks, 1)
	e.watch.Arm()
	s.sim.recorded = func() {
		if !closing {
			closing = true
			e.close()
		}
	}
	require.NoError(t, stream.Enqueue(func(backend.Stream) error { return nil }))
	require.True(t, closing)
	require.Empty(t, e.marks)
	s.sim.recorded = nil
	s.closeAll()
}
