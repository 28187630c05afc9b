package buckets

import (
	"slices"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// chunk is the memory of one block of a bin, or of a request above all bins. It is an
// Allocation's Private while in use, and an element of chains otherwise. A goroutine
// that has removed a chunk from its lane's chains has exclusive access to it.
type chunk struct {
	owner   *Resource
	pointer device.Pointer
	bytes   uint64
	// bin is the index of the bin, or noBin.
	bin int
	// below is the upstream's allocation. The pieces of a slab share the slab's.
	below resource.Allocation
	slab  *slab

	// lane is the lane of the stream that holds the memory or has freed it.
	lane *lane
	live atomic.Bool
	// age numbers the chunks in the order in which they were freed. It is zero while
	// the chunk is in no lane's chains.
	age atomic.Uint64
	// inBin and inAges link the chunk in two chains of the lane. For an unused piece of
	// a slab, inBin links it in its bin's chain of unused pieces.
	inBin, inAges link[chunk]

	// mark is valid if marked is set. It is recorded after the last use on the lane's
	// stream. The event is kept for reuse.
	mark   *device.Event
	marked bool
	// uses are the uses by other streams. held is set if uses existed when the chunk
	// was freed.
	uses []use
	held bool
}

const noBin = -1

func (r *Resource) newChunk(pointer device.Pointer, bytes uint64, bin int, l *lane) *chunk {
	c := &chunk{owner: r, pointer: pointer, bytes: bytes, bin: bin, lane: l}
	c.inBin.element, c.inAges.element = c, c
	return c
}

// use is work of another stream. If event is nil, the use completes when all work of
// the stream has completed.
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

// isDone treats a failure as work that has not completed.
func isDone(done bool, err error) bool { return done && err == nil }

// noteUses records the streams, other than the lane's, that have used the chunk.
func (c *chunk) noteUses(further []*device.Stream, events bool) {
	for _, stream := range further {
		if stream.Equal(c.lane.stream) {
			continue
		}
		u := use{stream: stream}
		if events {
			// Record fails for a closed stream, which has a mark for its work. After
			// any other failure, done queries the stream itself.
			u.event, _ = stream.Record()
		}
		c.uses = append(c.uses, u)
	}
}

// markNow marks the current work of the lane's stream.
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

// finished reports whether later work on the stream finds the chunk unused. For a nil
// stream it reports whether no work uses the chunk now.
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

// usesFinished is like finished but considers only the uses by other streams.
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

// clean prepares the chunk for its next holder.
func (c *chunk) clean() {
	for _, u := range c.uses {
		u.close()
	}
	clear(c.uses)
	c.uses, c.marked = c.uses[:0], false
}

// drop closes the chunk's events.
func (c *chunk) drop() {
	c.clean()
	if c.mark != nil {
		c.mark.Close()
		c.mark = nil
	}
}

// markFirst marks the first chunk of the chain if it has no mark, so that the next
// search can query it.
func markFirst(h *chain[chunk]) {
	if c := h.first(); c != nil && !c.marked {
		c.markNow()
	}
}
