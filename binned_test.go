package gpuframe_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// floatsByKey returns a table of floats x and keys k.
func floatsByKey(t testing.TB, x []float64, valid []bool, k []int64) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(k, nil)
	b.Field(1).(*array.Float64Builder).AppendValues(x, valid)
	r := b.NewRecord()
	t.Cleanup(r.Release)
	return r
}

// cells returns the values of the rows of a query, integers of all widths as int64 or uint64.
func cells(t require.TestingT, q gpuframe.Query) (rows [][]any) {
	ctx := context.Background()
	f, err := q.Collect(ctx)
	require.NoError(t, err)
	record, err := f.Record(ctx)
	require.NoError(t, errors.Join(err, f.Release()))
	defer record.Release()
	for i := range int(record.NumRows()) {
		row := make([]any, record.NumCols())
		for j, c := range record.Columns() {
			row[j] = exprtest.Cell(c, i)
		}
		rows = append(rows, row)
	}
	return rows
}

// isBehind is the order of comparisons: NaN is the greatest value.
func isBehind(x, limit float64) bool { return x > limit || math.IsNaN(x) }

// TestBins compares bins and rescaled values of random partitions with their definitions.
func TestBins(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		property.Check(t, func(r *rapid.T) {
			n := rapid.IntRange(0, 60).Draw(r, "rows")
			x, valid, k := make([]float64, n), make([]bool, n), make([]int64, n)
			for i := range n {
				x[i] = float64(rapid.IntRange(-20, 20).Draw(r, "x")) / 4
				if special := rapid.IntRange(0, 30).Draw(r, "special"); special < 3 {
					x[i] = []float64{math.NaN(), math.Inf(-1), math.Inf(1)}[special]
				}
				valid[i], k[i] = rapid.IntRange(0, 7).Draw(r, "valid") > 0, rapid.Int64Range(0, 2).Draw(r, "k")
			}
			breaks := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Float64Range(-5, 5), 1, 6).Draw(r, "breaks"))))
			list := make([]any, len(breaks))
			for i, b := range breaks {
				list[i] = b
			}
			parts := rapid.IntRange(1, 5).Draw(r, "parts")
			column, by := gpuframe.Col("x"), gpuframe.By(gpuframe.Col("k"))
			got := cells(t, e.Records(nil, floatsByKey(t, x, valid, k)).Select(column.Cut(list...).As("cut"), column.CutLeft(list...).As("left"),
				column.QCut(parts).Over(by).As("qcut"), column.Rescale(-1, 2).Over(by).As("rescaled")))
			for i, row := range got {
				if !valid[i] {
					require.Equal(r, []any{nil, nil, nil, nil}, row)
					continue
				}
				right := sort.Search(len(breaks), func(b int) bool { return !isBehind(x[i], breaks[b]) })
				left := sort.Search(len(breaks), func(b int) bool { return !isBehind(x[i], breaks[b]) && x[i] != breaks[b] })
				require.Equal(r, []any{int64(right), int64(left)}, row[:2], "%v in %v", x[i], breaks)
				var group []float64
				for j := range x {
					if valid[j] && k[j] == k[i] {
						group = append(group, x[j])
					}
				}
				require.Equal(r, int64(quantileBin(group, x[i], parts)), row[2], "%v of %v in %d bins", x[i], group, parts)
				requireRescaled(r, group, x[i], row[3].(float64))
			}
		})
	})
}

// quantileBin returns the first bin that ends, at a quantile, not below x. NaN is in the last bin, and no limit of others.
func quantileBin(group []float64, x float64, bins int) int {
	if math.IsNaN(x) {
		return bins - 1
	}
	if slices.ContainsFunc(group, math.IsNaN) { // where NaN is the greatest value
		group = slices.Clone(group)
		slices.SortFunc(group, func(a, b float64) int {
			if isBehind(a, b) && !(math.IsNaN(a) && math.IsNaN(b)) {
				return 1
			}
			if isBehind(b, a) && !(math.IsNaN(a) && math.IsNaN(b)) {
				return -1
			}
			return 0
		})
	} else {
		group = slices.Sorted(slices.Values(group))
	}
	for bin := range bins - 1 {
		place := float64(bin+1) / float64(bins) * float64(len(group)-1)
		low := int(place)
		limit := group[low]
		if high := min(low+1, len(group)-1); place > float64(low) && group[high] != limit && !math.IsInf(limit, -1) {
			limit += (group[high] - limit) * (place - float64(low))
		}
		if math.IsNaN(limit) { // no number is above −Inf for certain
			limit = math.Inf(-1)
		}
		if x <= limit {
			return bin
		}
	}
	return bins - 1
}

