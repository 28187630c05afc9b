package arraytest

import (
	"bytes"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// IsNull reports whether element i is null. It looks into the children of arrays without a
// validity bitmap.
func IsNull(values arrow.Array, i int) bool {
	switch values := values.(type) {
	case *array.Null:
		return true
	case *array.RunEndEncoded:
		return IsNull(values.Values(), values.GetPhysicalIndex(i))
	case *array.SparseUnion:
		return IsNull(values.Field(values.ChildID(i)), i)
	case *array.DenseUnion:
		return IsNull(values.Field(values.ChildID(i)), int(values.ValueOffset(i)))
	case *array.Dictionary:
		return values.IsNull(i) || IsNull(values.Dictionary(), values.GetValueIndex(i))
	case array.ExtensionArray:
		return IsNull(values.Storage(), i)
	}
	return values.IsNull(i)
}

// Same reports whether element i of a and element j of b are equal, independent of their layout. All
// NaN are equal: those of arithmetic have other bits on other processors. The types must be equal.
func Same(a arrow.Array, i int, b arrow.Array, j int) bool {
	if IsNull(a, i) || IsNull(b, j) {
		return IsNull(a, i) && IsNull(b, j)
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i) == b.(*array.Boolean).Value(j)
	case *array.Float32:
		x, y := a.Value(i), b.(*array.Float32).Value(j)
		return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
	case *array.Float64:
		x, y := a.Value(i), b.(*array.Float64).Value(j)
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	case array.StringLike:
		return a.Value(i) == b.(array.StringLike).Value(j)
	case *array.Dictionary:
		b := b.(*array.Dictionary)
		return Same(a.Dictionary(), a.GetValueIndex(i), b.Dictionary(), b.GetValueIndex(j))
	case array.ListLike:
		b := b.(array.ListLike)
		from, to := a.ValueOffsets(i)
		other, end := b.ValueOffsets(j)
		if to-from != end-other {
			return false
		}
		for k := range int(to - from) {
			if !Same(a.ListValues(), int(from)+k, b.ListValues(), int(other)+k) {
				return false
			}
		}
		return true
	case *array.Struct:
		for k := range a.NumField() {
			if !Same(a.Field(k), i, b.(*array.Struct).Field(k), j) {
				return false
			}
		}
		return true
	case *array.SparseUnion:
		b := b.(*array.SparseUnion)
		return a.TypeCode(i) == b.TypeCode(j) && Same(a.Field(a.ChildID(i)), i, b.Field(b.ChildID(j)), j)
	case *array.DenseUnion:
		b := b.(*array.DenseUnion)
		return a.TypeCode(i) == b.TypeCode(j) &&
			Same(a.Field(a.ChildID(i)), int(a.ValueOffset(i)), b.Field(b.ChildID(j)), int(b.ValueOffset(j)))
	case *array.RunEndEncoded:
		b := b.(*array.RunEndEncoded)
		return Same(a.Values(), a.GetPhysicalIndex(i), b.Values(), b.GetPhysicalIndex(j))
	case array.ExtensionArray:
		return Same(a.Storage(), i, b.(array.ExtensionArray).Storage(), j)
	}
	if fixed, ok := a.DataType().(arrow.FixedWidthDataType); ok && fixed.BitWidth()%8 == 0 {
		return bytes.Equal(bytesOf(a, i, fixed.BitWidth()/8), bytesOf(b, j, fixed.BitWidth()/8))
	}
	return array.SliceEqual(a, int64(i), int64(i+1), b, int64(j), int64(j+1))
}

// bytesOf returns the bytes of an element of a fixed width.
func bytesOf(a arrow.Array, i, width int) []byte {
	return a.Data().Buffers()[1].Bytes()[(a.Data().Offset()+i)*width:][:width]
}

// AnyNull reports whether an element is null, by itself or by its dictionary.
func AnyNull(values arrow.Array) bool {
	for i := range values.Len() {
		if IsNull(values, i) {
			return true
		}
	}
	return false
}
