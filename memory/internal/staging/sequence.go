package staging

import (
	"iter"
	"sort"
)

// sequence concatenates sections, so that many short ones are divided, filled and waited
// for like one long section.
type sequence struct {
	sections []section
	bytes    uint64
}

// alignment keeps two sections out of the same cache line, because two workers might write
// them.
const alignment = 64

// expect allocates capacity for the given number of sections if none was added yet.
func (s *sequence) expect(sections int) {
	if s.sections == nil {
		s.sections = make([]section, 0, sections)
	}
}

func (s *sequence) add(r section) {
	r.start = roundUp(s.bytes, alignment)
	s.bytes = r.end()
	s.sections = append(s.sections, r)
}

// stretch is the intersection of one section with a range of the sequence.
type stretch struct {
	*section
	// offset is the offset of the stretch in the section's span.
	offset, bytes uint64
	// at is the offset of the stretch in the range of the sequence.
	at uint64
}

// within returns the stretches in the given range of the sequence.
func (s *sequence) within(position, bytes uint64) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		end := position + bytes
		i := sort.Search(len(s.sections), func(i int) bool { return s.sections[i].end() > position })
		for ; i < len(s.sections) && s.sections[i].start < end; i++ {
			r := &s.sections[i]
			from, to := max(r.start, position), min(r.end(), end)
			if !yield(stretch{section: r, offset: r.from + from - r.start, bytes: to - from, at: from - position}) {
				return
			}
		}
	}
}

// gather writes the sequence's bytes, starting at position, into destination.
func (s *sequence) gather(destination []byte, position uint64, move func(destination, source []byte) int) {
	for each := range s.within(position, uint64(len(destination))) {
		each.gather(destination[each.at:each.at+each.bytes], each.offset, move)
	}
}

// scatter copies the sequence's bytes, starting at position, from source to the pieces.
func (s *sequence) scatter(source []byte, position uint64) {
	for each := range s.within(position, uint64(len(source))) {
		each.scatter(source[each.at:each.at+each.bytes], each.offset)
	}
}

// roundUp rounds up to a multiple of a power of two.
func roundUp(value, multiple uint64) uint64 { return (value + multiple - 1) &^ (multiple - 1) }
