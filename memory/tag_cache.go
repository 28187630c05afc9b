package memory

import (
	"math/bits"
	"unsafe"
)

// tagCache holds credit of one stripe for one tag of one manager: bytes that count
// as in use, in the tag and in its manager and ancestors, but belong to no block.
// Released bytes become credit, and allocations under the same tag use it. A program
// that alternates between both therefore writes nothing that other goroutines read.
//
// Credit does not make statistics wrong. It is counted within the budgets and the
// peaks so far, so a block that uses credit exceeds neither. A request that finds a
// budget exhausted, or that makes a new peak, empties the caches first; so does
// every read of statistics.
type tagCache struct {
	leaf   *tagTotals
	credit uint64
	// allocations and frees are not yet counted in the tag's totals.
	allocations, frees uint64
}

// tagCacheCount is the number of tags between which a goroutine can alternate
// without emptying a cache each time.
const tagCacheCount = 4

// tagCache returns the cache for a tag. It may currently hold credit of another tag.
// The stripe is locked.
func (s *stripe) tagCache(leaf *tagTotals) *tagCache {
	const spread = 0x9E3779B97F4A7C15
	return &s.caches[uint64(uintptr(unsafe.Pointer(leaf)))*spread>>62]
}

// draw takes the bytes of one block out of the tag's cache and returns a state for
// the block, or nil if the credit is too small. The stripe is locked.
func (s *stripe) draw(leaf *tagTotals, bytes uint64) *blockState {
	c := s.tagCache(leaf)
	if c.leaf != leaf || c.credit < bytes {
		return nil
	}
	c.credit -= bytes
	c.allocations++
	s.touch()
	state := s.state()
	s.expect(drawn{state, state.life.Load() >> referenceBits, leaf, bytes})
	return state
}

// drawn is a block with bytes from a tag cache that the resource may not have
// delivered yet. It counts as in use until then, unless it is recalled: its bytes
// are then only reserved, as for any request in progress, and the request books them
// after delivery.
type drawn struct {
	state      *blockState
	generation uint64
	leaf       *tagTotals
	bytes      uint64
}

// expect records a drawn block and drops delivered ones from the end of the list.
// The stripe is locked.
func (s *stripe) expect(d drawn) {
	for last := len(s.drawn) - 1; last >= 0 && s.drawn[last].delivered(); last-- {
		s.drawn = s.drawn[:last]
	}
	s.drawn = append(s.drawn, d)
}

// The delivery of a state holds a generation and this flag, which is set if the
// block was recalled.
const recalled = 1

// delivered reports whether the resource has answered.
func (d *drawn) delivered() bool { return d.state.delivery.Load()>>1 >= d.generation }

// recall recalls the block if the resource has not answered yet, and reports whether
// it did.
func (d *drawn) recall() bool {
	before := d.state.delivery.Load()
	return before>>1 < d.generation && d.state.delivery.CompareAndSwap(before, d.generation<<1|recalled)
}

// answered records that the resource has answered for a generation of the state, and
// reports whether the block had been recalled.
func (s *blockState) answered(generation uint64) bool {
	return s.delivery.Swap(generation<<1) == generation<<1|recalled
}

// own returns the tag's cache after emptying it of another tag's credit. The stripe
// is locked.
func (s *stripe) own(leaf *tagTotals) *tagCache {
	c := s.tagCache(leaf)
	if c.leaf != leaf {
		c.flush()
		c.leaf = leaf
	}
	s.touch()
	return c
}

// deposit puts the bytes of a released block into the tag's cache. The stripe is
// locked.
func (s *stripe) deposit(leaf *tagTotals, bytes uint64) {
	c := s.own(leaf)
	c.credit += bytes
	c.frees++
}

// undraw undoes a draw; the stripe may differ from that of the draw. The stripe is
// locked.
func (s *stripe) undraw(leaf *tagTotals, bytes uint64) {
	c := s.own(leaf)
	c.credit += bytes
	c.allocations--
}

func (s *stripe) touch() {
	if bit := uint64(1) << s.number; s.stripes.dirty.Load()&bit == 0 {
		s.stripes.dirty.Or(bit)
	}
}

// flush empties the caches of the stripe and recalls blocks that were drawn and not
// delivered. The stripe is locked.
func (s *stripe) flush() {
	bit := uint64(1) << s.number
	if s.stripes.dirty.Load()&bit == 0 {
		return
	}
	for i := range s.caches {
		s.caches[i].flush()
	}
	for i := range s.drawn {
		if d := &s.drawn[i]; d.recall() {
			d.leaf.takeBack(d.bytes)
		}
	}
	clear(s.drawn)
	s.drawn = s.drawn[:0]
	s.stripes.flushes.Add(1)
	s.stripes.dirty.And(^bit)
}

// bookPeak counts a block that may make a new peak. A peak must consist of bytes
// that are really in use, so no other stripe may hold credit at the same time. If
// one does, bookPeak counts nothing and returns false. The stripe is locked.
func (s *stripe) bookPeak(leaf *tagTotals, bytes uint64) bool {
	s.flush()
	flushes := s.stripes.flushes.Load()
	var levels [8]uint64
	inUse := leaf.add(levels[:0], bytes)
	if s.stripes.dirty.Load() != 0 || s.stripes.flushes.Load() != flushes {
		// The lock is still held, so no reader sees the tag above its peak.
		leaf.takeBack(bytes)
		return false
	}
	leaf.raiseTo(inUse)
	return true
}

func (c *tagCache) flush() {
	if c.leaf == nil {
		return
	}
	c.leaf.flushCredit(c.credit, c.allocations, c.frees)
	c.credit, c.allocations, c.frees = 0, 0, 0
}

// lend moves credit for a tag from other stripes to the cache of one stripe, and
// reports whether that cache then has enough bytes. It waits only for the lock of
// that stripe.
func (s *stripes) lend(leaf *tagTotals, bytes uint64) bool {
	// The receiving stripe stays locked: credit that is being moved is in no cache,
	// and lockAll must not miss it.
	to := s.enter()
	defer to.mu.Unlock()
	var have, lent uint64
	if c := to.tagCache(leaf); c.leaf == leaf {
		have = c.credit
	}
	for dirty := s.dirty.Load(); dirty != 0 && have+lent < bytes; dirty &= dirty - 1 {
		each := &s.all[bits.TrailingZeros64(dirty)]
		if each == to || !each.mu.TryLock() {
			continue
		}
		if c := each.tagCache(leaf); c.leaf == leaf {
			part := min(c.credit, bytes-have-lent)
			c.credit -= part
			lent += part
		}
		each.mu.Unlock()
	}
	if lent > 0 {
		to.own(leaf).credit += lent
	}
	return have+lent >= bytes
}
