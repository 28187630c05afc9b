package rowgroups

import (
	"github.com/apache/arrow/go/v17/arrow"
)

// span is a range of elements of an array.
type span struct{ from, end int }

// part is an array with the values of a column chunk: those in spans, or without spans those that are not null.
type part struct {
	arrow.Array
	spans []span
}

func partsOf(arrays []arrow.Array) []part {
	parts := make([]part, len(arrays))
	for i, a := range arrays {
		parts[i] = part{Array: a}
	}
	return parts
}

// isWhole reports whether every element of the array is a value.
func (p part) isWhole() bool { return p.spans == nil && p.NullN() == 0 }

// eachRun calls f for ranges of values, in order.
func (p part) eachRun(f func(from, end int)) {
	if p.spans == nil {
		eachRun(p.Array, f)
		return
	}
	for _, s := range p.spans {
		f(s.from, s.end)
	}
}

// extent returns the range from the first element to the last one.
func (p part) extent() span {
	if p.spans == nil {
		return span{0, p.Len()}
	}
	return span{p.spans[0].from, p.spans[len(p.spans)-1].end}
}
