package buckets

import (
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
)

// lane keeps what was freed on one stream, and the figures of what was allocated
// on it. Goroutines that use streams of their own meet in no lane's lock.
type lane struct {
	stream *device.Stream
	// oldest is the age of the first in ages, for those who look for the oldest
	// of all; zero where there is none.
	oldest atomic.Uint64

	mu      sync.Mutex
	retired bool
	shelves []shelf
	ages    chain[chunk]
	counts  counts
}

// shelf is the part of a bin that lies in one lane.
type shelf struct {
	// ready is memory that the lane's own stream may have at once, held is
	// memory that further streams have used.
	ready, held chain[chunk]
	// marks is how many more frees are marked.
	marks atomic.Int32
}

func (s *shelf) chain(c *chunk) *chain[chunk] {
	if c.held {
		return &s.held
	}
	return &s.ready
}

// marksUnasked is how many frees in a bin are marked before that ends for want of
// other streams that ask.
const marksUnasked = 64

func newLane(stream *device.Stream, bins int) *lane {
	l := &lane{stream: stream, shelves: make([]shelf, bins)}
	for i := range l.shelves {
		l.shelves[i].marks.Store(marksUnasked)
	}
	return l
}

// wantsMark counts a free in the bin and reports whether it is to be marked.
func (l *lane) wantsMark(bin int) bool {
	marks := &l.shelves[bin].marks
	return marks.Load() > 0 && marks.Add(-1) >= 0
}

// put adds a chunk. The lock is held.
func (l *lane) put(c *chunk, age uint64) {
	s := &l.shelves[c.bin]
	c.held = len(c.uses) > 0
	s.chain(c).append(&c.inBin)
	l.counts.cachedBlocks++
	l.ages.append(&c.inAges)
	c.age.Store(age)
	if l.ages.first() == c {
		l.oldest.Store(age)
	}
}

// remove takes a chunk out. The lock is held.
func (l *lane) remove(c *chunk) {
	s := &l.shelves[c.bin]
	s.chain(c).remove(&c.inBin)
	l.counts.cachedBlocks--
	if l.ages.first() == c {
		var oldest uint64
		if next := c.inAges.next; next != nil {
			oldest = next.of.age.Load()
		}
		l.oldest.Store(oldest)
	}
	l.ages.remove(&c.inAges)
	c.age.Store(0)
}

// own takes a chunk out for the lane's own stream: what was freed last, for its
// contents may still be in a cache of the device. The lock is held.
func (l *lane) own(bin int) *chunk {
	s := &l.shelves[bin]
	c := s.ready.last()
	if c == nil {
		c = s.held.search(func(c *chunk) bool { return c.usesFinished(l.stream) })
	}
	if c != nil {
		l.remove(c)
	}
	return c
}

// yield takes a chunk out for another stream, if there is one that it may have.
// What is in the way of that gets a mark, so that it can be asked for next time.
func (l *lane) yield(bin int, stream *device.Stream) *chunk {
	s := &l.shelves[bin]
	s.marks.Store(marksUnasked)
	l.mu.Lock()
	defer l.mu.Unlock()
	finished := func(c *chunk) bool { return c.finished(stream) }
	c := s.ready.search(finished)
	if c == nil {
		c = s.held.search(finished)
	}
	if c != nil {
		l.remove(c)
		return c
	}
	markFirst(&s.ready)
	markFirst(&s.held)
	return nil
}
