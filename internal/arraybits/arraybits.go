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
	of, hasFloats, ok := integers(a.DataType())
	if !hasFloats {
		return array.Equal(a, b)
	}
	if !ok {
		return false
	}
	x, y := As(of, a), As(of, b)
	defer x.Release()
	defer y.Release()
	return array.Equal(x, y)
}

// Unsigned returns the unsigned integers of the width of a type of floats, or the type itself.
func Unsigned(of arrow.DataType) arrow.DataType {
	if arrow.IsFloating(of.ID()) {
		of, _, _ = integers(of)
	}
	return of
}

// As returns an array with another type of the same layout, which shares its memory. The caller
// releases it.
func As(of arrow.DataType, a arrow.Array) arrow.Array {
	data := retyped(of, a.Data())
	defer data.Release()
	return array.MakeFromData(data)
}

// integers returns a type with unsigned integers in place of floats. hasFloats reports whether the
// type has floats, and ok whether all of them were replaced.
func integers(of arrow.DataType) (made arrow.DataType, hasFloats, ok bool) {
	switch of := of.(type) {
	case *arrow.Float16Type:
		return arrow.PrimitiveTypes.Uint16, true, true
	case *arrow.Float32Type:
		return arrow.PrimitiveTypes.Uint32, true, true
	case *arrow.Float64Type:
		return arrow.PrimitiveTypes.Uint64, true, true
	case *arrow.StructType:
		fields := make([]arrow.Field, of.NumFields())
		ok = true
		for i, f := range of.Fields() {
			t, has, replaced := integers(f.Type)
			fields[i] = arrow.Field{Name: f.Name, Type: t, Nullable: f.Nullable, Metadata: f.Metadata}
			hasFloats, ok = hasFloats || has, ok && replaced
		}
		return arrow.StructOf(fields...), hasFloats, ok
	case *arrow.ListType:
		made, hasFloats, ok = integers(of.Elem())
		return arrow.ListOf(made), hasFloats, ok
	case *arrow.LargeListType:
		made, hasFloats, ok = integers(of.Elem())
		return arrow.LargeListOf(made), hasFloats, ok
	case *arrow.FixedSizeListType:
		made, hasFloats, ok = integers(of.Elem())
		return arrow.FixedSizeListOf(of.Len(), made), hasFloats, ok
	case arrow.ExtensionType:
		made, hasFloats, ok = integers(of.StorageType())
		return made, hasFloats, ok
	case *arrow.DictionaryType:
		_, hasFloats, _ = integers(of.ValueType)
		return of, hasFloats, !hasFloats
	case arrow.NestedType:
		for _, f := range of.Fields() {
			_, has, _ := integers(f.Type)
			hasFloats = hasFloats || has
		}
		return of, hasFloats, !hasFloats
	}
	return of, false, true
}

// retyped returns the data of an array with another type of the same layout. The caller releases it.
func retyped(of arrow.DataType, data arrow.ArrayData) arrow.ArrayData {
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, child := range data.Children() {
		children[i] = child
		if nested, ok := of.(arrow.NestedType); ok && i < len(nested.Fields()) {
			children[i] = retyped(nested.Fields()[i].Type, child)
			defer children[i].Release()
		}
	}
	if dictionary, ok := data.Dictionary().(*array.Data); ok && dictionary != nil {
		return array.NewDataWithDictionary(of, data.Len(), data.Buffers(), data.NullN(), data.Offset(), dictionary)
	}
	return array.NewData(of, data.Len(), data.Buffers(), children, data.NullN(), data.Offset())
}
