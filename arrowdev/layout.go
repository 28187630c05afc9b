package arrowdev

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// layoutOf returns the memory layout of a type. The error wraps [ErrUnsupported] for
// unknown types and [ErrInvalid] for types that contradict themselves.
func layoutOf(t arrow.DataType) (layout.Layout, error) {
	l, err := layout.Of(t)
	if err == nil {
		return l, nil
	}
	condition := ErrInvalid
	if problem, ok := errors.AsType[*layout.TypeError](err); ok && problem.Unknown {
		condition = ErrUnsupported
	}
	return l, fmt.Errorf("%w: %w", err, condition)
}

// nodeLayout is the layout of a struct's array.
type nodeLayout struct {
	layout.Layout
	// schema has the fields of a table's root. A root has no Arrow type, because
	// making a struct type takes longer than checking the struct.
	schema *arrow.Schema
}

// tableLayout is the layout of the struct array of a table.
func tableLayout(schema *arrow.Schema) nodeLayout {
	return nodeLayout{Layout: layout.Layout{Kind: layout.Struct, Class: layout.Nested}, schema: schema}
}

// String names the type for messages.
func (l nodeLayout) String() string {
	if l.schema != nil {
		return arrow.StructOf(l.schema.Fields()...).String()
	}
	return l.Storage.String()
}

// Children returns the number of children.
func (l nodeLayout) Children() int {
	if l.schema != nil {
		return l.schema.NumFields()
	}
	return l.Layout.Children()
}

// Child returns the type of child i and its name.
func (l nodeLayout) Child(i int) (arrow.DataType, string) {
	if l.schema != nil {
		field := l.schema.Field(i)
		return field.Type, field.Name
	}
	return l.Layout.Child(i)
}
