package gpuframe_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// extremeTypes are types that do not hold all differences of their values.
var extremeTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint64,
	&arrow.TimestampType{Unit: arrow.Nanosecond}, arrow.FixedWidthTypes.Duration_ns, arrow.FixedWidthTypes.Date32,
}

// extremes draws ascending values of a type at its ends and anywhere, as a record with the
// values in x, and in y 0 in the first and 1000 in the last row.
func extremes(t *rapid.T, of arrow.DataType, rows int) (arrow.Record, []*big.Int) {
	bits := of.(arrow.FixedWidthDataType).BitWidth()
	low, high := big.NewInt(math.MinInt64>>(64-bits)), big.NewInt(math.MaxInt64>>(64-bits))
	if arrow.IsUnsignedInteger(of.ID()) {
		low, high = new(big.Int), new(big.Int).SetUint64(math.MaxUint64>>(64-bits))
	}
	values := make([]*big.Int, rows)
	for i := range values {
		beside := big.NewInt(rapid.Int64Range(0, 3).Draw(t, "beside"))
		switch rapid.IntRange(0, 3).Draw(t, "near") {
		case 0:
			values[i] = beside.Add(low, beside)
		case 1:
			values[i] = beside.Sub(high, beside)
		case 2:
			values[i] = beside
		default:
			values[i] = new(big.Int).Rsh(new(big.Int).Add(low, high), uint(rapid.IntRange(1, bits-1).Draw(t, "shift")))
		}
	}
	slices.SortFunc(values, (*big.Int).Cmp)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: of, Nullable: true}, {Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil))
	defer b.Release()
	y := b.Field(1).(*array.Float64Builder)
	for i, v := range values {
		if i == 0 || i == rows-1 {
			y.Append(1000 * float64(min(i, 1)))
		} else {
			y.AppendNull()
		}
		switch b := b.Field(0).(type) {
		case *array.Int8Builder:
			b.Append(int8(v.Int64()))
		case *array.Int16Builder:
			b.Append(int16(v.Int64()))
		case *array.Int32Builder:
			b.Append(int32(v.Int64()))
		case *array.Int64Builder:
			b.Append(v.Int64())
		case *array.Uint8Builder:
			b.Append(uint8(v.Uint64()))
		case *array.Uint64Builder:
			b.Append(v.Uint64())
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(v.Int64()))
		case *array.DurationBuilder:
			b.Append(arrow.Duration(v.Int64()))
		case *array.Date32Builder:
			b.Append(arrow.Date32(v.Int64()))
		}
	}
	return b.NewRecord(), values
}

// lengthOf is a number of units of a type as Session and Resample take it.
func lengthOf(of arrow.DataType, units int64) any {
	switch of.(type) {
	case *arrow.TimestampType, *arrow.DurationType:
		return time.Duration(units)
	case *arrow.Date32Type:
		return time.Duration(units) * 24 * time.Hour
	}
	return units
}

// TestDifferencesBeyondTheType compares sessions and interpolated places with big integers. The
// type does not hold the differences of all values.
func TestDifferencesBeyondTheType(t *testing.T) {
	x := gpuframe.Col("x")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		property.Check(t, func(rt *rapid.T) {
			of := rapid.SampledFrom(extremeTypes).Draw(rt, "type")
			record, values := extremes(rt, of, 7)
			defer record.Release()
			gap := rapid.SampledFrom([]int64{1, 2, 100, 200, 40_000}).Draw(rt, "gap")
			var want []string
			session := 0
			for i, v := range values {
				if i == 0 || new(big.Int).Sub(v, values[i-1]).Cmp(big.NewInt(gap)) > 0 {
					session++
				}
				want = append(want, fmt.Sprint(session))
			}
			q := e.Records(nil, record)
			require.Equal(rt, want, collect(t, q.Select(x.Session(lengthOf(of, gap)).Over(gpuframe.By().OrderBy(x)))), "sessions of %v %v", of, values)

			first, last := values[0], values[len(values)-1]
			if first.Cmp(last) == 0 {
				return
			}
			places := q.Select(gpuframe.Col("y").InterpolateBy(x).Over(gpuframe.By().OrderBy(x)).As("y"))
			for i, line := range collect(t, places) {
				part, _ := new(big.Rat).SetFrac(new(big.Int).Sub(values[i], first), new(big.Int).Sub(last, first)).Float64()
				var place float64
				_, err := fmt.Sscan(line, &place)
				require.NoError(rt, err)
				require.InDelta(rt, 1000*part, place, 1e-9, "row %d of %v %v", i, of, values)
			}
		})
	})
}

