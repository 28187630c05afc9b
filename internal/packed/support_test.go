package packed_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
)

// types are those that are packed.
func types() (list []arrow.DataType) {
	for _, t := range arraytest.FlatTypes() {
		if packed.Packable(t) {
			list = append(list, t)
		}
	}
	return list
}

// numbers returns integers of a type, or floats with a few digits behind the point, by their number.
func numbers(g *arraytest.Generator, dataType arrow.DataType, n int, number func(i int) int64) arrow.Array {
	width := dataType.(arrow.FixedWidthDataType).BitWidth() / 8
	var bytes []byte
	for i := range n {
		value := number(i)
		switch dataType.ID() {
		case arrow.FLOAT32:
			bytes = binary.NativeEndian.AppendUint32(bytes, math.Float32bits(float32(value)/8))
		case arrow.FLOAT64:
			bytes = binary.NativeEndian.AppendUint64(bytes, math.Float64bits(float64(value)/100))
		case arrow.DECIMAL128:
			bytes = arraytest.Append(arraytest.Append(bytes, 8, int(value)), 8, int(value>>63))
		default:
			bytes = arraytest.Append(bytes, width, int(value))
		}
	}
	buffers := []*arrowmemory.Buffer{nil, arrowmemory.NewBufferBytes(bytes)}
	if g.Nulls != arraytest.NoneNull {
		buffers[0] = arrowmemory.NewBufferBytes(g.Random((n + 7) / 8))
	}
	data := array.NewData(dataType, n, buffers, nil, array.UnknownNullCount, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// shapes are series of numbers that are packed in different ways.
var shapes = []func(g *arraytest.Generator) func(i int) int64{
	func(g *arraytest.Generator) func(int) int64 {
		value := g.Int64()
		return func(int) int64 { return value }
	},
	func(g *arraytest.Generator) func(int) int64 { // small, with a common factor
		factor, low, most := g.Int64N(200)+1, g.Int64N(2000)-1000, g.Int64N(1000)+1
		return func(int) int64 { return low + factor*g.Int64N(most) }
	},
	func(g *arraytest.Generator) func(int) int64 { // ascending or descending
		value, step, most := g.Int64(), g.Int64N(2000)-1000, g.Int64N(9)+1
		return func(int) int64 { value += step + g.Int64N(most); return value }
	},
	func(g *arraytest.Generator) func(int) int64 { // runs
		value, length := int64(0), g.IntN(40)+2
		return func(int) int64 {
			if g.IntN(length) == 0 {
				value = g.Int64N(1 << 40)
			}
			return value
		}
	},
	func(g *arraytest.Generator) func(int) int64 { // any bits
		shift := g.IntN(64)
		return func(int) int64 { return int64(g.Uint64() >> shift) }
	},
}

// drawArray draws an array of a type.
func drawArray(t testing.TB, r *rapid.T, g *arraytest.Generator, dataType arrow.DataType, rows int) arrow.Array {
	g.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull}).Draw(r, "nulls")
	g.Sliced = rapid.Bool().Draw(r, "sliced")
	if _, fixed := dataType.(arrow.FixedWidthDataType); fixed && dataType.ID() != arrow.BOOL && rapid.Bool().Draw(r, "number") {
		return numbers(g, dataType, rows, rapid.SampledFrom(shapes).Draw(r, "shape")(g))
	}
	if rapid.Bool().Draw(r, "repeated") && rows > 0 {
		return columntest.Repeated(t, g, dataType, rapid.IntRange(1, 1+rows/4).Draw(r, "distinct"), rows)
	}
	return g.Array(dataType, rows)
}

// pack packs arrays of a column, the rows of each call in a list.
func pack(t require.TestingT, dataType arrow.DataType, calls ...[]arrow.Array) (c packed.Column) {
	p, err := packed.NewPacker([]arrow.DataType{dataType}, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	c.Type = dataType
	for _, arrays := range calls {
		columns, _, err := p.Pack(tContext, [][]arrow.Array{arrays})
		require.NoError(t, err)
		c.Blocks = append(c.Blocks, columns[0].Blocks...)
		c.Dictionary = columns[0].Dictionary
		c.Rows += columns[0].Rows
	}
	return c
}

// requireSame fails unless the rows of an array are those of others behind each other.
func requireSame(t require.TestingT, want []arrow.Array, got arrow.Array) {
	row, nulls := 0, 0
	for _, a := range want {
		for i := range a.Len() {
			require.Less(t, row, got.Len())
			if !arraytest.Same(a, i, got, row) {
				require.Fail(t, "other values", "row %d of %v: want %s, got %s", row, a.DataType(), a.ValueStr(i), got.ValueStr(row))
			}
			if a.IsNull(i) {
				nulls++
			}
			row++
		}
	}
	require.Equal(t, row, got.Len())
	require.Equal(t, nulls, got.NullN())
}
