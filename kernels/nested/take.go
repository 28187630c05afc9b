package nested

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Take is the list of the elements of a list at positions, which are a list of integers. The first element has
// position 0; a negative one counts from the end. An element that does not exist is null, as all are of a null
// list. The result is null where the positions are.
func Take(list, positions expr.Expr) expr.Expr { return expr.Apply(take{}, list, positions) }

type take struct{}

func (take) Name() string { return "list_take" }

func (take) Result(operands []arrow.DataType) (arrow.DataType, error) {
	element, err := elementsOf(operands[0])
	if err != nil {
		return nil, err
	}
	position, err := elementsOf(operands[1])
	if err != nil {
		return nil, err
	}
	if !arrow.IsInteger(position.Type.ID()) {
		return nil, fmt.Errorf("the positions are %v, expected integers: %w", render.TypeName(position.Type), expr.ErrType)
	}
	return listOf(operands[1], element.Type)
}

func (take) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operands...)
	if err != nil {
		return nil, err
	}
	l, err := listsOf(&call, operands[0])
	if err != nil {
		return nil, err
	}
	positions, err := listsOf(&call, operands[1])
	if err != nil {
		return nil, err
	}
	own, err := newSpans(&call, &l, every, 0, 0)
	if err != nil {
		return nil, err
	}
	s, err := newSpans(&call, &positions, every, 0, 0)
	if err != nil {
		return nil, errors.Join(err, own.Release())
	}
	taken, err := s.take(&call, &l, &positions, own)
	return release.OnError(taken, err, s.Release(), own.Release())
}

// take makes lists, as long as those of the positions, of the elements of l, whose spans are own.
func (s *spans) take(call *op.Call, l, positions *lists, own *spans) (*column.Column, error) {
	if err := s.sum(call); err != nil {
		return nil, err
	}
	places, err := s.placesAt(call, l, positions, own)
	if err != nil {
		return nil, err
	}
	elements, err := selection.TakeColumnWith(call.Context(), l.elements, places, selection.TakeOptions{Options: resultOptions(call), Bounds: selection.Null})
	if elements, err = release.OnError(elements, err, places.Release()); err != nil {
		return nil, err
	}
	listed, err := s.listsOf(call, positions, elements)
	return release.OnError(listed, err, elements.Release())
}

// placesAt returns the place of the element at each position, or none.
func (s *spans) placesAt(call *op.Call, l, positions *lists, own *spans) (places *column.Column, err error) {
	var columns []*column.Column
	var parents *column.Column
	defer func() {
		err = errors.Join(err, parents.Release(), release.All(columns))
	}()
	position, err := s.gather(call, positions, every)
	if err != nil {
		return nil, err
	}
	columns = append(columns, position)
	begins, beginsErr := selection.RowNumbers(own.begins, l.column.RowCount())
	counts, countsErr := selection.RowNumbers(own.counts, l.column.RowCount())
	defer func() { err = errors.Join(err, begins.Release(), counts.Release()) }()
	if err := errors.Join(beginsErr, countsErr); err != nil {
		return nil, err
	}
	for _, c := range []*column.Column{begins, counts} {
		repeated, err := s.repeated(call, c, &parents)
		if err != nil {
			return nil, err
		}
		columns = append(columns, repeated)
	}
	table, err := op.TableOf(placeNames[:], columns, buffer.Rows{Count: int64(s.total), Manager: call.Manager})
	if err != nil {
		return nil, err
	}
	computed, err := expr.Evaluate(call.Context(), table, []expr.Expr{placeOfPosition()}, scratch(call))
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(computed))
	}
	return computed[0], nil
}

// placeNames are the columns that placeOfPosition reads.
var placeNames = [...]string{"position", "begin", "count"}

// placeOfPosition is the place of an element among all elements, or none.
func placeOfPosition() expr.Expr {
	int64s := func(i int) expr.Expr { return expr.Col(placeNames[i]).Cast(arrow.PrimitiveTypes.Int64) }
	position, begin, count := int64s(0), int64s(1), int64s(2)
	zero := expr.Lit(int64(0))
	fromStart := expr.If(position.Lt(zero), position.Add(count), position)
	exists := fromStart.Ge(zero).And(fromStart.Lt(count))
	return expr.If(exists, begin.Add(fromStart), expr.Lit(int64(none)))
}
