package nested

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Flatten is the list of the elements of the lists in a list. Null ones among these have no elements. It is null if
// the outer list is.
func Flatten(e expr.Expr) expr.Expr {
	v := DefaultVariables
	elements := Fold(Eval(e, Length(expr.Col(v.Element)), v), Sum)
	lengths := expr.If(elements.IsNull(), expr.Lit(int64(0)), elements)
	return expr.Apply(flatten{}, e, expr.If(e.IsNull(), expr.Null(arrow.PrimitiveTypes.Int64), lengths))
}

// flatten makes lists of the elements of the lists in its first operand, of the lengths that the second one has.
type flatten struct{}

func (flatten) Name() string { return "list_flatten" }

func (flatten) Result(operands []arrow.DataType) (arrow.DataType, error) {
	inner, err := elementsOf(operands[0])
	if err != nil {
		return nil, err
	}
	element, err := elementsOf(inner.Type)
	if err != nil {
		return nil, err
	}
	return listOf(operands[0], element.Type)
}

func (flatten) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return withLists(ctx, operands[0], options, func(call *op.Call, l *lists) (*column.Column, error) {
		outer, inner, err := l.all(call)
		if err != nil {
			return nil, err
		}
		elements, err := elementsOfAll(call, inner)
		if elements, err = release.OnError(elements, err, outer.Release(), inner.Release()); err != nil {
			return nil, err
		}
		flat, err := listsOfLengths(call, l, operands[1], elements)
		return release.OnError(flat, err, elements.Release())
	})
}

// elementsOfAll returns the elements of lists, one list behind the other.
func elementsOfAll(call *op.Call, c *column.Column) (*column.Column, error) {
	l, err := listsOf(call, c)
	if err != nil {
		return nil, err
	}
	s, elements, err := l.all(call)
	if err != nil {
		return nil, err
	}
	return release.OnError(elements, s.Release())
}

// listsOfLengths returns lists, null where those of l are, of lengths with elements one list behind the other.
func listsOfLengths(call *op.Call, l *lists, lengths, elements *column.Column) (*column.Column, error) {
	in, err := call.View(lengths)
	if err != nil {
		return nil, err
	}
	s, err := newSequenceSpans(call, in)
	if err != nil {
		return nil, err
	}
	if err := s.sum(call); err != nil {
		return nil, errors.Join(err, s.Release())
	}
	listed, err := s.listsOf(call, l, elements)
	return release.OnError(listed, err, s.Release())
}
