package nested

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Field is a field of a struct. It is null if the struct is. Without null structs it shares
// the memory of the struct.
func Field(e expr.Expr, name string) expr.Expr { return expr.Apply(field{name}, e) }

// Struct is a struct of the values of expressions, with their names. It is never null, and
// shares the memory of columns.
func Struct(fields ...expr.Expr) expr.Expr {
	o := pack{}
	for _, f := range fields {
		o.names += "\x00" + f.Name()
	}
	return expr.Apply(o, fields...)
}

type field struct{ name string }

func (f field) Name() string { return fmt.Sprintf("field[%s]", f.name) }

func (f field) find(t arrow.DataType) (int, arrow.Field, error) {
	structure, ok := layout.Storage(t).(*arrow.StructType)
	if !ok {
		return 0, arrow.Field{}, fmt.Errorf("%v is no struct: %w", render.TypeName(t), expr.ErrType)
	}
	var known []string
	for i, each := range structure.Fields() {
		if each.Name == f.name {
			return i, each, nil
		}
		known = append(known, each.Name)
	}
	return 0, arrow.Field{}, fmt.Errorf("%s: %w", names.Unknown("field", f.name, known), buffer.ErrSchema)
}

func (f field) Result(operands []arrow.DataType) (arrow.DataType, error) {
	_, child, err := f.find(operands[0])
	return child.Type, err
}

func (f field) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	parent := operands[0]
	i, _, err := f.find(parent.Type())
	if err != nil {
		return nil, err
	}
	child, err := parent.Child(i).SliceCapacity(parent.Offset(), parent.Len())
	if err != nil {
		return nil, err
	}
	if rows := parent.RowCount(); rows != nil {
		child, err = counted(child, rows)
		if err != nil {
			return nil, err
		}
	}
	if !op.Nullable(parent) {
		return child, nil
	}
	masked, err := whereValid(ctx, parent, child, options)
	return release.OnError(masked, err, child.Release())
}

// whereValid returns values that are null where structs are.
func whereValid(ctx context.Context, structs, values *column.Column, options kernels.Options) (*column.Column, error) {
	// The mask is true for valid structs and null for the others.
	mask, err := column.New(column.Data{
		Type: arrow.FixedWidthTypes.Boolean, Length: structs.Len(), Offset: structs.Offset(), Rows: structs.RowCount(),
		NullCount: column.UnknownNullCount, Buffers: []column.Bytes{structs.Buffer(0), structs.Buffer(0)},
	})
	if err != nil {
		return nil, err
	}
	masked, err := selection.Choose(ctx, mask, values, values, options)
	return release.OnError(masked, err, mask.Release())
}

// counted returns a column with another row count. It takes over the column.
func counted(c *column.Column, rows *column.RowCount) (*column.Column, error) {
	data := c.Data()
	data.Rows = rows
	recounted, err := column.New(data)
	return release.OnError(recounted, err, c.Release())
}

// pack has the names of fields, each after a zero byte.
type pack struct{ names string }

func (pack) Name() string { return "struct" }

func (p pack) fields(operands []arrow.DataType) []arrow.Field {
	list := make([]arrow.Field, 0, len(operands))
	start := 1
	for i := 1; i <= len(p.names); i++ {
		if i == len(p.names) || p.names[i] == 0 {
			list = append(list, arrow.Field{Name: p.names[start:i], Type: operands[len(list)], Nullable: true})
			start = i + 1
		}
	}
	return list
}

func (p pack) Result(operands []arrow.DataType) (arrow.DataType, error) {
	fields := p.fields(operands)
	for i, f := range fields {
		for _, other := range fields[:i] {
			if f.Name == other.Name {
				return nil, fmt.Errorf("two fields are named %q: give one of them another name with As: %w", f.Name, expr.ErrType)
			}
		}
	}
	return arrow.StructOf(fields...), nil
}

func (p pack) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	types := make([]arrow.DataType, len(operands))
	for i, c := range operands {
		types[i] = c.Type()
	}
	first := operands[0]
	return column.New(column.Data{
		Type: arrow.StructOf(p.fields(types)...), Length: first.Len(), Rows: first.RowCount(), Manager: options.Manager,
		Buffers: []column.Bytes{{}}, Children: operands,
	})
}
