package nested

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Length is the number of elements of a list, as int64, nulls among them included.
func Length(e expr.Expr) expr.Expr { return expr.Apply(length{}, e) }

// Get is an element of a list. The first one has index 0; a negative index counts from the
// end. It is null if the list has no such element.
func Get(e expr.Expr, index int) expr.Expr { return expr.Apply(get{index}, e) }

// Slice is a part of a list: at most most elements from element from on, which counts from
// the end if it is negative. A list of a fixed size becomes one with 4-byte offsets.
func Slice(e expr.Expr, from, most int) expr.Expr { return expr.Apply(slice{from, most}, e) }

// Contains is whether an element of a list equals a value, which is that of expr.Lit. It is
// null only if the list is.
func Contains(e expr.Expr, value any) expr.Expr { return expr.Apply(contains{value}, e) }

// Sort is a list with its elements in order, as kernels/order has it.
func Sort(e expr.Expr, options SortOptions) expr.Expr { return expr.Apply(sort{options}, e) }

// SortOptions are the direction of [Sort]. The zero value is ascending with nulls last.
type SortOptions struct{ Descending, NullsFirst bool }

// withLists runs an operator on lists.
func withLists[Result any](ctx context.Context, c *column.Column, options kernels.Options, run func(call *op.Call, l *lists) (Result, error)) (Result, error) {
	var none Result
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return none, err
	}
	l, err := listsOf(&call, c)
	if err != nil {
		return none, err
	}
	return run(&call, &l)
}

type length struct{}

func (length) Name() string { return "list_length" }

func (length) Result(operands []arrow.DataType) (arrow.DataType, error) {
	_, err := elementsOf(operands[0])
	return arrow.PrimitiveTypes.Int64, err
}

func (length) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, l *lists) (*column.Column, error) {
		return l.fold(call, foldLength, arrow.PrimitiveTypes.Int64, values{})
	})
}

type get struct{ index int }

func (g get) Name() string { return fmt.Sprintf("list_get[%d]", g.index) }

func (get) Result(operands []arrow.DataType) (arrow.DataType, error) {
	element, err := elementsOf(operands[0])
	return element.Type, err
}

func (g get) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, l *lists) (*column.Column, error) {
		s, err := newSpans(call, l, single, int64(g.index), 0)
		if err != nil {
			return nil, err
		}
		places, err := selection.RowNumbers(s.begins, l.column.RowCount())
		if err != nil {
			return nil, errors.Join(err, s.Release())
		}
		picked, err := selection.TakeColumnWith(ctx, l.elements, places, selection.TakeOptions{Options: resultOptions(call), Bounds: selection.Null})
		return release.OnError(picked, err, places.Release(), s.Release())
	})
}

type slice struct{ from, most int }

func (s slice) Name() string { return fmt.Sprintf("list_slice[%d, %d]", s.from, s.most) }

func (s slice) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if s.most < 0 {
		return nil, fmt.Errorf("at most %d elements, expected zero or more: %w", s.most, expr.ErrLiteral)
	}
	return listLike(operands[0])
}

// listLike returns the type of lists of other lengths.
func listLike(t arrow.DataType) (arrow.DataType, error) {
	element, err := elementsOf(t)
	if err != nil {
		return nil, err
	}
	switch storage := layout.Storage(t); storage.ID() {
	case arrow.LIST, arrow.LARGE_LIST, arrow.MAP:
		return storage, nil
	case arrow.LARGE_LIST_VIEW:
		return arrow.LargeListOfField(element), nil
	}
	return arrow.ListOfField(element), nil
}

func (s slice) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, l *lists) (*column.Column, error) {
		wanted, err := newSpans(call, l, part, int64(s.from), int64(s.most))
		if err != nil {
			return nil, err
		}
		sliced, err := wanted.copied(call, l, part)
		return release.OnError(sliced, err, wanted.Release())
	})
}

// copied returns lists of the elements.
func (s *spans) copied(call *op.Call, l *lists, f form) (*column.Column, error) {
	t, err := listLike(l.column.Type())
	if err == nil {
		err = s.sum(call)
	}
	if err != nil {
		return nil, err
	}
	elements, err := s.gather(call, l, f)
	if err != nil {
		return nil, err
	}
	listed, err := s.list(call, l, t, elements)
	return release.OnError(listed, err, elements.Release())
}

type contains struct{ value any }

func (contains) Name() string { return "list_contains" }

func (c contains) Result(operands []arrow.DataType) (arrow.DataType, error) {
	element, err := elementsOf(operands[0])
	if err == nil {
		_, _, err = c.test().Type(elementSchema(element.Type))
	}
	return arrow.FixedWidthTypes.Boolean, err
}

// test is the comparison of an element with the value.
func (c contains) test() expr.Expr {
	if c.value == nil {
		return expr.Col(elementName).IsNull()
	}
	return expr.Col(elementName).Eq(expr.Lit(c.value))
}

const elementName = "element"

func elementSchema(t arrow.DataType) *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: elementName, Type: t, Nullable: true}}, nil)
}

func (c contains) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, l *lists) (*column.Column, error) {
		truths, err := evaluate(call, l.elements, c.test())
		if err != nil {
			return nil, err
		}
		v, err := valuesOf(call, truths)
		if err != nil {
			return nil, errors.Join(err, truths.Release())
		}
		contained, err := l.fold(call, foldContains, arrow.FixedWidthTypes.Boolean, v)
		return release.OnError(contained, err, truths.Release())
	})
}

// evaluate computes an expression of the column elementName.
func evaluate(call *op.Call, elements *column.Column, e expr.Expr) (*column.Column, error) {
	table, err := buffer.New(elementSchema(elements.Type()), []*column.Column{elements}, buffer.Rows{Count: int64(elements.Len()), Manager: call.Manager})
	if err != nil {
		return nil, err
	}
	values, err := expr.Evaluate(call.Context(), table, []expr.Expr{e}, scratch(call))
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(values))
	}
	return values[0], nil
}

type sort struct{ options SortOptions }

func (sort) Name() string { return "list_sort" }

func (sort) Result(operands []arrow.DataType) (arrow.DataType, error) { return listLike(operands[0]) }

func (o sort) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, l *lists) (*column.Column, error) {
		s, err := newSpans(call, l, every, 0, 0)
		if err != nil {
			return nil, err
		}
		sorted, err := o.sort(call, l, s)
		return release.OnError(sorted, err, s.Release())
	})
}

// sort sorts the elements by their rows and then by value.
func (o sort) sort(call *op.Call, l *lists, s *spans) (*column.Column, error) {
	if err := s.sum(call); err != nil {
		return nil, err
	}
	t, err := listLike(l.column.Type())
	if err != nil {
		return nil, err
	}
	elements, err := s.gather(call, l, every)
	if err != nil {
		return nil, err
	}
	sorted, err := o.elements(call, s, elements)
	if err != nil {
		return nil, errors.Join(err, elements.Release())
	}
	listed, err := s.list(call, l, t, sorted)
	return release.OnError(listed, err, elements.Release(), sorted.Release())
}

func (o sort) elements(call *op.Call, s *spans, elements *column.Column) (*column.Column, error) {
	table, err := s.withRows(call, elements)
	if err != nil {
		return nil, err
	}
	keys := []order.Key{{Column: rowColumn}, {Column: elementName, Descending: o.options.Descending, NullsFirst: o.options.NullsFirst}}
	sorted, err := order.Sort(call.Context(), table, keys, resultOptions(call))
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, sorted.Release())
	}
	first := sorted.Column(0)
	return release.OnError(first, first.Retain(), sorted.Release())
}
