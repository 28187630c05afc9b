package exec

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// withUsedValues returns a part of a divided table with dictionaries of the values that its rows have,
// where a dictionary has more values than the part has rows. Otherwise each part would have the memory
// of the whole dictionary, also in host memory. It takes the table over.
func (s *stage) withUsedValues(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	rows, known := table.HostRows()
	columns, changed := make([]*column.Column, table.NumColumns()), false
	var owned release.Stack
	for i := range columns {
		columns[i] = table.Column(i)
		if values := columns[i].Dictionary(); !known || values == nil || int64(values.Len()) <= rows || isOrdered(columns[i].Type()) {
			continue
		}
		used, err := s.usedValues(ctx, columns[i])
		if err != nil {
			return nil, errors.Join(err, owned.Release(), table.Release())
		}
		owned.Add(used)
		columns[i], changed = used, true
	}
	if !changed {
		return table, nil
	}
	trimmed, err := buffer.New(table.Schema(), columns, table.Rows())
	return release.OnError(trimmed, err, owned.Release(), table.Release())
}

// isOrdered reports whether the order of a dictionary's values is part of its type.
func isOrdered(t arrow.DataType) bool {
	d, ok := t.(*arrow.DictionaryType)
	return ok && d.Ordered
}

// usedValues returns a column with a dictionary of the values that its rows have.
func (s *stage) usedValues(ctx context.Context, c *column.Column) (trimmed *column.Column, err error) {
	var owned release.Stack
	defer func() { trimmed, err = release.OnError(trimmed, err, owned.Release()) }()
	own := func(c *column.Column, failure error) *column.Column {
		if err = failure; err == nil {
			owned.Add(c)
		}
		return c
	}
	indices := own(c.Indices())
	if err != nil {
		return nil, err
	}
	encoded := own(dictionary.Encode(ctx, indices, s.options()))
	if err != nil {
		return nil, err
	}
	values := own(selection.TakeColumn(ctx, c.Dictionary(), encoded.Dictionary(), s.options()))
	if err != nil {
		return nil, err
	}
	numbers := own(encoded.Indices())
	if err != nil {
		return nil, err
	}
	if !arrow.TypeEqual(numbers.Type(), indices.Type()) {
		if numbers = own(s.cast(ctx, numbers, indices.Type())); err != nil {
			return nil, err
		}
	}
	data := numbers.Data()
	data.Type, data.Dictionary = c.Type(), values
	return column.New(data)
}

// cast returns a column in another type.
func (s *stage) cast(ctx context.Context, c *column.Column, to arrow.DataType) (*column.Column, error) {
	const name = "numbers"
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: c.Type(), Nullable: true}}, nil)
	table, err := buffer.New(schema, []*column.Column{c}, buffer.Rows{Count: int64(c.Len())})
	if err != nil {
		return nil, err
	}
	converted, err := expr.Evaluate(ctx, table, []expr.Expr{expr.Col(name).Cast(to)}, s.options())
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(converted))
	}
	return converted[0], nil
}

// decodedName returns the name of a column with the values of a dictionary.
func decodedName(name string) string { return plan.Computed("values of " + name) }

// hashable returns an expression with columns of decodedName in place of those with dictionaries that
// expressions do not read, and the names of these.
func hashable(value expr.Expr, schema *arrow.Schema) (decoded expr.Expr, names []string) {
	replaced := map[string]bool{}
	for _, name := range value.Columns() {
		if _, _, err := expr.Hash(expr.Col(name)).Type(schema); err == nil {
			continue
		}
		for _, at := range schema.FieldIndices(name) {
			if schema.Field(at).Type.ID() == arrow.DICTIONARY && !replaced[name] {
				replaced[name], names = true, append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return value, nil
	}
	return value.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		name, ok := part.Column()
		return expr.Col(decodedName(name)), ok && replaced[name]
	}), names
}

// withDecoded adds the values of dictionaries to a table, which it takes over, as columns of decodedName.
func (s *stage) withDecoded(ctx context.Context, table *buffer.Buffer, names []string) (*buffer.Buffer, error) {
	for _, name := range names {
		c, err := table.ColumnByName(name)
		if err != nil {
			return nil, errors.Join(err, table.Release())
		}
		values, err := dictionary.Decode(ctx, c, s.options())
		if err != nil {
			return nil, errors.Join(err, table.Release())
		}
		wider, err := table.AppendColumn(arrow.Field{Name: decodedName(name), Type: values.Type(), Nullable: true}, values)
		if table, err = release.OnError(wider, err, values.Release(), table.Release()); err != nil {
			return nil, err
		}
	}
	return table, nil
}
