package group

import "slices"

// tileLaunch is the accumulators of a launch, by their numbers, with the words of a slot.
type tileLaunch struct {
	accumulators    []int
	words, extremes int
	slices          int
	// queues is set if warps put the rows of a slice into queues.
	queues bool
}

func (l *tileLaunch) slotBytes() int { return 4*l.words + 8*l.extremes }

// passes is the time of a launch, relative to a slice without queues.
func (l *tileLaunch) passes() int {
	if l.queues {
		return (l.slices + 1) / 2
	}
	return l.slices
}

// tileLayout divides accumulators into launches for a number of slots.
type tileLayout struct {
	list []accumulator
	// integers is the number of words of each sum of integers.
	integers []int
	// bins is set if sums of floats have no windows.
	bins  bool
	slots int
	// limit is the size of the slots of a block, queued that of a block with queues.
	limit, queued int
	// plain is set for accumulators that add_columns adds.
	plain []bool
	// derived is the number of a count without a word, or negative: a sum shows whether its groups have rows. derives is
	// set if there may be one.
	derived int
	derives bool
	// rowsOfOne is the most rows of a block.
	rowsOfOne int
}

// newTileLayout returns a layout for a number of slots, without accumulators yet. slotBytes is the size of the slots of a
// block, or 0 to use all of the shared memory.
func newTileLayout(t *tuning, device limits, rows, slots, slotBytes int, bins bool) *tileLayout {
	l := &tileLayout{bins: bins, slots: slots, derived: -1, derives: !t.Without.Has(derivedMarks)}
	l.limit = device.shared - tileReserve
	l.queued = l.limit - queueBytes
	if slotBytes > 0 {
		l.limit, l.queued = slotBytes, slotBytes+hotSlots*(4*windowWords)
	}
	if t.Without.Has(queues) {
		l.queued = 0
	}
	l.rowsOfOne = rowsOfBlock(device.multiprocessors, mostSlices, rows)
	return l
}

// add adds an accumulator. terms is the range of its terms, if it is a sum of integers. plain is set if add_columns adds it.
func (l *tileLayout) add(a accumulator, terms extent, plain bool) {
	l.list, l.integers, l.plain = append(l.list, a), append(l.integers, terms.words(l.rowsOfOne)), append(l.plain, plain)
}

// deriveMarks returns the number of the only count, if it only marks the groups with rows, and a sum of
// a plain column shows them too. All accumulators have to be plain: then a kernel adds them that derives marks.
func (l *tileLayout) deriveMarks() int {
	isCount := func(a accumulator) bool { return a.kind == countRows }
	i := slices.IndexFunc(l.list, isCount)
	if i < 0 || !l.list[i].marks || l.bins || slices.Contains(l.plain, false) || len(l.list) > mostReaders ||
		slices.ContainsFunc(l.list[i+1:], isCount) || !slices.ContainsFunc(l.list, func(a accumulator) bool { return a.kind == sumFloats }) {
		return -1
	}
	return i
}

// words returns the number of words of 32 and of 64 bits of an accumulator in a slot.
func (l *tileLayout) words(number int) (words, extremes int) {
	if number == l.derived {
		return 0, 0
	}
	words, extremes, _ = l.list[number].tileWords(l.bins, l.integers[number])
	return words, extremes
}

// limitOf returns the size of the slots of a block of a launch.
func (l *tileLayout) limitOf(launch tileLaunch) int {
	if launch.queues {
		return l.queued
	}
	return l.limit
}

// divide sets the slices of a launch of one accumulator, or returns false if they are too many.
func (l *tileLayout) divide(launch *tileLaunch) bool {
	launch.slices = slicesOf(l.slots, launch.slotBytes(), l.limit)
	i := launch.accumulators[0]
	if launch.slices == 1 || !l.plain[i] || l.list[i].kind == countRows {
		return launch.slices <= mostSlices
	}
	n := slicesOf(l.slots, launch.slotBytes(), l.queued-hotSlots*launch.slotBytes())
	if n > mostQueuedSlices || (l.slots-1)/n+1 > mostQueuedSlots {
		return launch.slices <= mostSlices
	}
	launch.slices, launch.queues = n, true
	return true
}

// launches divides the accumulators into launches. rest are the numbers of the others. An accumulator that
// needs slices has a separate launch.
func (l *tileLayout) launches() (launches []tileLaunch, rest []int) {
	if l.derives {
		l.derived = l.deriveMarks()
	}
	open := -1 // the launch without slices
	for i, a := range l.list {
		if i == l.derived {
			continue
		}
		launch := tileLaunch{accumulators: []int{i}}
		var ok bool
		if launch.words, launch.extremes, ok = a.tileWords(l.bins, l.integers[i]); !ok || !l.divide(&launch) {
			rest = append(rest, i)
			continue
		}
		if launch.slices > 1 {
			launches = append(launches, launch)
			continue
		}
		if open >= 0 {
			o := &launches[open]
			if len(o.accumulators) < mostReaders && slicesOf(l.slots, o.slotBytes()+launch.slotBytes(), l.limit) == 1 {
				o.accumulators = append(o.accumulators, i)
				o.words, o.extremes = o.words+launch.words, o.extremes+launch.extremes
				continue
			}
		}
		open, launches = len(launches), append(launches, launch)
	}
	if l.derived < 0 {
		return launches, rest
	}
	for i := range launches {
		if slices.ContainsFunc(launches[i].accumulators, func(number int) bool { return l.list[number].kind == sumFloats }) {
			launches[i].accumulators = append(launches[i].accumulators, l.derived)
			return launches, rest
		}
	}
	rest, l.derived = append(rest, l.derived), -1 // no sum is added by tiles
	return launches, rest
}
