package learn

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// Value is a text, an integer, a float or a bool: one of the fields is set.
type Value struct {
	Text    *string  `json:"text,omitempty"`
	Integer *int64   `json:"integer,omitempty"`
	Float   *float64 `json:"float,omitempty"`
	Bool    *bool    `json:"bool,omitempty"`
}

// ValueOf returns a Go value: a string, int, int64, float64 or bool.
func ValueOf(x any) (Value, error) {
	switch x := x.(type) {
	case string:
		return Value{Text: &x}, nil
	case int:
		n := int64(x)
		return Value{Integer: &n}, nil
	case int64:
		return Value{Integer: &x}, nil
	case float64:
		return Value{Float: &x}, nil
	case bool:
		return Value{Bool: &x}, nil
	}
	return Value{}, fmt.Errorf("learn: a value of type %T, expected a string, an int, an int64, a float64 or a bool: %w", x, ErrOption)
}

// Literal returns the value as a literal of expressions, nil if no field is set.
func (v Value) Literal() any {
	switch {
	case v.Text != nil:
		return *v.Text
	case v.Integer != nil:
		return *v.Integer
	case v.Float != nil:
		return *v.Float
	case v.Bool != nil:
		return *v.Bool
	}
	return nil
}

// String formats the value.
func (v Value) String() string { return fmt.Sprint(v.Literal()) }

// typeOf returns the type of a column of a query.
func typeOf(ctx context.Context, q gpuframe.Query, name string) (arrow.DataType, error) {
	schema, err := q.Select(gpuframe.Col(name)).Schema(ctx)
	if err != nil {
		return nil, fmt.Errorf("learn: column %q: %w", name, err)
	}
	return schema.Field(0).Type, nil
}

// storage is the type of the values of categories, by the type of a column.
func storage(t arrow.DataType) (arrow.DataType, bool) {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	switch id := t.ID(); {
	case id == arrow.STRING || id == arrow.LARGE_STRING:
		return arrow.BinaryTypes.String, true
	case id == arrow.BOOL:
		return arrow.FixedWidthTypes.Boolean, true
	case arrow.IsInteger(id) && id != arrow.UINT64:
		return arrow.PrimitiveTypes.Int64, true
	}
	return nil, false
}

// category is the value of a column of categories, which have a type of storage.
func category(name string, stored arrow.DataType) gpuframe.Expr {
	if stored.ID() == arrow.INT64 {
		return gpuframe.Col(name).Cast(stored)
	}
	return gpuframe.Col(name)
}

// values returns the values of a column of a result, without nulls.
func values(ctx context.Context, f *gpuframe.Frame, name string, t arrow.DataType) ([]Value, error) {
	switch t.ID() {
	case arrow.STRING:
		return read[string](ctx, f, name)
	case arrow.BOOL:
		return read[bool](ctx, f, name)
	case arrow.INT64:
		return read[int64](ctx, f, name)
	}
	return read[float64](ctx, f, name)
}

func read[T any](ctx context.Context, f *gpuframe.Frame, name string) ([]Value, error) {
	column, err := gpuframe.Column[T](ctx, f, name)
	list := make([]Value, len(column))
	for i, x := range column {
		list[i], err = ValueOf(x)
	}
	return list, err
}
