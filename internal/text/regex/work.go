package regex

// work is the change of the registers by a transition: first it keeps those of the thread
// that matches, then the threads of the next state take those of their predecessors.
type work struct {
	matched bool
	match   leaf
	threads []leaf
}

// words returns the work in the form of [Program.Work]:
//
//	match       1 + the number of the thread that matches, 0 without a match; 0xffff if
//	            the match begins here
//	sets        only with a match: the registers of the match that are set, as bits, a word for
//	            each 16 registers of a thread
//	moves       their number, and for each the register to and from
//	sets        their number, and for each the register that gets the position
//	clears      their number, and for each the register that gets None
//
// Or nothing, if the registers stay as they are. Registers are numbered by thread: thread t
// begins at t · PerThread. The threads of the next state are in the order of their
// predecessors, so moves to lower numbers in ascending order, and then those to higher
// numbers in descending order, overwrite nothing that is still needed.
func (w *work) words(perThread int) []uint16 {
	if perThread == 0 {
		return nil
	}
	var words, moves, sets, clears []uint16
	if w.matched {
		thread := uint16(w.match.thread + 1)
		if w.match.fresh {
			thread = fresh
		}
		words = append(words, thread)
		for register := 0; register < perThread; register += setsBits {
			words = append(words, uint16(w.match.sets>>register))
		}
	} else {
		words = append(words, 0)
	}
	move := func(to int) {
		l := w.threads[to]
		for register := range perThread {
			if l.sets>>register&1 == 0 {
				moves = append(moves, uint16(to*perThread+register), uint16(int(l.thread)*perThread+register))
			}
		}
	}
	for to, l := range w.threads {
		if !l.fresh && int(l.thread) > to {
			move(to)
		}
	}
	for to := len(w.threads) - 1; to >= 0; to-- {
		if l := w.threads[to]; !l.fresh && int(l.thread) < to {
			move(to)
		}
	}
	for to, l := range w.threads {
		for register := range perThread {
			switch {
			case l.sets>>register&1 != 0:
				sets = append(sets, uint16(to*perThread+register))
			case l.fresh:
				clears = append(clears, uint16(to*perThread+register))
			}
		}
	}
	if !w.matched && len(moves)+len(sets)+len(clears) == 0 {
		return nil
	}
	words = append(append(words, uint16(len(moves)/2)), moves...)
	words = append(append(words, uint16(len(sets))), sets...)
	return append(append(words, uint16(len(clears))), clears...)
}

// setsBits is the number of registers in a word of those that a match sets.
const setsBits = 16

// fresh is the number of a thread that begins where it matches.
const fresh = 0xffff
