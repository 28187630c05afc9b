package rowkey

import (
	"bytes"
	"cmp"
	"slices"
)

// Position is a position in a plan: rows that are compared from it on agree before it.
type Position struct {
	Segment int
	// Word is the number of the next word of the segment; the tail comes after the last.
	Word int
}

// Compare returns a negative number if row a comes before row b, zero if their keys are
// equal, and a positive number otherwise. It compares from a position on.
func (h *Host) Compare(a, b int, from Position) int { return h.CompareWith(a, h, b, from) }

// CompareWith is Compare for a row of h and a row of another encoder. Both plans have equal
// segments.
func (h *Host) CompareWith(a int, other *Host, b int, from Position) int {
	for ; from.Segment < len(h.plan.Segments); from = (Position{from.Segment + 1, 0}) {
		s := &h.plan.Segments[from.Segment]
		for word := from.Word; word < s.Words(); word++ {
			if order := cmp.Compare(h.Word(from.Segment, word, a), other.Word(from.Segment, word, b)); order != 0 {
				return order
			}
		}
		if s.Tail != nil {
			if order := h.compareTails(s.Tail, a, other, b); order != 0 {
				return order
			}
		}
	}
	return 0
}

// compareTails compares the strings or lists of rows. Their nulls agree.
func (h *Host) compareTails(t *Tail, a int, other *Host, b int) (order int) {
	l, m := &h.leaves[t.Source], &other.leaves[t.Source]
	if l.Nullable && l.isNull(a) {
		return 0
	}
	if l.Storage == Symbols {
		order = slices.Compare(l.symbols(a), m.symbols(b))
	} else {
		order = bytes.Compare(l.bytes(a), m.bytes(b))
	}
	if l.Descending {
		return -order
	}
	return order
}
