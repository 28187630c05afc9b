package layout

import "github.com/apache/arrow/go/v17/arrow"

// HasOffsets reports whether integers of Width bytes count the bytes or elements of values.
func (l Layout) HasOffsets() bool { return l.Kind == Binary || l.Kind == List || l.Kind == ListView }

// Wide returns the type of the same values with 64-bit offsets. Children keep theirs. It reports
// false for a type without such a variant: maps, extension types, and those with 64-bit offsets
// or none.
func Wide(t arrow.DataType) (arrow.DataType, bool) {
	switch t := t.(type) {
	case *arrow.StringType:
		return arrow.BinaryTypes.LargeString, true
	case *arrow.BinaryType:
		return arrow.BinaryTypes.LargeBinary, true
	case *arrow.ListType:
		return arrow.LargeListOfField(t.ElemField()), true
	case *arrow.ListViewType:
		return arrow.LargeListViewOfField(t.ElemField()), true
	}
	return t, false
}

// narrow is the inverse of Wide.
func narrow(t arrow.DataType) (arrow.DataType, bool) {
	switch t := t.(type) {
	case *arrow.LargeStringType:
		return arrow.BinaryTypes.String, true
	case *arrow.LargeBinaryType:
		return arrow.BinaryTypes.Binary, true
	case *arrow.LargeListType:
		return arrow.ListOfField(t.ElemField()), true
	case *arrow.LargeListViewType:
		return arrow.ListViewOfField(t.ElemField()), true
	}
	return t, false
}

// Wider returns t with 64-bit offsets where another type, of the same values, has them, and whether
// it differs from t. Dictionaries and children count too.
func Wider(t, like arrow.DataType) (arrow.DataType, bool) { return withOffsets(t, like, Wide) }

// Narrower is [Wider] with 32-bit offsets.
func Narrower(t, like arrow.DataType) (arrow.DataType, bool) { return withOffsets(t, like, narrow) }

// WithOffsets returns a schema with the 64-bit offsets that the types of columns have.
func WithOffsets(schema *arrow.Schema, columns int, typeOf func(i int) arrow.DataType) *arrow.Schema {
	var fields []arrow.Field
	for i := range min(columns, schema.NumFields()) {
		t, wider := Wider(schema.Field(i).Type, typeOf(i))
		if !wider {
			continue
		}
		if fields == nil {
			fields = schema.Fields()
		}
		fields[i].Type = t
	}
	if fields == nil {
		return schema
	}
	metadata := schema.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, schema.Endianness())
}

// WideTexts returns a schema with 64-bit offsets of texts and binaries, also of those in dictionaries, and
// whether it differs. Nested types stay.
func WideTexts(schema *arrow.Schema) (*arrow.Schema, bool) {
	fields, changed := schema.Fields(), false
	for i, f := range fields {
		widen := Wide
		l, err := Of(f.Type)
		switch {
		case err == nil && l.Kind == Binary:
		case err == nil && l.Kind == Dictionary:
			widen = func(t arrow.DataType) (arrow.DataType, bool) {
				return WithInner(t, func(_ int, values arrow.DataType) (arrow.DataType, bool) { return Wide(values) })
			}
		default:
			continue
		}
		if wide, ok := widen(f.Type); ok {
			fields[i].Type, changed = wide, true
		}
	}
	if !changed {
		return schema, false
	}
	return arrow.NewSchema(fields, nil), true
}

// EqualButOffsets reports whether two types differ at most in the widths of offsets.
func EqualButOffsets(a, b arrow.DataType) bool {
	if arrow.TypeEqual(a, b) {
		return true
	}
	wide, _ := Wider(a, b)
	other, _ := Wider(b, wide)
	return arrow.TypeEqual(wide, other)
}

// withOffsets changes the offsets of t, and of its children, by change where it gives the type that
// like has there.
func withOffsets(t, like arrow.DataType, change func(arrow.DataType) (arrow.DataType, bool)) (widened arrow.DataType, changed bool) {
	if t == nil || like == nil {
		return t, false
	}
	widened = t
	if other, ok := change(t); ok && other.ID() == like.ID() {
		widened, changed = other, true
	}
	if widened.ID() != like.ID() {
		return widened, changed
	}
	outer, err := Of(widened)
	other, otherErr := Of(like)
	if err != nil || otherErr != nil || outer.Children() != other.Children() {
		return widened, changed
	}
	widened, inner := WithInner(widened, func(i int, child arrow.DataType) (arrow.DataType, bool) {
		likeChild := other.Dictionary()
		if likeChild == nil {
			likeChild, _ = other.Child(i)
		}
		return withOffsets(child, likeChild, change)
	})
	return widened, changed || inner
}

// WithInner returns t with other types of its children, or of the values of its dictionary, and
// whether change has changed any. It returns t itself for extension types.
func WithInner(t arrow.DataType, change func(i int, child arrow.DataType) (arrow.DataType, bool)) (replaced arrow.DataType, changed bool) {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		values, changed := change(0, t.ValueType)
		if !changed {
			return t, false
		}
		return &arrow.DictionaryType{IndexType: t.IndexType, ValueType: values, Ordered: t.Ordered}, true
	case arrow.ExtensionType:
		return t, false
	}
	l, err := Of(t)
	if err != nil {
		return t, false
	}
	var inner []arrow.DataType
	for i := range l.Children() {
		child, _ := l.Child(i)
		if other, differs := change(i, child); differs {
			if inner == nil {
				inner = make([]arrow.DataType, l.Children())
			}
			inner[i] = other
		}
	}
	if inner == nil {
		return t, false
	}
	return withInner(t, inner), true
}

// withInner returns a type with those types of its children that are not nil.
func withInner(t arrow.DataType, inner []arrow.DataType) arrow.DataType {
	field := func(i int, f arrow.Field) arrow.Field {
		if inner[i] != nil {
			f.Type = inner[i]
		}
		return f
	}
	fields := func(list []arrow.Field) []arrow.Field {
		changedFields := make([]arrow.Field, len(list))
		for i := range list {
			changedFields[i] = field(i, list[i])
		}
		return changedFields
	}
	switch t := t.(type) {
	case *arrow.ListType:
		return arrow.ListOfField(field(0, t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(field(0, t.ElemField()))
	case *arrow.ListViewType:
		return arrow.ListViewOfField(field(0, t.ElemField()))
	case *arrow.LargeListViewType:
		return arrow.LargeListViewOfField(field(0, t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), field(0, t.ElemField()))
	case *arrow.StructType:
		return arrow.StructOf(fields(t.Fields())...)
	case *arrow.SparseUnionType:
		return arrow.SparseUnionOf(fields(t.Fields()), t.TypeCodes())
	case *arrow.DenseUnionType:
		return arrow.DenseUnionOf(fields(t.Fields()), t.TypeCodes())
	case *arrow.RunEndEncodedType:
		runs := arrow.RunEndEncodedOf(t.RunEnds(), field(1, arrow.Field{Type: t.Encoded()}).Type)
		runs.ValueNullable = t.ValueNullable
		return runs
	case *arrow.MapType:
		entries := inner[0].(*arrow.StructType)
		key, item := entries.Field(0), entries.Field(1)
		entriesMap := arrow.MapOfWithMetadata(key.Type, key.Metadata, item.Type, item.Metadata)
		entriesMap.SetItemNullable(item.Nullable)
		entriesMap.KeysSorted = t.KeysSorted
		return entriesMap
	}
	return t
}
