package dlpack

import (
	"context"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/arrays/bitmap"
)

// elements are the elements that a column of numbers, or of lists of numbers, covers,
// as positions in the column of the values.
type elements struct {
	column   *column.Column
	dataType cabi.DataType
	// first is the position of the first element in the column's buffers; count is
	// the number of elements.
	first, count int
	// inner are the lengths of the lists, from the outermost on.
	inner []int64
}

// elementsOf follows the lists down to their values. It refuses nulls among the
// elements, on every level, and counts them if the null count is unknown.
func elementsOf(ctx context.Context, c *column.Column) (elements, error) {
	e := elements{column: c, first: c.Offset(), count: c.Len()}
	levels := []elements{e}
	for {
		list, ok := e.column.Type().(*arrow.FixedSizeListType)
		if !ok {
			break
		}
		if len(e.inner) == cabi.MaximumDimensions-1 {
			return e, faulty("type", "%v has more than %d dimensions: %w", c.Type(), cabi.MaximumDimensions, ErrUnsupported)
		}
		e.descend(int(list.Len()))
		e.inner = append(e.inner, int64(list.Len()))
		levels = append(levels, e)
	}
	var err error
	if e.dataType, err = toDLPack(e.column.Type()); err != nil {
		return e, err
	}
	if isComplex(e.dataType) {
		parts := e
		parts.descend(2)
		levels = append(levels, parts)
	}
	for i, level := range levels {
		field := "column" + strings.Repeat(".item", min(i, len(e.inner)))
		if i > len(e.inner) {
			field += ".parts" // parts of complex numbers
		}
		if err := level.refuseNulls(ctx, field); err != nil {
			return e, err
		}
	}
	return e, nil
}

// refuseNulls returns an error if one of the elements is null.
func (e elements) refuseNulls(ctx context.Context, field string) error {
	nulls, err := e.nulls(ctx)
	switch {
	case err != nil:
		return faulty(field, "count the nulls of %v: %w", e.column, err)
	case nulls > 0:
		return faulty(field, "%v, %d of %d elements are null: %w", e.column, nulls, e.count, ErrNulls)
	}
	return nil
}

// nulls returns the number of null elements. It waits for the device only if the null
// count is unknown.
func (e elements) nulls(ctx context.Context) (int, error) {
	known, validity := e.column.NullCount(), e.column.Buffer(0)
	if e.count == 0 || known == 0 || validity.Len() == 0 {
		return 0, nil
	}
	if known != column.UnknownNullCount && e.first == e.column.Offset() && e.count == e.column.Len() {
		return known, nil
	}
	valid, err := bitmap.Count(ctx, validity, e.first, e.count, tag)
	return e.count - valid, err
}

// descend moves from lists of one length to their items. column.New has checked that
// the child is long enough.
func (e *elements) descend(length int) {
	child := e.column.Child(0)
	e.first = child.Offset() + e.first*length
	e.count *= length
	e.column = child
}

// values returns the memory of the elements. The elements are not booleans.
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

// show returns the contents of a tensor with the given number of rows.
func (e elements) show(rows int) (contents, error) {
	shown := contents{length: rows, inner: e.inner, dataType: e.dataType, home: e.column.Manager()}
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
