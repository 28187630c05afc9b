package nested

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// none is the place of an element that does not exist.
const none = 1<<32 - 1

// lists is a column of lists in the form that kernels take.
type lists struct {
	column *column.Column
	// offsets begins with the offset of the first list. It is empty for lists of a fixed
	// size, and sizes for all but list views.
	offsets, sizes column.Bytes
	// width is the size of an offset, zero for lists of a fixed size. These begin at
	// element first, and have size elements each.
	width, first, size int
	// valid is the bitmap, empty if no list is null. bit is the first row's.
	valid column.Bytes
	bit   int
	// rows is the number of rows or, if counted has memory, their maximum.
	rows    int
	counted memory.Slice[int64]
	// elements is the child, borrowed.
	elements *column.Column
}

// elementsOf returns the type of the elements of lists.
func elementsOf(t arrow.DataType) (arrow.Field, error) {
	if list, ok := layout.Storage(t).(arrow.ListLikeType); ok {
		return list.ElemField(), nil
	}
	return arrow.Field{}, fmt.Errorf("%v is no list: %w", render.TypeName(t), expr.ErrType)
}

// listsOf returns a column as lists.
func listsOf(call *op.Call, c *column.Column) (l lists, err error) {
	format, err := layout.Of(c.Type())
	if err != nil {
		return l, err
	}
	l.column = c
	if l.rows, l.counted, err = c.Extent(call.Context()); err != nil {
		return l, err
	}
	switch format.Kind {
	case layout.List, layout.ListView:
		l.width = format.Width
	case layout.FixedSizeList:
		l.first, l.size = c.Offset(), int(format.Storage.(*arrow.FixedSizeListType).Len())
	default:
		return l, fmt.Errorf("%v is no list: %w", c.Type(), device.ErrNotSupported)
	}
	if l.elements = c.Child(0); int64(l.elements.Len()) >= none {
		return l, fmt.Errorf("%v has %d elements in memory, expected fewer than %d: use parts of the column: %w", c.Type(), l.elements.Len(), uint32(none), device.ErrNotSupported)
	}
	if op.Nullable(c) {
		if l.valid, l.bit, err = c.Validity(); err != nil {
			return l, err
		}
	}
	if l.width == 0 || c.Len() == 0 {
		return l, nil
	}
	more := 1
	if format.Kind == layout.ListView {
		more = 0
		if l.sizes, err = c.Buffer(2).Slice(c.Offset()*l.width, (c.Offset()+c.Len())*l.width); err != nil {
			return l, err
		}
	}
	l.offsets, err = c.Buffer(1).Slice(c.Offset()*l.width, (c.Offset()+c.Len()+more)*l.width)
	return l, err
}

// nullable reports whether a list may be null.
func (l *lists) nullable() bool { return l.valid.Len() > 0 || l.column.RowCount() != nil }
