package arraybits

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

func floats(of arrow.DataType, value float64) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, of)
	defer b.Release()
	appendFloat(b, value)
	b.AppendNull()
	return b.NewArray()
}

func appendFloat(b array.Builder, value float64) {
	switch b := b.(type) {
	case *array.Float64Builder:
		b.Append(value)
	case *array.Float32Builder:
		b.Append(float32(value))
	case *array.ListBuilder:
		b.Append(true)
		appendFloat(b.ValueBuilder(), value)
	case *array.LargeListBuilder:
		b.Append(true)
		appendFloat(b.ValueBuilder(), value)
	case *array.FixedSizeListBuilder:
		b.Append(true)
		appendFloat(b.ValueBuilder(), value)
	case *array.StructBuilder:
		b.Append(true)
		b.FieldBuilder(0).(*array.Int8Builder).Append(7)
		appendFloat(b.FieldBuilder(1), value)
	}
}

func TestFloats(t *testing.T) {
	leaf := arrow.PrimitiveTypes.Float64
	for _, of := range []arrow.DataType{
		leaf, arrow.PrimitiveTypes.Float32, arrow.ListOf(leaf), arrow.LargeListOf(leaf), arrow.FixedSizeListOf(1, leaf),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8}, arrow.Field{Name: "b", Type: arrow.ListOf(leaf), Nullable: true}),
	} {
		t.Run(of.String(), func(t *testing.T) {
			values := []float64{0, math.Copysign(0, -1), 1.5, math.NaN()}
			for i, x := range values {
				for j, y := range values {
					a, b := floats(of, x), floats(of, y)
					require.Equal(t, i == j, Equal(a, b), "%v, %v", x, y)
					a.Release()
					b.Release()
				}
			}
		})
	}
	quiet, other := floats(leaf, math.NaN()), floats(leaf, math.Float64frombits(math.Float64bits(math.NaN())^2))
	require.False(t, Equal(quiet, other))
}

// Arrays of each type equal themselves and their copies, and differ from others, in slices too.
func TestEveryType(t *testing.T) {
	for number, of := range arraytest.AllTypes() {
		t.Run(fmt.Sprint(number, " ", of), func(t *testing.T) {
			a := arraytest.NewGenerator(1).Array(of, 40)
			b := arraytest.NewGenerator(1).Array(of, 40)
			defer a.Release()
			defer b.Release()
			if _, hasFloats, ok := integers(of); !hasFloats || ok {
				require.True(t, Equal(a, b))
				x, y := array.NewSlice(a, 3, 30), array.NewSlice(b, 3, 30)
				require.True(t, Equal(x, y))
				x.Release()
				y.Release()
			}
			shorter := array.NewSlice(a, 0, 39)
			defer shorter.Release()
			require.False(t, Equal(a, shorter))
		})
	}
	a, b := floats(arrow.PrimitiveTypes.Float32, 1), floats(arrow.PrimitiveTypes.Float64, 1)
	require.False(t, Equal(a, b))
}
