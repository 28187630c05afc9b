package regex

import "unicode/utf8"

// Matches reports whether a text has a match.
func (p *Program) Matches(text []byte) bool {
	state, stride := uint32(p.Starts[edge]), uint32(p.Stride)
	for at := 0; at < len(text) && state > Accepting; {
		var class uint8
		if c := text[at]; c < utf8.RuneSelf {
			class = p.ASCII[c]
			at++
		} else {
			r, width := utf8.DecodeRune(text[at:])
			class = p.classOf(r)
			at += width
		}
		state = p.Transitions[state*stride+uint32(class)] & 0xffff
	}
	return p.Transitions[state*stride+stride-1]&0xffff == Accepting
}

// classOf returns the class of a character.
func (p *Program) classOf(r rune) uint8 {
	low, high := 0, len(p.RangeStarts)
	for high-low > 1 {
		if middle := low + (high-low)/2; p.RangeStarts[middle] <= uint32(r) {
			low = middle
		} else {
			high = middle
		}
	}
	return p.RangeClasses[low]
}

// Searcher searches texts for the matches of a program with positions. It is for one
// goroutine.
type Searcher struct {
	program   *Program
	registers []uint32
	// Match is the latest match: where it begins and ends, and then where the groups of
	// the options begin and end, or None.
	Match []uint32
}

// NewSearcher returns a searcher.
func (p *Program) NewSearcher() *Searcher {
	return &Searcher{p, make([]uint32, max(p.Threads*p.PerThread, 1)), make([]uint32, p.PerThread+1)}
}

// Search finds the first match of a text from a position on. The text before the position
// counts for assertions.
func (s *Searcher) Search(text []byte, from int) bool {
	p := s.program
	state, stride := uint32(p.Starts[p.before(text, from)]), uint32(p.Stride)
	matched := false
	at := from
	for at < len(text) && state != Dead {
		class, width := uint8(0), 1
		if c := text[at]; c < utf8.RuneSelf {
			class = p.ASCII[c]
		} else {
			var r rune
			r, width = utf8.DecodeRune(text[at:])
			class = p.classOf(r)
		}
		transition := p.Transitions[state*stride+uint32(class)]
		if place := transition >> 16; place != 0 && s.work(place, uint32(at)) {
			matched = true
		}
		state = transition & 0xffff
		at += width
	}
	if place := p.Transitions[state*stride+stride-1] >> 16; place != 0 && s.work(place, uint32(at)) {
		matched = true
	}
	return matched
}

// before returns the kind of the character before a position.
func (p *Program) before(text []byte, at int) kind {
	switch {
	case at == 0:
		return edge
	case text[at-1] < utf8.RuneSelf:
		return kind(p.Kinds[text[at-1]])
	}
	return other
}

// work does the work of a transition at a position, and reports whether a thread matches.
func (s *Searcher) work(place, at uint32) bool {
	words, perThread := s.program.Work[place:], s.program.PerThread
	match := words[0]
	words = words[1:]
	if match != 0 {
		sets := words
		words = words[(perThread+setsBits-1)/setsBits:]
		s.Match[1] = at
		for register := range perThread {
			value := None
			switch {
			case sets[register/setsBits]>>(register%setsBits)&1 != 0:
				value = at
			case match != fresh:
				value = s.registers[int(match-1)*perThread+register]
			}
			// The end of the match is between its beginning and the groups.
			to := register
			if register > 0 {
				to++
			}
			s.Match[to] = value
		}
	}
	n := int(words[0])
	for i := range n {
		s.registers[words[1+2*i]] = s.registers[words[2+2*i]]
	}
	words = words[1+2*n:]
	n = int(words[0])
	for i := range n {
		s.registers[words[1+i]] = at
	}
	words = words[1+n:]
	n = int(words[0])
	for i := range n {
		s.registers[words[1+i]] = None
	}
	return match != 0
}
