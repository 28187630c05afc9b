package nested

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// Unique is a list with the first of each set of equal elements, in their order. Nulls are equal.
func Unique(e expr.Expr) expr.Expr { return expr.Apply(unique{}, e) }

type unique struct{}

func (unique) Name() string { return "list_unique" }

func (unique) Result(operands []arrow.DataType) (arrow.DataType, error) {
	element, err := elementsOf(operands[0])
	if err != nil {
		return nil, err
	}
	if err := rowkey.Check(element.Type, 0); err != nil {
		return nil, fmt.Errorf("the elements: %w: %w", err, expr.ErrType)
	}
	return listLike(operands[0])
}

// rowColumn is the column of the numbers of the rows of elements.
const rowColumn = "row"

func rowsSchema(element arrow.DataType) *arrow.Schema {
	return arrow.NewSchema(append(elementSchema(element).Fields(), arrow.Field{Name: rowColumn, Type: arrow.PrimitiveTypes.Uint32}), nil)
}

// ofEqualElements is the windows of equal elements of a row.
func ofEqualElements() window.Windows {
	return window.Windows{PartitionBy: []order.Key{{Column: rowColumn}, {Column: elementName}}}
}

func (unique) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, l *lists) (*column.Column, error) {
		s, err := newSpans(call, l, every, 0, 0)
		if err != nil {
			return nil, err
		}
		lists, err := s.unique(call, l)
		return release.OnError(lists, err, s.Release())
	})
}

func (s *spans) unique(call *op.Call, l *lists) (*column.Column, error) {
	if err := s.sum(call); err != nil {
		return nil, err
	}
	elements, err := s.gather(call, l, every)
	if err != nil {
		return nil, err
	}
	marks, err := s.firstOfEqual(call, elements)
	if err != nil {
		return nil, errors.Join(err, elements.Release())
	}
	lists, err := s.kept(call, l, elements, marks)
	return release.OnError(lists, err, elements.Release(), marks.Release())
}

// firstOfEqual returns true for the first of equal elements of a list, and null for the others.
func (s *spans) firstOfEqual(call *op.Call, elements *column.Column) (*column.Column, error) {
	table, err := s.withRows(call, elements)
	if err != nil {
		return nil, err
	}
	numbers, err := window.Over(call.Context(), table, ofEqualElements(), []window.Function{window.RowNumber()}, scratch(call))
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(numbers))
	}
	null := expr.Null(arrow.FixedWidthTypes.Boolean)
	marks, err := evaluate(call, numbers[0], expr.If(expr.Col(elementName).Eq(expr.Lit(int64(1))), expr.Lit(true), null))
	return release.OnError(marks, err, numbers[0].Release())
}

// withRows returns a table of elements and the numbers of their rows.
func (s *spans) withRows(call *op.Call, elements *column.Column) (*buffer.Buffer, error) {
	parents, err := s.parents(call)
	if err != nil {
		return nil, err
	}
	table, err := buffer.New(rowsSchema(elements.Type()), []*column.Column{elements, parents}, buffer.Rows{Count: int64(s.total), Manager: call.Manager})
	return release.OnError(table, err, parents.Release())
}
