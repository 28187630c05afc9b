package selection

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// under returns the source for the values of a field of a struct or list. Null rows are
// null in the parent, so a field that is not nullable gets no nulls. Unions and run-end
// encoded fields always get them, because their nulls are stored in their children.
func (s *source) under(field arrow.Field) *source {
	if !s.nulls || field.Nullable || nullsAreInside(field.Type) {
		return s
	}
	valid := *s
	valid.nulls = false
	return &valid
}

// nullsAreInside reports whether null rows of a type are null in its children.
func nullsAreInside(t arrow.DataType) bool {
	l, err := layoutOf(t)
	return err == nil && (l.Kind == layout.SparseUnion || l.Kind == layout.DenseUnion || l.Kind == layout.RunEnds)
}

// resultType returns the type of the result of taking rows of type t.
func (s *source) resultType(t arrow.DataType) arrow.DataType {
	if s.nulls {
		t, _ = withNulls(t)
	}
	return t
}

// withNulls returns a type with rows that may be null, and whether it differs from t.
// The children of sparse unions and the values of run-end encoded columns store the
// nulls, so they become nullable. All other types have a validity bitmap.
func withNulls(t arrow.DataType) (nullable arrow.DataType, changed bool) {
	switch t := t.(type) {
	case *arrow.StructType:
		fields := slices.Clone(t.Fields())
		for i := range fields {
			if fields[i].Nullable || nullsAreInside(fields[i].Type) {
				inner, other := withNulls(fields[i].Type)
				fields[i].Type, changed = inner, changed || other
			}
		}
		if changed {
			return arrow.StructOf(fields...), true
		}
	case *arrow.FixedSizeListType:
		element := t.ElemField()
		if element.Type, changed = withNulls(element.Type); changed {
			return arrow.FixedSizeListOfField(t.Len(), element), true
		}
	case *arrow.SparseUnionType:
		fields := slices.Clone(t.Fields())
		for i := range fields {
			inner, other := withNulls(fields[i].Type)
			changed = changed || other || !fields[i].Nullable
			fields[i].Type, fields[i].Nullable = inner, true
		}
		if changed {
			return arrow.SparseUnionOf(fields, t.TypeCodes()), true
		}
	case *arrow.RunEndEncodedType:
		if inner, other := withNulls(t.Encoded()); other || !t.ValueNullable {
			encoded := arrow.RunEndEncodedOf(t.RunEnds(), inner)
			encoded.ValueNullable = true
			return encoded, true
		}
	}
	return t, false
}

// schemaOf returns a copy of a schema with the types of columns. Their children may
// have become nullable. If nullable is true all fields become nullable.
func schemaOf(like *arrow.Schema, columns []*column.Column, nullable bool) *arrow.Schema {
	fields := slices.Clone(like.Fields())
	changed := false
	for i := range fields {
		t := columns[i].Type()
		if !arrow.TypeEqual(t, fields[i].Type) {
			fields[i].Type, changed = t, true
		}
		if nullable && !fields[i].Nullable {
			fields[i].Nullable, changed = true, true
		}
	}
	if !changed {
		return like
	}
	metadata := like.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, like.Endianness())
}

// unifyTypes gives all pieces one type. Their types may differ in the nullability of
// inner fields.
func unifyTypes(pieces []part) error {
	t := pieces[0].data.Type
	for i := range pieces {
		common, ok := commonType(t, pieces[i].data.Type)
		if !ok {
			return fmt.Errorf("piece %d is %v, the first one %v: %w", i, pieces[i].data.Type, t, column.ErrInvalid)
		}
		t = common
	}
	for i := range pieces {
		pieces[i].data.Type = t
	}
	return nil
}

// commonType returns the common type of two types that differ at most in the
// nullability of inner fields.
func commonType(a, b arrow.DataType) (arrow.DataType, bool) {
	if a == nil || b == nil || a.ID() != b.ID() {
		return nil, false
	}
	// arrow.TypeEqual ignores whether run-end encoded values are nullable.
	switch a := a.(type) {
	case *arrow.StructType:
		if fields, ok := commonFields(a.Fields(), b.(*arrow.StructType).Fields()); ok {
			return arrow.StructOf(fields...), true
		}
	case *arrow.SparseUnionType:
		b := b.(*arrow.SparseUnionType)
		if fields, ok := commonFields(a.Fields(), b.Fields()); ok && slices.Equal(a.TypeCodes(), b.TypeCodes()) {
			return arrow.SparseUnionOf(fields, a.TypeCodes()), true
		}
	case *arrow.FixedSizeListType:
		b := b.(*arrow.FixedSizeListType)
		if element, ok := commonField(a.ElemField(), b.ElemField()); ok && a.Len() == b.Len() {
			return arrow.FixedSizeListOfField(a.Len(), element), true
		}
	case *arrow.ListType:
		if element, ok := commonField(a.ElemField(), b.(*arrow.ListType).ElemField()); ok {
			return arrow.ListOfField(element), true
		}
	case *arrow.LargeListType:
		if element, ok := commonField(a.ElemField(), b.(*arrow.LargeListType).ElemField()); ok {
			return arrow.LargeListOfField(element), true
		}
	case *arrow.RunEndEncodedType:
		b := b.(*arrow.RunEndEncodedType)
		if values, ok := commonType(a.Encoded(), b.Encoded()); ok && arrow.TypeEqual(a.RunEnds(), b.RunEnds()) {
			encoded := arrow.RunEndEncodedOf(a.RunEnds(), values)
			encoded.ValueNullable = a.ValueNullable || b.ValueNullable
			return encoded, true
		}
	default:
		return a, arrow.TypeEqual(a, b)
	}
	return nil, false
}

func commonFields(a, b []arrow.Field) (fields []arrow.Field, ok bool) {
	if len(a) != len(b) {
		return nil, false
	}
	fields = make([]arrow.Field, len(a))
	for i := range a {
		if fields[i], ok = commonField(a[i], b[i]); !ok {
			return nil, false
		}
	}
	return fields, true
}

func commonField(a, b arrow.Field) (arrow.Field, bool) {
	t, ok := commonType(a.Type, b.Type)
	a.Type, a.Nullable = t, a.Nullable || b.Nullable
	return a, ok && a.Name == b.Name
}
