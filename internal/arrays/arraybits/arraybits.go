// Package arraybits compares Arrow arrays by the bits of their values.
//
//	array.Equal(zero, negativeZero)     // true: 0 equals -0
//	arraybits.Equal(zero, negativeZero) // false
package arraybits

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Equal reports whether two arrays have the same type and the same values, bit for bit: 0 and -0
// differ, and so do NaNs with different payloads; a NaN equals itself. Bits below nulls do not count.
// Types with floats in them that arrow-go cannot take apart are different.
func Equal(a, b arrow.Array) bool {
	if !arrow.TypeEqual(a.DataType(), b.DataType()) || a.Len() != b.Len() {
		return false
	}
	t, hasFloats, ok := integers(a.DataType())
	if !hasFloats {
		return array.Equal(a, b)
	}
	if !ok {
		return false
	}
	x, y := As(t, a), As(t, b)
	defer x.Release()
	defer y.Release()
	return array.Equal(x, y)
}

// Unsigned returns the unsigned integers of the width of a type of floats, or the type itself.
func Unsigned(t arrow.DataType) arrow.DataType {
	if arrow.IsFloating(t.ID()) {
		t, _, _ = integers(t)
	}
	return t
}

// As returns an array with another type of the same layout, which shares its memory. The caller
// releases it.
func As(t arrow.DataType, a arrow.Array) arrow.Array {
	data := retyped(t, a.Data())
	defer data.Release()
	return array.MakeFromData(data)
}

// integers returns a type with unsigned integers in place of floats. hasFloats reports whether the
// type has floats, and ok whether all of them were replaced.
func integers(original arrow.DataType) (unsigned arrow.DataType, hasFloats, ok bool) {
	switch original := original.(type) {
	case *arrow.Float16Type:
		return arrow.PrimitiveTypes.Uint16, true, true
	case *arrow.Float32Type:
		return arrow.PrimitiveTypes.Uint32, true, true
	case *arrow.Float64Type:
		return arrow.PrimitiveTypes.Uint64, true, true
	case *arrow.StructType:
		fields := make([]arrow.Field, original.NumFields())
		ok = true
		for i, f := range original.Fields() {
			t, has, replaced := integers(f.Type)
			fields[i] = arrow.Field{Name: f.Name, Type: t, Nullable: f.Nullable, Metadata: f.Metadata}
			hasFloats, ok = hasFloats || has, ok && replaced
		}
		return arrow.StructOf(fields...), hasFloats, ok
	case *arrow.ListType:
		unsigned, hasFloats, ok = integers(original.Elem())
		return arrow.ListOf(unsigned), hasFloats, ok
	case *arrow.LargeListType:
		unsigned, hasFloats, ok = integers(original.Elem())
		return arrow.LargeListOf(unsigned), hasFloats, ok
	case *arrow.FixedSizeListType:
		unsigned, hasFloats, ok = integers(original.Elem())
		return arrow.FixedSizeListOf(original.Len(), unsigned), hasFloats, ok
	case arrow.ExtensionType:
		unsigned, hasFloats, ok = integers(original.StorageType())
		return unsigned, hasFloats, ok
	case *arrow.DictionaryType:
		_, hasFloats, _ = integers(original.ValueType)
		return original, hasFloats, !hasFloats
	case arrow.NestedType:
		for _, f := range original.Fields() {
			_, has, _ := integers(f.Type)
			hasFloats = hasFloats || has
		}
		return original, hasFloats, !hasFloats
	}
	return original, false, true
}

// retyped returns the data of an array with another type of the same layout. The caller releases it.
func retyped(t arrow.DataType, data arrow.ArrayData) arrow.ArrayData {
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, child := range data.Children() {
		children[i] = child
		if nested, ok := t.(arrow.NestedType); ok && i < len(nested.Fields()) {
			children[i] = retyped(nested.Fields()[i].Type, child)
			defer children[i].Release()
		}
	}
	if dictionary, ok := data.Dictionary().(*array.Data); ok && dictionary != nil {
		return array.NewDataWithDictionary(t, data.Len(), data.Buffers(), data.NullN(), data.Offset(), dictionary)
	}
	return array.NewData(t, data.Len(), data.Buffers(), children, data.NullN(), data.Offset())
}
