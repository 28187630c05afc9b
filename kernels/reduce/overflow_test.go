package reduce_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// extremes makes n values near the limits of a type: all near one limit, or near both.
// For wide decimals the sums need up to 150 bits.
func extremes(r *rand.Rand, kind arrow.DataType, n int) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, kind)
	defer b.Release()
	sides := r.IntN(3) // near the upper limit, the lower limit, or both
	near := func() uint64 { return r.Uint64() >> (1 + r.IntN(63)) / 2 }
	for range n {
		upper := sides == 0 || sides == 2 && r.IntN(2) == 0
		if r.IntN(7) == 0 {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Int64Builder:
			if upper {
				b.Append(math.MaxInt64 - int64(near()))
			} else {
				b.Append(math.MinInt64 + int64(near()))
			}
		case *array.DurationBuilder:
			if upper {
				b.Append(math.MaxInt64 - arrow.Duration(near()))
			} else {
				b.Append(math.MinInt64 + arrow.Duration(near()))
			}
		case *array.Uint64Builder:
			b.Append(math.MaxUint64 - near())
		case *array.Decimal128Builder:
			most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(kind.(*arrow.Decimal128Type).Precision)), nil)
			most.Sub(most, new(big.Int).SetUint64(1+near()))
			if !upper {
				most.Neg(most)
			}
			b.Append(decimal128.FromBigInt(most))
		}
	}
	return b.NewArray()
}

// TestSumsThatOverflowAreNull compares sums and means of values near the limits of
// their types with exact ones: those that overflow are null.
func TestSumsThatOverflowAreNull(t *testing.T) {
	x := expr.Col("0")
	kinds := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Duration_us,
		&arrow.Decimal128Type{Precision: 38, Scale: 0}, &arrow.Decimal128Type{Precision: 38, Scale: 30}, &arrow.Decimal128Type{Precision: 34, Scale: 30},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, kind := range kinds {
			for n := range 12 {
				testOverflow(t, mgr, kind, n, x)
			}
			for _, n := range []int{300, 4096, 9000} {
				testOverflow(t, mgr, kind, n, x)
			}
		}
	})
}

func testOverflow(t *testing.T, mgr *memory.Manager, kind arrow.DataType, n int, x expr.Expr) {
	r := rand.New(rand.NewPCG(uint64(n), 4))
	for range 3 {
		values := extremes(r, kind, n)
		defer values.Release()
		every := make([]bool, n)
		for i := range every {
			every[i] = true
		}
		numbers, _ := kept(cells(t, values), every)
		exact, count := new(big.Int), int64(len(numbers))
		for _, c := range numbers {
			exact.Add(exact, c.integer)
		}
		want := []cell{{}, {}}
		aggregates := []reduce.Aggregate{reduce.Sum(x)}
		if count > 0 {
			want[0] = held(exact, kind)
		}
		if arrow.IsDecimal(kind.ID()) {
			aggregates = append(aggregates, reduce.Mean(x))
			if count > 0 {
				want[1] = decimalMean(exact, count, kind)
			}
		}
		table := load(t, mgr, n, values)
		result, err := reduce.Table(t.Context(), table, aggregates)
		require.NoError(t, err)
		record, err := result.Record(t.Context())
		require.NoError(t, err)
		for i, a := range aggregates {
			require.Equal(t, want[i].String(), cells(t, record.Column(i))[0].String(), fmt.Sprintf("%v of %d rows of %v", a, n, kind))
		}
		record.Release()
		require.NoError(t, result.Release())
		require.NoError(t, table.Release())
	}
}

// TestSumsAtTheEnds has sums just inside and just outside the range of their type.
func TestSumsAtTheEnds(t *testing.T) {
	power := func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }
	digits := new(big.Int).Sub(power(38), big.NewInt(1)) // 38 nines
	wide := &arrow.Decimal128Type{Precision: 38}
	cases := []struct {
		kind   arrow.DataType
		values []*big.Int
		sum    string
	}{
		{arrow.PrimitiveTypes.Int64, []*big.Int{big.NewInt(math.MaxInt64), big.NewInt(-1), big.NewInt(1)}, fmt.Sprint(int64(math.MaxInt64))},
		{arrow.PrimitiveTypes.Int64, []*big.Int{big.NewInt(math.MaxInt64), big.NewInt(1)}, "null"},
		{arrow.PrimitiveTypes.Int64, []*big.Int{big.NewInt(math.MinInt64 + 1), big.NewInt(-1)}, fmt.Sprint(int64(math.MinInt64))},
		{arrow.PrimitiveTypes.Int64, []*big.Int{big.NewInt(math.MinInt64), big.NewInt(-1)}, "null"},
		{arrow.PrimitiveTypes.Uint64, []*big.Int{new(big.Int).SetUint64(math.MaxUint64 - 1), big.NewInt(1)}, fmt.Sprint(uint64(math.MaxUint64))},
		{arrow.PrimitiveTypes.Uint64, []*big.Int{new(big.Int).SetUint64(math.MaxUint64), big.NewInt(1)}, "null"},
		{wide, []*big.Int{new(big.Int).Sub(digits, big.NewInt(1)), big.NewInt(1)}, digits.String()},
		{wide, []*big.Int{digits, big.NewInt(1)}, "null"},
		{wide, []*big.Int{digits, digits, new(big.Int).Neg(digits)}, digits.String()},
		{wide, []*big.Int{new(big.Int).Neg(digits), big.NewInt(-1)}, "null"},
		{wide, []*big.Int{new(big.Int).Neg(digits)}, "-" + digits.String()},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, c := range cases {
			b := array.NewBuilder(arrowmemory.DefaultAllocator, c.kind)
			for _, v := range c.values {
				require.NoError(t, b.AppendValueFromString(v.String()))
			}
			a := b.NewArray()
			b.Release()
			table := load(t, mgr, a.Len(), a)
			result, err := reduce.Table(t.Context(), table, []reduce.Aggregate{reduce.Sum(expr.Col("0"))})
			require.NoError(t, err)
			record, err := result.Record(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.sum, cells(t, record.Column(0))[0].String(), "%v of %v", c.values, c.kind)
			record.Release()
			require.NoError(t, result.Release())
			require.NoError(t, table.Release())
			a.Release()
		}
	})
}
