package main

// sequence is the requests of a program, made in advance so that both sides make the
// same ones and neither's time includes their generation.
type sequence struct {
	// bytes[i] is allocated into slots[i]; if it is zero, the memory in the slot is
	// freed.
	bytes []uint64
	slots []uint32
	// slotCount is the number of slots, peak the maximum number of bytes in use.
	slotCount int
	peak      uint64

	inUse  uint64
	unused []uint32
	sizes  []uint64
}

// allocate adds a request and returns its slot.
func (s *sequence) allocate(bytes uint64) (slot uint32) {
	if last := len(s.unused) - 1; last >= 0 {
		slot, s.unused = s.unused[last], s.unused[:last]
	} else {
		slot = uint32(s.slotCount)
		s.slotCount++
		s.sizes = append(s.sizes, 0)
	}
	s.bytes, s.slots = append(s.bytes, bytes), append(s.slots, slot)
	s.sizes[slot] = bytes
	s.inUse += bytes
	s.peak = max(s.peak, s.inUse)
	return slot
}

func (s *sequence) free(slot uint32) {
	s.bytes, s.slots = append(s.bytes, 0), append(s.slots, slot)
	s.inUse -= s.sizes[slot]
	s.unused = append(s.unused, slot)
}

// randomSequence makes the requests of RMM's benchmark: count allocations of 1 to
// largest bytes each, and the same number of frees. Each step allocates with a
// probability of 73 %, unless that would raise the bytes in use to most, or count
// allocations exist already; otherwise it frees a live allocation. Every step draws a
// size, used or not.
func randomSequence(count int, largest, most uint64) *sequence {
	const chance = 73
	s := &sequence{bytes: make([]uint64, 0, 2*count), slots: make([]uint32, 0, 2*count)}
	random := newRandom()
	var live []uint32
	for allocated := 0; len(s.bytes) < 2*count; {
		bytes := random.between(1, largest)
		allocate := len(live) == 0
		if !allocate {
			allocate = random.between(0, 99) < chance && allocated < count && s.inUse+bytes < most
		}
		if allocate {
			live = append(live, s.allocate(bytes))
			allocated++
			continue
		}
		victim := int(random.between(0, uint64(count-1))) % len(live)
		s.free(live[victim])
		last := len(live) - 1
		live[victim] = live[last]
		live = live[:last]
	}
	return s
}

// random draws the numbers of C++ programs that were built with GCC's library and use
// its default generator and seed: a linear congruence modulo 2³¹−1, and integers
// between two bounds, derived from its numbers by the library's method.
type random struct{ state uint64 }

func newRandom() *random { return &random{state: 1} }

const (
	modulus    = 1<<31 - 1
	multiplier = 16807
	// span is the number of different values.
	span = modulus - 1
)

// next returns a number of 0 to span-1.
func (r *random) next() uint64 {
	r.state = r.state * multiplier % modulus
	return r.state - 1
}

// between returns a number from low to high, both included.
func (r *random) between(low, high uint64) uint64 { return low + r.upTo(high-low) }

func (r *random) upTo(high uint64) uint64 {
	switch {
	case high < span-1:
		// All values have equal shares; numbers beyond the last share are rejected.
		share := (span - 1) / (high + 1)
		for {
			if n := r.next(); n < share*(high+1) {
				return n / share
			}
		}
	case high > span-1:
		// A number of several digits in base span, the highest first.
		for {
			above := span * r.upTo(high/span)
			if n := above + r.next(); n >= above && n <= high {
				return n
			}
		}
	}
	return r.next()
}
