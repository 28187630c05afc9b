package memory

import (
	"math/bits"
	"unsafe"
)

// purse is credit of a stripe's for one tag of one manager: bytes that count as
// in use, in the tag and in all managers above it, but are in no block. What is
// released goes there, and what is allocated under the same tag comes from there,
// so that a program that does both by turns changes nothing that other goroutines
// look at.
//
// Credit never makes figures wrong. Bytes in a purse are counted within the
// budgets, and within the highest peaks there have been: so who takes them from a
// purse exceeds neither. Whoever finds a budget exhausted, or a peak reached,
// empties the purses first; so does who reads figures.
type purse struct {
	leaf   *tagTotals
	credit uint64
	// allocations and frees are not yet in the tag's own counts.
	allocations, frees uint64
}

// purseCount is how many tags a goroutine can allocate under by turns without
// emptying a purse each time.
const purseCount = 4

// purse returns the purse that a tag has, or could have. The stripe is locked.
func (s *stripe) purse(leaf *tagTotals) *purse {
	const spread = 0x9E3779B97F4A7C15
	return &s.purses[uint64(uintptr(unsafe.Pointer(leaf)))*spread>>62]
}

// draw takes bytes out of the tag's purse, for one block. The stripe is locked.
func (s *stripe) draw(leaf *tagTotals, bytes uint64) bool {
	p := s.purse(leaf)
	if p.leaf != leaf || p.credit < bytes {
		return false
	}
	p.credit -= bytes
	p.allocations++
	s.touch()
	return true
}

// own returns the tag's purse, which another tag may have had. The stripe is
// locked.
func (s *stripe) own(leaf *tagTotals) *purse {
	p := s.purse(leaf)
	if p.leaf != leaf {
		p.settle()
		p.leaf = leaf
	}
	s.touch()
	return p
}

// deposit puts the bytes of a block that was released into the tag's purse. The
// stripe is locked.
func (s *stripe) deposit(leaf *tagTotals, bytes uint64) {
	p := s.own(leaf)
	p.credit += bytes
	p.frees++
}

// undraw undoes a draw, in whatever stripe. The stripe is locked.
func (s *stripe) undraw(leaf *tagTotals, bytes uint64) {
	p := s.own(leaf)
	p.credit += bytes
	p.allocations--
}

func (s *stripe) touch() {
	if bit := uint64(1) << s.number; s.of.dirty.Load()&bit == 0 {
		s.of.dirty.Or(bit)
	}
}

// settle empties the purses of the stripe, which is locked.
func (s *stripe) settle() {
	bit := uint64(1) << s.number
	if s.of.dirty.Load()&bit == 0 {
		return
	}
	for i := range s.purses {
		s.purses[i].settle()
	}
	s.of.settled.Add(1)
	s.of.dirty.And(^bit)
}

// bookPeak counts a block that may make a new peak. That is right if there was no
// credit anywhere in between, for what is counted as in use is in use then;
// otherwise it counts nothing and reports false. The stripe is locked.
func (s *stripe) bookPeak(leaf *tagTotals, bytes uint64) bool {
	s.settle()
	settled := s.of.settled.Load()
	var levels [8]uint64
	inUse := leaf.add(levels[:0], bytes)
	if s.of.dirty.Load() != 0 || s.of.settled.Load() != settled {
		// Under the lock still, so that nobody sees it above its peak.
		leaf.takeBack(bytes)
		return false
	}
	leaf.raiseTo(inUse)
	return true
}

func (p *purse) settle() {
	if p.leaf == nil {
		return
	}
	p.leaf.settle(p.credit, p.allocations, p.frees)
	p.credit, p.allocations, p.frees = 0, 0, 0
}

// lend moves credit for a tag from other stripes to the purse of one. It waits
// for no stripe but that one, and reports whether the purse has the bytes then.
func (s *stripes) lend(leaf *tagTotals, bytes uint64) bool {
	// The stripe that gets the credit stays locked all the while: credit on its
	// way is in no purse, and who locks all stripes must not miss it.
	to := s.enter()
	defer to.mu.Unlock()
	var have, found uint64
	if p := to.purse(leaf); p.leaf == leaf {
		have = p.credit
	}
	for dirty := s.dirty.Load(); dirty != 0 && have+found < bytes; dirty &= dirty - 1 {
		each := &s.all[bits.TrailingZeros64(dirty)]
		if each == to || !each.mu.TryLock() {
			continue
		}
		if p := each.purse(leaf); p.leaf == leaf {
			part := min(p.credit, bytes-have-found)
			p.credit -= part
			found += part
		}
		each.mu.Unlock()
	}
	if found > 0 {
		to.own(leaf).credit += found
	}
	return have+found >= bytes
}
