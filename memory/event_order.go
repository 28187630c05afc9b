package memory

import (
	"cmp"
	"slices"
)

// stripeRecords are consecutive records of a stripe.
type stripeRecords struct {
	stripe  int
	records []eventRecord
}

// mergedEvent is an event at its place in the order of all events.
type mergedEvent struct {
	at     eventPlace
	kind   EventKind
	record *eventRecord
}

// eventPlace orders events: by tick, then by stripe, then by their order in the stripe. Moves
// distinguishes events that were moved to the place of another one.
type eventPlace struct {
	time   eventTime
	stripe int32
	moves  int32
}

func (p eventPlace) compare(other eventPlace) int {
	return cmp.Or(cmp.Compare(p.time.tick(), other.time.tick()), cmp.Compare(p.stripe, other.stripe),
		cmp.Compare(p.time, other.time), cmp.Compare(p.moves, other.moves))
}

// after returns the next place.
func (p eventPlace) after() eventPlace {
	p.moves++
	return p
}

// before returns the place before.
func (p eventPlace) before() eventPlace {
	p.moves--
	return p
}

// lifetime has the allocation and the release of a block. At least one of them is set.
type lifetime struct {
	record              *eventRecord
	allocated, released eventPlace
	// begins and ends report whether the allocation and the release are known.
	begins, ends bool
}

// mergeEvents merges the records of all stripes into one list of events, in which no address
// has two blocks at a time.
//
// Times are exact to a millisecond only, and a release is recorded after the memory was
// freed, perhaps after the next allocation of its address. The blocks of one address follow
// each other, though. So mergeEvents orders them by their allocations, and moves a release
// before the next allocation.
func mergeEvents(lists []stripeRecords) []mergedEvent {
	lifetimes, events := lifetimesOf(lists)
	for begin := 0; begin < len(lifetimes); {
		end := begin + 1
		for end < len(lifetimes) && lifetimes[end].record.pointer == lifetimes[begin].record.pointer {
			end++
		}
		orderAddress(lifetimes[begin:end])
		begin = end
	}
	for i := range lifetimes {
		l := &lifetimes[i]
		if l.begins {
			events = append(events, mergedEvent{l.allocated, Allocated, l.record})
		}
		if l.ends {
			events = append(events, mergedEvent{l.released, Released, l.record})
		}
	}
	slices.SortFunc(events, func(a, b mergedEvent) int { return a.at.compare(b.at) })
	return events
}

// lifetimesOf returns the blocks, ordered by address, and the failures.
func lifetimesOf(lists []stripeRecords) (lifetimes []lifetime, failures []mergedEvent) {
	for _, list := range lists {
		for i := range list.records {
			e := &list.records[i]
			allocated, released := eventPlace{time: e.allocated, stripe: int32(list.stripe)}, eventPlace{time: e.released, stripe: int32(list.stripe)}
			switch {
			case e.has(recordFailed):
				failures = append(failures, mergedEvent{allocated, Failed, e})
			case e.has(recordReleased):
				// The record of a release has the time of the allocation, unless that
				// was before the ring.
				lifetimes = append(lifetimes, lifetime{e, allocated, released, e.allocated.tick() != 0, true})
			case e.has(recordAllocated):
				lifetimes = append(lifetimes, lifetime{e, allocated, released, true, false})
			}
		}
	}
	slices.SortFunc(lifetimes, func(a, b lifetime) int {
		return cmp.Or(cmp.Compare(a.record.pointer, b.record.pointer), a.compareBlock(&b), cmp.Compare(a.record.generation, b.record.generation))
	})
	return joinRecords(lifetimes), failures
}

// compareBlock orders lifetimes by block.
func (l *lifetime) compareBlock(other *lifetime) int {
	return cmp.Or(cmp.Compare(l.record.state.number, other.record.state.number),
		cmp.Compare(l.record.generation>>recordBits, other.record.generation>>recordBits))
}

// joinRecords joins the two records of blocks that were released late. They are neighbours,
// with the allocation first.
func joinRecords(lifetimes []lifetime) []lifetime {
	joined := lifetimes[:0]
	for _, l := range lifetimes {
		if last := len(joined) - 1; last >= 0 && joined[last].record.pointer == l.record.pointer && joined[last].compareBlock(&l) == 0 {
			joined[last].released, joined[last].ends = l.released, true
			continue
		}
		joined = append(joined, l)
	}
	return joined
}

// orderAddress orders the blocks of one address, and moves their events so that each is
// released before the next one is allocated. A block whose release is lost loses its
// allocation too if there is a later block.
func orderAddress(blocks []lifetime) {
	for i := range blocks {
		if !blocks[i].begins {
			blocks[i].allocated = blocks[i].released.before()
		}
	}
	slices.SortFunc(blocks, func(a, b lifetime) int {
		if tick := cmp.Compare(a.allocated.time.tick(), b.allocated.time.tick()); tick != 0 {
			return tick
		}
		switch {
		case a.ends && b.ends:
			return cmp.Or(a.released.compare(b.released), a.allocated.compare(b.allocated))
		case a.ends:
			return -1
		case b.ends:
			return 1
		}
		return a.allocated.compare(b.allocated)
	})
	var last *lifetime
	for i := range blocks {
		next := &blocks[i]
		if !next.ends && i < len(blocks)-1 {
			next.begins = false // its release is lost
			continue
		}
		if last != nil {
			follow(last, next)
		}
		last = next
	}
}

// follow makes a block begin after the one before it has ended.
func follow(before, next *lifetime) {
	if before.released.compare(next.allocated) < 0 {
		return
	}
	earlier := next.allocated.before()
	if before.released.time.tick() > next.allocated.time.tick() && before.allocated.compare(earlier) < 0 {
		before.released = earlier
		return
	}
	next.allocated = before.released.after()
	if next.ends && next.released.compare(next.allocated) <= 0 {
		next.released = next.allocated.after()
	}
}
