package selection

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/hostword"
	"github.com/gpuframe/gpuframe/internal/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// order is how a source says its indices.
type order string

// The orders are named as the kernels for them end.
const (
	listed32 order = "_32"
	listed64 order = "_64"
	// ruled sources have no memory: they count.
	ruled order = "_rule"
)

// source says which row of the input each row of the output is.
type source struct {
	order order
	// indices are those of a listed source, 32 or 64 bits each. They are read
	// without their sign: a negative one is beyond every limit.
	indices column.Bytes
	// valid says which indices are not null.
	valid bits
	// last is that of a ruled source: the last so many rows in their order, or for
	// zero all rows, the last first.
	last uint64
	// limit is how many rows there are to take from. Where limitRows has memory it
	// holds their number, which counts as limit at most. Rows whose index is not
	// below become null.
	limit     uint64
	limitRows memory.Slice[int64]
	// capacity is how many rows the output has; where rows has memory, at most.
	capacity int
	rows     memory.Slice[int64]
	// once says that no row is taken twice, so that results are no longer than what
	// they are taken from, and nothing has to be waited for.
	once bool
	// nulls says that rows may be null for their index.
	nulls bool
	// bad, where it is set, takes the least row with an index out of bounds.
	bad *hostword.Word
}

// arguments appends a kernel's arguments for the source to others.
func (s *source) arguments(others ...any) []any {
	at := s.valid.at
	if s.order == ruled {
		at = s.last
	}
	bad := device.Pointer(0)
	if s.bad != nil {
		bad = s.bad.Pointer()
	}
	return append(others, s.indices, s.valid.bytes, at, s.limitRows, s.limit, s.rows, uint64(s.capacity), bad)
}

// list makes a source of a column of indices, whose bounds are still to be set.
// Narrow ones are widened.
func (g *gatherer) list(indices *column.Column) (*source, error) {
	p := whole(indices)
	l, err := layoutOf(p.data.Type)
	if err != nil {
		return nil, err
	}
	if l.Kind != layout.Fixed || l.Class != layout.Signed && l.Class != layout.Unsigned {
		return nil, fmt.Errorf("the indices are %v, they have to be integers: %w", p.data.Type, column.ErrInvalid)
	}
	s := &source{order: listed32, valid: p.valid(l), limit: math.MaxUint64, capacity: p.length, rows: indices.DeviceRows()}
	s.nulls = !s.valid.absent()
	if l.Width == 8 {
		s.order = listed64
	}
	if s.indices, err = p.values(1, l.Width, p.length); err != nil {
		return nil, err
	}
	if err := checkAligned("the indices", s.indices, l.Width); err != nil {
		return nil, err
	}
	if l.Width < 4 && p.length > 0 {
		s.indices, err = g.widen(s.indices, l.Storage.ID(), p.length)
	}
	return s, err
}

// bound sets from how many rows the source takes. What is negative when it has a
// sign is beyond the limit when it has none, also where there are more rows than
// the indices can count.
func (s *source) bound(rows uint64, counted memory.Slice[int64], indices arrow.DataType) {
	s.limit, s.limitRows = rows, counted
	if l, err := layoutOf(indices); err == nil && l.Class == layout.Signed && s.order == listed32 {
		s.limit = min(rows, 1<<31)
	}
}

// checkAligned refuses memory that a kernel cannot read elements of a width from.
// Arrow wants buffers aligned to eight bytes.
func checkAligned(what string, bytes column.Bytes, width int) error {
	if uint64(bytes.Pointer())%uint64(width) != 0 {
		return fmt.Errorf("%s begin at %v, which is not aligned to their %d bytes: copy them first: %w",
			what, bytes.Pointer(), width, column.ErrInvalid)
	}
	return nil
}
