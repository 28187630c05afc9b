package exprtree_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// TestNullableCasts lists casts that represent all values of a type, and some that do
// not. The tests of package expr cover the operations.
func TestNullableCasts(t *testing.T) {
	i8, i32, i64 := arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	u8, u64, f32, f64 := arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64
	boolean, seconds, span := arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Duration_s
	decimal := &arrow.Decimal128Type{Precision: 9, Scale: 2}
	for _, c := range []struct {
		from, to arrow.DataType
		nullable bool
	}{
		{i8, i64, false}, {i64, i8, true}, {i8, u8, true}, {u8, i8, true}, {u8, i32, false}, {i64, u64, true}, {u64, i64, true},
		{i64, f32, false}, {u64, f64, false}, {f64, f32, false}, {f32, i64, true}, {f32, boolean, false}, {boolean, u8, false},
		{decimal, f64, false}, {decimal, i64, true}, {i8, decimal, true}, {f64, decimal, true},
		{i64, span, false}, {seconds, i64, false}, {seconds, i32, true}, {seconds, arrow.FixedWidthTypes.Timestamp_ms, true},
	} {
		column := &exprtree.Node{Op: exprtree.Column, Type: c.from}
		cast := &exprtree.Node{Op: exprtree.Cast, Type: c.to, Arguments: []*exprtree.Node{column}}
		p := exprtree.NewProgram([]int{4}, []arrow.DataType{c.from}, []*exprtree.Node{cast, column})
		require.Equal(t, []bool{c.nullable, false}, p.Nullable(func(place int) bool { return place != 4 }), "%v to %v", c.from, c.to)
		require.Equal(t, []bool{true, true}, p.Nullable(func(int) bool { return true }), "%v to %v", c.from, c.to)
	}
}
