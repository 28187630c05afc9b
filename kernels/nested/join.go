package nested

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Join is the strings of a list in one string, with a separator between them. Nulls are left out.
func Join(e expr.Expr, separator string) expr.Expr {
	v := DefaultVariables
	strings := Filter(e, expr.Col(v.Element).IsValid(), v)
	if separator == "" {
		return expr.Apply(join{}, strings)
	}
	// Each string gets the separator before it, and the whole loses the first one.
	strings = Eval(strings, expr.Concat(expr.Lit(separator), expr.Col(v.Element)), v)
	return expr.Apply(join{}, strings).TrimPrefix(expr.Lit(separator))
}

// join joins the strings of lists without nulls.
type join struct{}

func (join) Name() string { return "list_join" }

func (join) Result(operands []arrow.DataType) (arrow.DataType, error) {
	element, err := elementsOf(operands[0])
	if err != nil {
		return nil, err
	}
	switch element.Type.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		return element.Type, nil
	}
	return nil, fmt.Errorf("the elements are %v, expected strings: %w", render.TypeName(element.Type), expr.ErrType)
}

func (join) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, l *lists) (*column.Column, error) {
		s, err := newSpans(call, l, every, 0, 0)
		if err != nil {
			return nil, err
		}
		joined, err := s.join(call, l)
		return release.OnError(joined, err, s.Release())
	})
}

// join makes a string of the bytes of each list: its offsets are those of the first strings.
func (s *spans) join(call *op.Call, l *lists) (*column.Column, error) {
	if err := s.sum(call); err != nil {
		return nil, err
	}
	texts, err := s.gather(call, l, every)
	if err != nil {
		return nil, err
	}
	joined, err := s.joinTexts(call, l, texts)
	return release.OnError(joined, err, texts.Release())
}

func (s *spans) joinTexts(call *op.Call, l *lists, texts *column.Column) (*column.Column, error) {
	format, err := layout.Of(texts.Type())
	if err != nil {
		return nil, err
	}
	listType, number := arrow.DataType(arrow.ListOf(texts.Type())), arrow.DataType(arrow.PrimitiveTypes.Int32)
	if format.Width == 8 {
		listType, number = arrow.LargeListOf(texts.Type()), arrow.PrimitiveTypes.Int64
	}
	lists, err := s.list(call, l, listType, texts)
	if err != nil {
		return nil, err
	}
	offsets, err := s.textOffsets(call, lists, texts, number)
	if err != nil {
		return nil, errors.Join(err, lists.Release())
	}
	data := column.Data{
		Type: texts.Type(), Length: s.rows, Rows: l.column.RowCount(), NullCount: column.UnknownNullCount, Manager: call.Manager,
		Buffers: []column.Bytes{lists.Buffer(0), offsets.Buffer(1), texts.Buffer(2)},
	}
	if lists.Buffer(0).Len() == 0 {
		data.NullCount = 0
	}
	joined, err := column.New(data)
	return release.OnError(joined, err, lists.Release(), offsets.Release())
}

// textOffsets returns the offset of the first string of each list, and the end, as numbers of a type.
func (s *spans) textOffsets(call *op.Call, lists, texts *column.Column, number arrow.DataType) (*column.Column, error) {
	numbers := func(length, offset int, words column.Bytes) (*column.Column, error) {
		return column.New(column.Data{Type: number, Length: length, Offset: offset, Manager: call.Manager, Buffers: []column.Bytes{{}, words}})
	}
	places, err := numbers(s.rows+1, 0, lists.Buffer(1))
	if err != nil || s.total == 0 { // all offsets are zero
		return places, err
	}
	offsets, err := numbers(s.total+1, texts.Offset(), texts.Buffer(1))
	if err != nil {
		return nil, errors.Join(err, places.Release())
	}
	ends, err := selection.TakeColumnWith(call.Context(), offsets, places, selection.TakeOptions{Options: resultOptions(call), Bounds: selection.Trust})
	return release.OnError(ends, err, places.Release(), offsets.Release())
}
