package buffer

import (
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
)

type marked struct {
	arrow.ExtensionBase
	mark string
}

func (*marked) ArrayType() reflect.Type { return reflect.TypeFor[array.ExtensionArrayBase]() }
func (*marked) ExtensionName() string   { return "gpuframe.test.marked" }
func (m *marked) Serialize() string     { return m.mark }
func (m *marked) ExtensionEquals(other arrow.ExtensionType) bool {
	o, ok := other.(*marked)
	return ok && o.mark == m.mark
}

func (*marked) Deserialize(storage arrow.DataType, mark string) (arrow.ExtensionType, error) {
	return &marked{arrow.ExtensionBase{Storage: storage}, mark}, nil
}

type valued struct {
	*arrow.ExtensionBase
	_ []string
}

func (valued) ArrayType() reflect.Type { return reflect.TypeFor[array.ExtensionArrayBase]() }
func (valued) ExtensionName() string   { return "gpuframe.test.valued" }
func (valued) Serialize() string       { return "" }
func (valued) ExtensionEquals(other arrow.ExtensionType) bool {
	_, ok := other.(valued)
	return ok
}

func (v valued) Deserialize(storage arrow.DataType, _ string) (arrow.ExtensionType, error) {
	return valued{ExtensionBase: &arrow.ExtensionBase{Storage: storage}}, nil
}

// sameType agrees with arrow.TypeEqual for all pairs of types, including separately
// made ones.
func TestSameType(t *testing.T) {
	types := func() []arrow.DataType {
		nullable := arrow.ListOf(arrow.PrimitiveTypes.Int32)
		return []arrow.DataType{
			nil,
			&arrow.NullType{}, &arrow.BooleanType{}, &arrow.Int8Type{}, &arrow.Int32Type{}, &arrow.Uint32Type{}, &arrow.Float64Type{},
			&arrow.StringType{}, &arrow.BinaryType{}, &arrow.StringViewType{}, &arrow.Date32Type{},
			&arrow.FixedSizeBinaryType{ByteWidth: 3}, &arrow.FixedSizeBinaryType{ByteWidth: 4},
			&arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"},
			&arrow.Time32Type{Unit: arrow.Second}, &arrow.Time32Type{Unit: arrow.Millisecond},
			&arrow.Decimal128Type{Precision: 3}, &arrow.Decimal128Type{Precision: 4},
			nullable, arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32), arrow.LargeListOf(arrow.PrimitiveTypes.Int32),
			arrow.StructOf(), arrow.StructOf(arrow.Field{Name: "a", Type: nullable}), arrow.StructOf(arrow.Field{Name: "b", Type: nullable}),
			&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
			&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
			&marked{arrow.ExtensionBase{Storage: nullable}, "a"}, &marked{arrow.ExtensionBase{Storage: nullable}, "b"},
			valued{&arrow.ExtensionBase{Storage: nullable}, []string{"a value that Go cannot compare"}},
		}
	}
	left, right := types(), types()
	for i, a := range left {
		for k, b := range right {
			require.Equal(t, arrow.TypeEqual(a, b), sameType(a, b), "%v and %v", a, b)
			require.Equal(t, i == k, sameType(a, b), "%v and %v", a, b)
		}
		require.True(t, sameType(a, a), "%v", a)
	}
}