func requireRescaled(t require.TestingT, group []float64, x, got float64) {
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, v := range group {
		if !math.IsNaN(v) {
			least, greatest = min(least, v), max(greatest, v)
		}
	}
	switch {
	case math.IsNaN(x):
		require.True(t, math.IsNaN(got))
	case least == greatest:
		require.Equal(t, -1.0, got)
	case x == least:
		require.Equal(t, -1.0, got)
	case x == greatest:
		require.Equal(t, 2.0, got)
	case math.IsInf(least, 0) || math.IsInf(greatest, 0):
		require.True(t, math.IsNaN(got))
	default:
		require.InDelta(t, -1+3*(x-least)/(greatest-least), got, 1e-12)
	}
}

// TestBinsOfExtremes has the greatest numbers and infinities.
func TestBinsOfExtremes(t *testing.T) {
	inf, nan, greatest := math.Inf(1), math.NaN(), math.MaxFloat64
	x := gpuframe.Col("x")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for _, test := range []struct {
			x        []float64
			e        gpuframe.Expr
			expected []any
		}{
			{[]float64{-1e308, 0, 1e308}, x.Rescale(0, 1), []any{0.0, 0.5, 1.0}},
			{[]float64{-greatest, greatest / 2, greatest}, x.Rescale(-1, 1), []any{-1.0, 0.5, 1.0}},
			{[]float64{1, 2, 3}, x.Rescale(-greatest, greatest), []any{-greatest, 0.0, greatest}},
			{[]float64{3, inf}, x.Rescale(0, 1), []any{0.0, 1.0}},
			{[]float64{-inf, inf}, x.Rescale(0, 1), []any{0.0, 1.0}},
			{[]float64{-inf, -inf}, x.Rescale(2, 1), []any{2.0, 2.0}},
			{[]float64{-inf, 1, 2, 3, 4, 5}, x.QCut(10), []any{int64(0), int64(1), int64(3), int64(5), int64(7), int64(9)}},
			{[]float64{-inf, 1, inf, nan}, x.QCut(2), []any{int64(0), int64(0), int64(0), int64(1)}},
			{[]float64{inf, inf, nan}, x.QCut(2), []any{int64(0), int64(0), int64(1)}},
			{[]float64{nan, nan}, x.QCut(3), []any{int64(2), int64(2)}},
			{[]float64{-inf, -inf}, x.QCut(3), []any{int64(0), int64(0)}},
		} {
			var got []any
			for _, row := range cells(t, e.Records(nil, floatsByKey(t, test.x, nil, make([]int64, len(test.x)))).Select(test.e.As("y"))) {
				got = append(got, row...)
			}
			require.Equal(t, test.expected, got, "%v of %v", test.e, test.x)
		}
	})
}

// TestBinsRefused tests breaks and numbers of bins that are wrong.
func TestBinsRefused(t *testing.T) {
	x := gpuframe.Col("x")
	record := floatsByKey(t, []float64{1}, nil, []int64{0})
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for message, expression := range map[string]gpuframe.Expr{
			"cut without breaks":                               x.Cut(),
			"cut with break 2 before 2":                        x.Cut(1.0, 2.0, 2.0),
			"cut with break 3 before 1":                        x.CutLeft(3, 1),
			"cut with break 9 before 8":                        x.Cut(uint64(9), uint64(8)),
			"break 7 before 6.5":                               x.Cut(7, 6.5),
			"9223372036854775809 before 9.223372036854776e+18": x.Cut(uint64(1<<63+1), float64(1<<63)),
			"break 6 before 6":                                 x.Cut(float32(6), uint8(6)),
			"not a number: all":                                x.Cut(math.NaN(), 1.0),
			"number: all values":                               x.Cut(0, float32(math.NaN())),
			"cut with break nil":                               x.Cut(1, nil),
			"type []float64: give each":                        x.Cut([]float64{1, 2}),
			"qcut into 0 bins":                                 x.QCut(0),
			"qcut into 1001 bins":                              x.QCut(1001),
			"expected 1 to 1000":                               x.QCut(-1),
			"rescale from NaN to 1":                            x.Rescale(math.NaN(), 1),
			"rescale from 0 to +Inf":                           x.Rescale(0, math.Inf(1)),
			"utf8":                                             x.Cut("a"),
		} {
			_, err := e.Records(nil, record).Select(expression.As("y")).Schema(t.Context())
			require.ErrorContains(t, err, message)
		}
		for _, breaks := range [][]any{{1, uint8(2), 2.5, float32(3), uint64(math.MaxUint64), math.Inf(1)}, {math.Inf(-1), -1, 0.5}, {x.Min(), 5, x.Max()}} {
			_, err := e.Records(nil, record).Select(x.Cut(breaks...).As("y")).Schema(t.Context())
			require.NoError(t, err, "%v", breaks)
		}
	})
}
