package buckets

import (
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
)

// lane caches the memory that was freed on one stream, and counts the stream's
// allocations. Goroutines that use different streams do not contend for a lane's lock.
type lane struct {
	stream *device.Stream
	// oldest is the age of the first chunk in ages, which makeRoom reads without the
	// lock. It is zero if the lane is empty.
	oldest atomic.Uint64

	mu      sync.Mutex
	retired bool
	shelves []shelf
	ages    chain[chunk]
	counts  counts
}

// shelf is the part of a bin that belongs to one lane.
type shelf struct {
	// ready is memory that the lane's stream may reuse immediately. held is memory that
	// other streams have used.
	ready, held chain[chunk]
	// marks is the number of further frees to mark.
	marks atomic.Int32
}

func (s *shelf) chain(c *chunk) *chain[chunk] {
	if c.held {
		return &s.held
	}
	return &s.ready
}

// marksUnasked is the number of frees of a bin that are marked after another stream
// last searched it.
const marksUnasked = 64

func newLane(stream *device.Stream, bins int) *lane {
	l := &lane{stream: stream, shelves: make([]shelf, bins)}
	for i := range l.shelves {
		l.shelves[i].marks.Store(marksUnasked)
	}
	return l
}

// wantsMark counts a free in the bin and reports whether to mark it.
func (l *lane) wantsMark(bin int) bool {
	marks := &l.shelves[bin].marks
	return marks.Load() > 0 && marks.Add(-1) >= 0
}

// put adds a chunk. The caller holds the lock.
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

// remove removes a chunk. The caller holds the lock.
func (l *lane) remove(c *chunk) {
	s := &l.shelves[c.bin]
	s.chain(c).remove(&c.inBin)
	l.counts.cachedBlocks--
	if l.ages.first() == c {
		var oldest uint64
		if next := c.inAges.next; next != nil {
			oldest = next.element.age.Load()
		}
		l.oldest.Store(oldest)
	}
	l.ages.remove(&c.inAges)
	c.age.Store(0)
}

// own removes a chunk for the lane's stream, preferably the one freed last, because its
// contents may still be in a cache of the device. The caller holds the lock.
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

// yield removes a chunk that another stream may use, or returns nil. If no chunk
// qualifies, it marks the first chunks, so that the next search can query them.
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
