package dlpack

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// form is the result of an import.
type form uint8

const (
	// oneColumn: a column with the tensor's rows.
	oneColumn form = iota
	// manyColumns: a column for each column of the tensor.
	manyColumns
)

// mostColumns bounds the number of columns of one matrix. A shape costs its producer
// nothing, but a column costs a few hundred bytes.
const mostColumns = 1 << 20

// placement describes the positions of a tensor's elements, in elements.
type placement struct {
	// length is the number of rows, inner the lengths of the lists in a row.
	length int
	inner  []int64
	// extent is the distance from the first element to the end of the last.
	extent uint64
	// columns of a matrix begin distance elements apart.
	columns  int
	distance uint64
}

// vector writes the placement of the most frequent tensor, one dimension without gaps.
// It leaves all other tensors to examine.
func (p *placement) vector(t *cabi.Tensor) bool {
	if t.NDim != 1 || t.Shape == 0 || (t.Shape|t.Strides)%8 != 0 || t.Strides != 0 && at(t.Strides, 0) != 1 {
		return false
	}
	length := at(t.Shape, 0) // read once, so that the checked value is the used value
	p.length, p.extent = int(length), uint64(length)
	return length >= 0
}

// examine writes the placement of any tensor, or returns an error about it.
func (p *placement) examine(t *cabi.Tensor, as form) error {
	var d dimensions
	if err := d.read(t); err != nil {
		return err
	}
	if as == manyColumns {
		return d.matrix(p)
	}
	return d.rows(p)
}

// dimensions are a copy of a tensor's dimensions.
type dimensions struct {
	n              int
	shape, strides [cabi.MaximumDimensions]int64
	// strided reports whether strides are set. Without strides the elements are in
	// row-major order. DLPack 1.2 and later require strides, but their absence keeps
	// that meaning.
	strided bool
	// count is the number of elements.
	count uint64
}

// read copies the dimensions, because checked values must not change, and counts the
// elements.
func (d *dimensions) read(t *cabi.Tensor) error {
	switch {
	case t.NDim < 0:
		return faulty("ndim", "%d, expected zero or more: %w", t.NDim, ErrInvalid)
	case t.NDim > cabi.MaximumDimensions:
		return faulty("ndim", "%d, expected at most %d: reshape the tensor first: %w", t.NDim, cabi.MaximumDimensions, ErrUnsupported)
	case t.NDim > 0 && t.Shape == 0:
		return faulty("shape", "NULL, expected the lengths of the dimensions: %w", ErrInvalid)
	case t.NDim > 0 && t.Shape%8 != 0:
		return faulty("shape", "%#x is not aligned to 8 bytes: %w", t.Shape, ErrInvalid)
	case t.NDim > 0 && t.Strides%8 != 0:
		return faulty("strides", "%#x is not aligned to 8 bytes: %w", t.Strides, ErrInvalid)
	}
	d.n, d.strided, d.count = int(t.NDim), t.Strides != 0, 1
	empty, overflow := false, -1
	for i := range d.n {
		length := at(t.Shape, i)
		if length < 0 {
			return faulty(indexed("shape", i), "%d, expected zero or more: %w", length, ErrInvalid)
		}
		d.shape[i] = length
		if d.strided {
			d.strides[i] = at(t.Strides, i)
		}
		empty = empty || length == 0
		high, count := bits.Mul64(d.count, uint64(length))
		if (high != 0 || count > math.MaxInt64) && overflow < 0 {
			overflow = i
		}
		d.count = count
	}
	if empty {
		d.count = 0
	} else if overflow >= 0 {
		return faulty(indexed("shape", overflow), "%v elements exceed the address space: %w", slices.Clone(d.shape[:d.n]), ErrInvalid)
	}
	return nil
}

func at(array uintptr, i int) int64 {
	return *(*int64)(address.Pointer(array + 8*uintptr(i)))
}

func indexed(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// rows writes the placement of a column in row-major order without gaps. A tensor
// without dimensions is one row.
func (d *dimensions) rows(p *placement) error {
	p.length, p.extent = 1, d.count
	if d.n > 0 {
		p.length = int(d.shape[0])
	}
	if d.n > 1 {
		p.inner = make([]int64, d.n-1)
		copy(p.inner, d.shape[1:d.n])
	}
	for i, length := range p.inner {
		if length == 0 || length > math.MaxInt32 {
			return faulty(indexed("shape", i+1), "%d, expected 1 to %d, the lengths of Arrow's fixed-size lists: %w", length, math.MaxInt32, ErrUnsupported)
		}
	}
	if !d.strided || d.count == 0 {
		return nil
	}
	compact := int64(1)
	for i := d.n - 1; i >= 0; i-- {
		if d.shape[i] != 1 && d.strides[i] != compact {
			return d.notCompact(i, compact)
		}
		compact *= d.shape[i]
	}
	return nil
}

func (d *dimensions) notCompact(i int, compact int64) error {
	if d.n == 1 {
		return faulty("strides[0]", "%d: expected contiguous elements: make the tensor contiguous first: %w", d.strides[0], ErrUnsupported)
	}
	return faulty(indexed("strides", i),
		"%d where rows without gaps have %d: make the tensor contiguous first, or use ImportMatrix for columns that each lie contiguously: %w",
		d.strides[i], compact, ErrUnsupported)
}

// matrix writes the placement of columns, each of which has no gaps.
func (d *dimensions) matrix(p *placement) error {
	if d.n != 2 {
		return faulty("ndim", "%d, expected 2: use Import for other tensors: %w", d.n, ErrUnsupported)
	}
	rows, columns := d.shape[0], d.shape[1]
	if columns > mostColumns {
		return faulty("shape[1]", "%d columns, expected at most %d: use Import, which makes lists of the rows: %w", columns, mostColumns, ErrUnsupported)
	}
	p.length, p.columns = int(rows), int(columns)
	if d.count == 0 {
		return nil
	}
	within, between := columns, int64(1) // row-major order
	if d.strided {
		within, between = d.strides[0], d.strides[1]
	}
	if rows > 1 && within != 1 {
		return faulty("strides[0]",
			"%d: expected contiguous elements in each column: transpose the tensor and make it contiguous first, or use Import, which makes lists of the rows: %w",
			within, ErrUnsupported)
	}
	if columns == 1 {
		between = rows
	}
	if between < rows {
		return faulty("strides[1]", "%d: columns of %d elements would overlap: %w", between, rows, ErrUnsupported)
	}
	high, begin := bits.Mul64(uint64(columns-1), uint64(between))
	end, carry := bits.Add64(begin, uint64(rows), 0)
	if high != 0 || carry != 0 {
		return faulty("strides[1]", "%d: %d columns exceed the address space: %w", between, columns, ErrInvalid)
	}
	p.extent, p.distance = end, uint64(between)
	return nil
}
