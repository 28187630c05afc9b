package dlpack

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
)

// elements are those that a column of numbers, or of lists of them, shows, as the
// column that has their values sees them.
type elements struct {
	column   *column.Column
	dataType cabi.DataType
	// first is where they begin in the column's buffers; count is how many there
	// are.
	first, count int
	// inner are the lengths of the lists, from the outermost on.
	inner []int64
}

// elementsOf follows the lists down to what they hold, and refuses nulls
// on the way.
func elementsOf(c *column.Column) (elements, error) {
	e := elements{column: c, first: c.Offset(), count: c.Len()}
	for field := "column"; ; field += ".item" {
		if mayHaveNulls(e.column) {
			return e, faulty(field, "%v: %w", e.column, ErrNulls)
		}
		list, ok := e.column.Type().(*arrow.FixedSizeListType)
		if !ok {
			break
		}
		if len(e.inner) == cabi.MaximumDimensions-1 {
			return e, faulty("type", "%v has more than %d dimensions: %w", c.Type(), cabi.MaximumDimensions, ErrUnsupported)
		}
		e.descend(int(list.Len()))
		e.inner = append(e.inner, int64(list.Len()))
	}
	var err error
	if e.dataType, err = toDLPack(e.column.Type()); err == nil && isComplex(e.dataType) {
		if mayHaveNulls(e.column.Child(0)) {
			return e, faulty("column", "the parts of %v: %w", e.column, ErrNulls)
		}
	}
	return e, err
}

// descend goes from lists of one length to what they hold. That the child is long
// enough was checked when the column was made.
func (e *elements) descend(length int) {
	child := e.column.Child(0)
	e.first = child.Offset() + e.first*length
	e.count *= length
	e.column = child
}

// values returns the memory of the elements, which are no booleans.
func (e elements) values() (column.Bytes, error) {
	width := int(e.dataType.Bits) / 8
	if isComplex(e.dataType) {
		e.descend(2)
		width /= 2
	}
	values := e.column.Buffer(1)
	if e.count == 0 {
		return values.Slice(0, 0)
	}
	return values.Slice(e.first*width, (e.first+e.count)*width)
}

// show makes what a tensor of the elements shows of the rows of a column.
func (e elements) show(rows int) (contents, error) {
	shown := contents{length: rows, inner: e.inner, dataType: e.dataType}
	var err error
	if e.dataType == boolType && e.count > 0 {
		shown.region, err = expandedBools(e.column.Buffer(1), e.first, e.count)
		shown.copied = err == nil
		return shown, err
	}
	if shown.region, err = e.values(); err != nil {
		return contents{}, faulty("column", "%w", err)
	}
	return shown, nil
}