// TestWindowsBeyondTheType compares windows with big integers, for values with differences that
// exceed 64 bits.
func TestWindowsBeyondTheType(t *testing.T) {
	x := gpuframe.Col("x")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		property.Check(t, func(rt *rapid.T) {
			of := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(extremeTypes), func(t arrow.DataType) bool { return t.ID() == arrow.DATE32 || t.ID() == arrow.INT32 })).Draw(rt, "type")
			record, values := extremes(rt, of, 5)
			defer record.Release()
			bits := of.(arrow.FixedWidthDataType).BitWidth()
			step := rapid.Int64Range(1<<(bits-6), 1<<(bits-4)).Draw(rt, "step")
			counts := map[string]int{}
			window := func(v *big.Int) *big.Int { return new(big.Int).Div(v, big.NewInt(step)) } // rounds down
			for _, v := range values {
				counts[window(v).String()]++
			}
			var want []string
			for w := window(values[0]); w.Cmp(window(values[len(values)-1])) <= 0; w.Add(w, big.NewInt(1)) {
				want = append(want, fmt.Sprint(counts[w.String()]))
			}
			q := e.Records(nil, record).Resample(x, lengthOf(of, step)).Agg(gpuframe.Count().As("n"))
			require.Equal(rt, want, collect(t, q.Select(gpuframe.Col("n"))), "windows of %d of %v %v", step, of, values)
			// Windows begin at multiples of the step. The first one may begin before the least value.
			begins := collect(t, q.Select(x.Cast(of)))
			require.Len(rt, begins, len(want))
			if of.ID() == arrow.INT64 {
				for i, begin := range begins {
					exact := new(big.Int).Mul(new(big.Int).Add(window(values[0]), big.NewInt(int64(i))), big.NewInt(step))
					if exact.IsInt64() {
						require.Equal(rt, exact.String(), begin)
					} else {
						require.Equal(rt, fmt.Sprint(int64(math.MinInt64)), begin)
					}
				}
			}
		})
	})
}

// TestQuantilesOfExtremes interpolates between values with a difference that overflows, of groups, in
// windows and of all rows.
func TestQuantilesOfExtremes(t *testing.T) {
	most := math.MaxFloat64
	x, g := gpuframe.Col("f"), gpuframe.Col("g")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for _, c := range []struct {
			low, high, q, want float64
		}{
			{-most, most, 0.5, 0}, {-most, most, 0.25, -most / 2}, {-most, most, 1, most}, {most, most, 0.3, most},
			{-1, most, 0.5, most / 2}, {1, 3, 0.5, 2},
		} {
			q := e.Records(nil, floatRecord(t, "f", c.low, c.high)).With(gpuframe.Lit(1).As("g"))
			want := []string{fmt.Sprint(c.want)}
			text := func(q gpuframe.Query) []string {
				lines := collect(t, q)
				for i, line := range lines {
					var value float64
					_, err := fmt.Sscan(line, &value)
					require.NoError(t, err)
					lines[i] = fmt.Sprint(value)
				}
				return lines
			}
			require.Equal(t, want, text(q.Select(x.Quantile(c.q))), "%v", c)
			require.Equal(t, want, text(q.GroupBy(g).Agg(x.Quantile(c.q)).Select(x)), "%v", c)
			require.Equal(t, append(want, want...), text(q.Select(x.Quantile(c.q).Over(gpuframe.By(g).OrderBy(x).Rows(-5, 5)))), "%v", c)
		}
	})
}

// TestSumsOfBools are signed: a difference of two counts can be negative.
func TestSumsOfBools(t *testing.T) {
	f, g := gpuframe.Col("f"), gpuframe.Col("g")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, floatRecord(t, "f", 1, -1, -2)).With(f.Gt(0).As("up"), f.Lt(0).As("down"), gpuframe.Lit(1).As("g"))
		difference := gpuframe.Col("up").Sum().Sub(gpuframe.Col("down").Sum()).As("d")
		require.Equal(t, []string{"-1"}, collect(t, q.Select(difference)))
		require.Equal(t, []string{"1 -1"}, collect(t, q.GroupBy(g).Agg(difference)))
		require.Equal(t, []string{"-1", "-1", "-1"}, collect(t, q.Select(gpuframe.Col("up").Sum().Over(gpuframe.By(g)).Sub(gpuframe.Col("down").Sum().Over(gpuframe.By(g))))))
		require.Equal(t, []string{"-1"}, collect(t, q.Select(gpuframe.Col("up").Product().Sub(1))))
	})
}
