package selection

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/driver/hostword"
	"github.com/gpuframe/gpuframe/memory"
)

// order is the form in which a source stores its indices.
type order int

const (
	listed32 order = iota
	listed64
	// ruled sources have no indices in memory: the kernels compute them.
	ruled
)

// wide is the argument that distinguishes indices of 64 bits, or a rule, from indices of
// 32 bits.
func (o order) wide() uint32 {
	if o == listed32 {
		return 0
	}
	return 1
}

// bits returns the size of the indices in the names of kernels. The kernels for indices
// of 64 bits take a rule too.
func (o order) bits() string {
	if o == listed32 {
		return "_32"
	}
	return "_64"
}

// source maps each row of the output to a row of the input.
type source struct {
	order order
	// indices are those of a listed source, 32 or 64 bits each. They are read as
	// unsigned, so a negative index is beyond every limit.
	indices column.Bytes
	// valid is the validity of the indices.
	valid bits
	// last belongs to a ruled source: it selects the last rows, last of them, in order.
	// If last is zero the source selects all rows in reverse order.
	last uint64
	// limit is the number of input rows. If limitRows has memory it holds the number,
	// and limit is its maximum. Rows with an index that is not below the limit become
	// null.
	limit     uint64
	limitRows memory.Slice[int64]
	// capacity is the number of output rows, or their maximum if rows has memory.
	capacity int
	rows     memory.Slice[int64]
	// once means that no row is taken twice. Results are then no longer than the input,
	// so their sizes need no wait. exact waits for them nevertheless, to allocate no
	// more than the result has.
	once, exact bool
	// nulls means that rows may become null because of their index.
	nulls bool
	// bad receives the first row with an index out of bounds, if bad is set.
	bad *hostword.Word
}

// anyArguments is arguments for the kernels that take sources of any form.
func (s *source) anyArguments(others ...any) []any {
	return s.arguments(append(others, s.order.wide())...)
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

// list returns a source for a column of indices. Narrow indices are widened. The caller
// sets the bounds.
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

// bound sets the number of input rows. A negative index, read as unsigned, must be
// beyond the limit even if the input has more rows than the indices can count.
func (s *source) bound(rows uint64, counted memory.Slice[int64], indices arrow.DataType) {
	s.limit, s.limitRows = rows, counted
	if l, err := layoutOf(indices); err == nil && l.Class == layout.Signed && s.order == listed32 {
		s.limit = min(rows, 1<<31)
	}
}

// checkAligned returns an error if a kernel cannot read elements of a width at this
// address. Arrow requires buffers aligned to eight bytes.
func checkAligned(what string, bytes column.Bytes, width int) error {
	if uint64(bytes.Pointer())%uint64(width) != 0 {
		return fmt.Errorf("%s begin at %v, which is not aligned to their %d bytes: copy them first: %w",
			what, bytes.Pointer(), width, column.ErrInvalid)
	}
	return nil
}
