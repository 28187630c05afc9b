package nested

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// WithField is a struct with another value of a field, or with a further field behind its own. A null struct stays
// null. It shares the memory of both operands.
func WithField(e expr.Expr, name string, value expr.Expr) expr.Expr {
	return expr.Apply(withField{name}, e, value)
}

type withField struct{ name string }

func (w withField) Name() string { return fmt.Sprintf("with_field[%s]", w.name) }

// fields returns the fields of the result, and the place of the one that changes.
func (w withField) fields(operands []arrow.DataType) (list []arrow.Field, at int, err error) {
	structure, ok := layout.Storage(operands[0]).(*arrow.StructType)
	if !ok {
		return nil, 0, fmt.Errorf("%v is no struct: %w", render.TypeName(operands[0]), expr.ErrType)
	}
	list = slices.Clone(structure.Fields())
	changed := arrow.Field{Name: w.name, Type: operands[1], Nullable: true}
	if at = slices.IndexFunc(list, func(f arrow.Field) bool { return f.Name == w.name }); at >= 0 {
		list[at] = changed
		return list, at, nil
	}
	return append(list, changed), len(list), nil
}

func (w withField) Result(operands []arrow.DataType) (arrow.DataType, error) {
	list, _, err := w.fields(operands)
	if err != nil {
		return nil, err
	}
	return arrow.StructOf(list...), nil
}

func (w withField) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	structs, value := operands[0], operands[1]
	list, at, err := w.fields([]arrow.DataType{structs.Type(), value.Type()})
	if err != nil {
		return nil, err
	}
	children := make([]*column.Column, len(list))
	for i := range children {
		if i == at {
			children[i], err = value, value.Retain()
		} else {
			children[i], err = structs.Child(i).SliceCapacity(structs.Offset(), structs.Len())
		}
		if err != nil {
			return nil, errors.Join(err, release.All(children[:i]))
		}
	}
	packed, err := column.New(column.Data{
		Type: arrow.StructOf(list...), Length: structs.Len(), Rows: structs.RowCount(), Manager: options.Manager, Buffers: []column.Bytes{{}}, Children: children,
	})
	if packed, err = release.OnError(packed, err, release.All(children)); err != nil || !op.Nullable(structs) {
		return packed, err
	}
	masked, err := whereValid(ctx, structs, packed, options)
	return release.OnError(masked, err, packed.Release())
}
