package share

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/column"
)

// span is a run of elements, bits or bytes, by position in a buffer.
type span struct{ from, length int }

func (s span) end() int { return s.from + s.length }

// scaled returns the span of elements that consist of n parts each.
func (s span) scaled(n int) span { return span{from: s.from * n, length: s.length * n} }

// total returns the sum of the lengths.
func total(spans []span) (n int) {
	for _, s := range spans {
		n += s.length
	}
	return n
}

// scaled adds by to each span and then scales it.
func scaled(spans []span, by, n int) []span {
	moved := make([]span, 0, len(spans))
	for _, s := range spans {
		s.from += by
		moved = append(moved, s.scaled(n))
	}
	return moved
}

// joined drops empty spans and joins adjacent ones. It keeps their order.
func joined(spans []span) []span {
	var result []span
	for _, s := range spans {
		switch last := len(result) - 1; {
		case s.length == 0:
		case last >= 0 && result[last].end() == s.from:
			result[last].length += s.length
		default:
			result = append(result, s)
		}
	}
	return result
}

// united returns the union of the spans, in ascending order and without overlaps.
func united(spans []span) []span {
	spans = slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return s.length == 0 })
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var result []span
	for _, s := range spans {
		if last := len(result) - 1; last >= 0 && s.from <= result[last].end() {
			result[last].length = max(result[last].length, s.end()-result[last].from)
			continue
		}
		result = append(result, s)
	}
	return result
}

// placer maps positions in a buffer to positions in a copy that consists of the united
// spans only.
type placer struct {
	spans  []span
	places []int // the start of each span in the copy
}

func placerOf(spans []span) placer {
	p := placer{spans: spans}
	place := 0
	for _, s := range spans {
		p.places = append(p.places, place)
		place += s.length
	}
	return p
}

// place returns the position in the copy. One of the spans must contain the given
// position.
func (p placer) place(position int) int {
	i, exact := slices.BinarySearchFunc(p.spans, position, func(s span, position int) int { return cmp.Compare(s.from, position) })
	if !exact {
		i-- // the span that begins before
	}
	return p.places[i] + position - p.spans[i].from
}

// within returns an error if the span exceeds n elements.
func (s span) within(n int) error {
	if s.from < 0 || s.length < 0 || s.from > n || s.length > n-s.from {
		return fmt.Errorf("elements %d to %d of %d: %w", s.from, s.from+s.length, n, column.ErrInvalid)
	}
	return nil
}
