package plan

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
)

// Slice yields consecutive rows of its input.
type Slice struct {
	single
	offset, length int64
}

// NewSlice makes a slice of rows from an offset on. A negative offset counts from the end,
// as for the last rows. The length is All for all that follow.
func NewSlice(input Node, offset, length int64) (*Slice, error) {
	if length < All {
		return nil, fmt.Errorf("the number of rows is %d, expected zero or more: %w", length, device.ErrInvalidValue)
	}
	return &Slice{singleOf(input, input.Schema()), offset, length}, nil
}

// Offset returns the number of rows before the slice. If it is negative, it is minus the
// number of rows from the beginning of the slice to the end.
func (s *Slice) Offset() int64 { return s.offset }

// Length returns the largest number of rows, or All.
func (s *Slice) Length() int64 { return s.length }

// End returns the number of rows of the input that the slice needs from its beginning, or
// All.
func (s *Slice) End() int64 {
	if s.offset < 0 || s.length == All || s.offset+s.length < s.offset {
		return All
	}
	return s.offset + s.length
}

// WithInputs implements [Node].
func (s *Slice) WithInputs(inputs ...Node) (Node, error) {
	return node(NewSlice(inputs[0], s.offset, s.length))
}

// String implements [Node].
func (s *Slice) String() string {
	switch {
	case s.offset < 0:
		return fmt.Sprintf("tail %d", -s.offset)
	case s.offset == 0:
		return fmt.Sprintf("head %d", s.length)
	case s.length == All:
		return fmt.Sprintf("skip %d", s.offset)
	}
	return fmt.Sprintf("slice of %d rows after %d", s.length, s.offset)
}

// holdsRows reports whether the slice counts from the end.
func (s *Slice) holdsRows() bool { return s.offset < 0 }

func (s *Slice) estimate(_ *Analysis, first Size) Size {
	switch {
	case s.offset > 0 && first.Rows >= 0:
		first.Rows = max(first.Rows-s.offset, 0)
	case s.offset < 0 && s.offset != math.MinInt64:
		first = limited(first, -s.offset)
	}
	return limited(first, s.length)
}

func (s *Slice) isEmpty() bool { return isNothing(s.input) || s.length == 0 }

func (s *Slice) sortedBy(keys []SortKey) (bool, []SortKey) { return false, keys }

func (s *Slice) reads(wanted columnSet) []columnSet { return []columnSet{wanted} }

func (s *Slice) same(other Node) bool {
	o, ok := other.(*Slice)
	return ok && s.offset == o.offset && s.length == o.length
}

// sliced is one slice for both.
func (s *Slice) sliced(_ *limitPusher, above *Slice) (Node, error) {
	switch {
	case s.offset < 0:
		return nil, nil
	case above.offset > math.MaxInt64-s.offset:
		return node(NewSlice(s.input, 0, 0)) // no table has as many rows
	}
	return node(NewSlice(s.input, s.offset+above.offset, within(s.length, above.offset, above.length)))
}

func (s *Slice) divided(d *distribution, inputs []spread) (spread, error) {
	switch end := s.End(); {
	case inputs[0].all && end != All:
		return d.first(s, inputs[0].node, end)
	case inputs[0].all && s.offset < 0:
		return d.last(s, inputs[0].node)
	}
	return spread{}, nil
}
