package nested

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Zip is a list of structs of the elements at each position of several lists, with the names of the expressions as
// those of the fields. It is as long as the longest of them: the fields of a shorter or a null list are null
// there. It is null if the first list is null.
func Zip(expressions ...expr.Expr) expr.Expr {
	longest := expr.Lit(int64(0))
	for _, e := range expressions {
		n := Length(e)
		longest = expr.If(n.Gt(longest), n, longest)
	}
	if len(expressions) > 0 {
		longest = expr.If(expressions[0].IsNull(), expr.Null(arrow.PrimitiveTypes.Int64), longest)
	}
	positions := Sequence(longest)
	o := zip{}
	taken := make([]expr.Expr, len(expressions))
	for i, e := range expressions {
		o.names += "\x00" + e.Name()
		taken[i] = Take(e, positions)
	}
	return expr.Apply(o, taken...)
}

// zip makes structs of the elements of lists of the same lengths. It has the names of the fields as pack has them.
type zip struct{ names string }

func (zip) Name() string { return "list_zip" }

func (z zip) Result(operands []arrow.DataType) (arrow.DataType, error) {
	elements := make([]arrow.DataType, len(operands))
	for i, t := range operands {
		element, err := elementsOf(t)
		if err != nil {
			return nil, err
		}
		elements[i] = element.Type
	}
	structure, err := pack(z).Result(elements)
	if err != nil {
		return nil, err
	}
	return listOf(operands[0], structure)
}

func (z zip) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operands...)
	if err != nil {
		return nil, err
	}
	var s *spans
	var children []*column.Column
	for _, c := range operands {
		l, err := listsOf(&call, c)
		if err != nil {
			return nil, errors.Join(err, s.Release(), release.All(children))
		}
		spans, elements, err := l.all(&call)
		if err != nil {
			return nil, errors.Join(err, s.Release(), release.All(children))
		}
		children = append(children, elements)
		if s == nil {
			s = spans
			continue
		}
		if spans.total != s.total {
			err = fmt.Errorf("the lists have different lengths: %w", device.ErrInvalidValue)
		}
		if err = errors.Join(err, spans.Release()); err != nil {
			return nil, errors.Join(err, s.Release(), release.All(children))
		}
	}
	zipped, err := z.lists(&call, s, operands[0], children)
	return release.OnError(zipped, err, s.Release(), release.All(children))
}

// all returns the spans of the lists and their elements, one list behind the other.
func (l *lists) all(call *op.Call) (*spans, *column.Column, error) {
	s, err := newSpans(call, l, every, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := s.sum(call); err != nil {
		return nil, nil, errors.Join(err, s.Release())
	}
	elements, err := s.gather(call, l, every)
	if err != nil {
		return nil, nil, errors.Join(err, s.Release())
	}
	return s, elements, nil
}

// lists makes lists like the first operand's of structs of the children.
func (z zip) lists(call *op.Call, s *spans, first *column.Column, children []*column.Column) (*column.Column, error) {
	l, err := listsOf(call, first)
	if err != nil {
		return nil, err
	}
	structs, err := pack(z).Run(call.Context(), children, resultOptions(call))
	if err != nil {
		return nil, err
	}
	listed, err := s.listsOf(call, &l, structs)
	return release.OnError(listed, err, structs.Release())
}
