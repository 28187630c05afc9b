package gpuframe_test

import (
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// TestMeansOfDecimals requires the exact mean, rounded half away from zero, with four more digits: of all
// rows in one batch and several, of groups, pivots and frames.
func TestMeansOfDecimals(t *testing.T) {
	of := &arrow.Decimal128Type{Precision: 12, Scale: 2}
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "i", Type: arrow.PrimitiveTypes.Int32}, {Name: "d", Type: of, Nullable: true}}, nil)
	k, i, d := gpuframe.Col("k"), gpuframe.Col("i"), gpuframe.Col("d")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		r := property.Random(t)
		var records []arrow.Record
		sums, counts := [3]int64{}, [3]int64{} // of each key, and at last of all
		for batch := range 3 {
			b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
			for row := range 2 + r.IntN(40) {
				key := r.IntN(2)
				if row < 2 {
					key = row // both keys have rows
				}
				b.Field(0).(*array.Int32Builder).Append(int32(key))
				b.Field(1).(*array.Int32Builder).Append(int32(batch))
				if r.IntN(5) == 0 {
					b.Field(2).AppendNull()
					continue
				}
				x := r.Int64N(2e11) - 1e11
				b.Field(2).(*array.Decimal128Builder).Append(decimal128.FromI64(x))
				for _, at := range []int{key, 2} {
					sums[at], counts[at] = sums[at]+x, counts[at]+1
				}
			}
			records = append(records, b.NewRecord())
			b.Release()
		}
		mean := func(at int) string {
			if counts[at] == 0 {
				return "(null)"
			}
			return big.NewRat(sums[at], 100*counts[at]).FloatString(6) // rounds half away from zero
		}
		q := e.Records(schema, records...)
		require.Equal(t, []string{mean(2)}, exactLines(t, q.Select(d.Mean())))
		require.Equal(t, []string{"0 " + mean(0), "1 " + mean(1)}, exactLines(t, q.GroupBy(k).Agg(d.Mean()).Sort(k)))
		require.Equal(t, []string{"7 " + mean(0) + " " + mean(1)},
			exactLines(t, q.With(gpuframe.Lit(int32(7)).As("all")).GroupBy(gpuframe.Col("all")).Pivot(k, []any{0, 1}, d.Mean())))
		for _, window := range []gpuframe.Expr{d.Mean().Over(gpuframe.By()), d.Mean().Over(gpuframe.By().OrderBy(i).Rows(gpuframe.FirstRow, gpuframe.LastRow))} {
			lines := exactLines(t, q.Select(window.As("mean")))
			for _, line := range lines {
				require.Equal(t, mean(2), line)
			}
		}
		for _, record := range records {
			record.Release()
		}
	})
}

// exactLines returns the rows of a query with all digits of decimals.
func exactLines(t *testing.T, q gpuframe.Query) (lines []string) {
	t.Helper()
	f, err := q.Collect(t.Context())
	require.NoError(t, err)
	record, err := f.Record(t.Context())
	require.NoError(t, err)
	require.NoError(t, f.Release())
	defer record.Release()
	for row := range int(record.NumRows()) {
		line := ""
		for _, c := range record.Columns() {
			text := c.ValueStr(row)
			if v, ok := c.(*array.Decimal128); ok && v.IsValid(row) {
				scale := v.DataType().(*arrow.Decimal128Type).Scale
				text = new(big.Rat).SetFrac(v.Value(row).BigInt(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(int(scale))
			}
			line += " " + text
		}
		lines = append(lines, line[1:])
	}
	return lines
}
