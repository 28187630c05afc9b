package staging

import (
	"iter"
	"sort"
)

// sequence lays runs one behind the other, so that many short ones are cut up,
// filled and waited for as one long one is.
type sequence struct {
	runs  []run
	bytes uint64
}

// alignment keeps runs from sharing a cache line, which two workers might write.
const alignment = 64

// expect makes room for so many runs where none was added yet.
func (s *sequence) expect(runs int) {
	if s.runs == nil {
		s.runs = make([]run, 0, runs)
	}
}

func (s *sequence) add(r run) {
	r.start = roundUp(s.bytes, alignment)
	s.bytes = r.end()
	s.runs = append(s.runs, r)
}

// stretch is what some part of a sequence holds of one run.
type stretch struct {
	*run
	// offset is where it begins in the run's span.
	offset, bytes uint64
	// at is where it lies in the part of the sequence.
	at uint64
}

// within returns what lies in the sequence from a position on.
func (s *sequence) within(position, bytes uint64) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		end := position + bytes
		i := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].end() > position })
		for ; i < len(s.runs) && s.runs[i].start < end; i++ {
			r := &s.runs[i]
			from, to := max(r.start, position), min(r.end(), end)
			if !yield(stretch{run: r, offset: r.from + from - r.start, bytes: to - from, at: from - position}) {
				return
			}
		}
	}
}

// gather writes what lies from a position on into destination.
func (s *sequence) gather(destination []byte, position uint64, move func(destination, source []byte) int) {
	for each := range s.within(position, uint64(len(destination))) {
		each.gather(destination[each.at:each.at+each.bytes], each.offset, move)
	}
}

// scatter copies what lies from a position on to the pieces it belongs to.
func (s *sequence) scatter(source []byte, position uint64) {
	for each := range s.within(position, uint64(len(source))) {
		each.scatter(source[each.at:each.at+each.bytes], each.offset)
	}
}

// roundUp rounds up to a multiple of a power of two.
func roundUp(value, multiple uint64) uint64 { return (value + multiple - 1) &^ (multiple - 1) }
