package buckets

import (
	"slices"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/streamwork"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// chunk is memory of one bin, or of a request above all bins. It is an
// Allocation's Private, and a link of chains while nobody holds it. Whoever took
// it out of its lane's chains has it alone.
type chunk struct {
	owner   *Resource
	pointer device.Pointer
	bytes   uint64
	// bin is the index of the bin, or noBin.
	bin int
	// below is what the upstream handed out; of a piece of a slab it is the
	// slab's.
	below resource.Allocation
	slab  *slab

	// lane is that of the stream which holds the memory, or has freed it.
	lane *lane
	live atomic.Bool
	// age is the chunk's place in the order in which chunks were freed; zero
	// while it is in no lane's chains.
	age atomic.Uint64
	// inBin and inAges are its places in two chains of the lane. An unused piece
	// of a slab has the first in that of its bin's unused pieces.
	inBin, inAges link[chunk]

	// mark, where marked is set, comes after the last use on the lane's stream.
	// It is kept for the next time.
	mark   *device.Event
	marked bool
	// uses are those of further streams, and held tells that there were some
	// when the chunk was freed.
	uses []use
	held bool
}

const noBin = -1

func (r *Resource) newChunk(pointer device.Pointer, bytes uint64, bin int, l *lane) *chunk {
	c := &chunk{owner: r, pointer: pointer, bytes: bytes, bin: bin, lane: l}
	c.inBin.of, c.inAges.of = c, c
	return c
}

// use is work of a further stream. Where it could not be marked it is done when
// all of the stream's is.
type use struct {
	stream *device.Stream
	event  *device.Event
}

func (u use) done() bool {
	if u.event != nil {
		return isDone(u.event.Done())
	}
	return isDone(u.stream.Done())
}

func (u use) close() {
	if u.event != nil {
		u.event.Close()
	}
}

// isDone takes a failure for work that is not done.
func isDone(done bool, err error) bool { return done && err == nil }

// noteUses keeps who has used the chunk besides its lane's stream.
func (c *chunk) noteUses(further []*device.Stream, events bool) {
	for _, stream := range further {
		if stream.Equal(c.lane.stream) {
			continue
		}
		u := use{stream: stream}
		if events {
			// It fails for a stream that was closed, whose work has a mark of
			// its own. Of another failure the stream itself is asked later.
			u.event, _ = stream.Record()
		}
		c.uses = append(c.uses, u)
	}
}

// markNow marks the work that the lane's stream has now.
func (c *chunk) markNow() {
	if c.mark == nil {
		mark, err := c.owner.device.NewEvent()
		if err != nil {
			return
		}
		c.mark = mark
	}
	c.marked = c.mark.Record(streamwork.Past(c.lane.stream)) == nil
}

// finished reports whether work that is enqueued on the stream from now on finds
// the chunk unused; for a nil stream, whether nothing uses it now.
func (c *chunk) finished(stream *device.Stream) bool {
	if !c.usesFinished(stream) {
		return false
	}
	if c.lane.stream.Equal(stream) {
		return true
	}
	if c.marked {
		return isDone(c.mark.Done())
	}
	return isDone(streamwork.Past(c.lane.stream).Done())
}

// usesFinished is finished for the uses of further streams alone.
func (c *chunk) usesFinished(stream *device.Stream) bool {
	finished := true
	c.uses = slices.DeleteFunc(c.uses, func(u use) bool {
		if !finished || u.stream.Equal(stream) {
			return false
		}
		if finished = u.done(); finished {
			u.close()
		}
		return finished
	})
	return finished
}

// clean makes the chunk ready for its next holder.
func (c *chunk) clean() {
	for _, u := range c.uses {
		u.close()
	}
	clear(c.uses)
	c.uses, c.marked = c.uses[:0], false
}

// drop gives back the chunk's events, for good.
func (c *chunk) drop() {
	c.clean()
	if c.mark != nil {
		c.mark.Close()
		c.mark = nil
	}
}

// markFirst marks the foremost chunk, if it has no mark yet, so that it can be
// asked for next time.
func markFirst(h *chain[chunk]) {
	if c := h.first(); c != nil && !c.marked {
		c.markNow()
	}
}
