package reduce_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/memory"
)

// values makes an array with meaningful sums: floats of similar magnitude, sometimes
// with NaN, infinities and zeros of both signs, and decimals with a sum that fits.
// Arrays of other types have arbitrary values.
func values(g *arraytest.Generator, kind arrow.DataType, n int) arrow.Array {
	special := g.IntN(2) == 0
	number := func() float64 {
		if special && g.IntN(100) == 0 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 0x1p-140}[g.IntN(6)]
		}
		return math.Round(g.NormFloat64()*1000) / 16
	}
	before, behind := 0, 0
	if g.Sliced {
		before, behind = 1+g.IntN(40), g.IntN(10)
	}
	b := array.NewBuilder(arrowmemory.DefaultAllocator, kind)
	defer b.Release()
	for range before + n + behind {
		if g.Nulls == arraytest.AllNull || g.Nulls == arraytest.SomeNull && g.IntN(3) == 0 {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Float32Builder:
			b.Append(float32(number()))
		case *array.Float64Builder:
			b.Append(number())
		case *array.Decimal128Builder:
			b.Append(decimal128.FromI64(g.Int64N(2e11) - 1e11))
		default:
			return g.Array(kind, n)
		}
	}
	whole := b.NewArray()
	defer whole.Release()
	return array.NewSlice(whole, int64(before), int64(before+n))
}

// load makes a table of arrays. Its columns are named "0", "1" and so on and begin
// anywhere in their buffers.
func load(t testing.TB, mgr *memory.Manager, n int, arrays ...arrow.Array) *buffer.Buffer {
	t.Helper()
	const before = 37
	fields := make([]arrow.Field, len(arrays))
	padded := make([]arrow.Array, len(arrays))
	for i, a := range arrays {
		fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: a.DataType(), Nullable: true}
		ahead := arraytest.NewGenerator(uint64(i)).Array(a.DataType(), before)
		var err error
		padded[i], err = array.Concatenate([]arrow.Array{ahead, a}, arrowmemory.DefaultAllocator)
		require.NoError(t, err)
		ahead.Release()
		defer padded[i].Release()
	}
	record := array.NewRecord(arrow.NewSchema(fields, nil), padded, int64(before+n))
	defer record.Release()
	whole, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, whole.Release()) }()
	table, err := whole.Slice(before, int64(n))
	require.NoError(t, err)
	return table
}

func int64s(values ...int64) arrow.Array {
	b := array.NewInt64Builder(arrowmemory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewArray()
}
