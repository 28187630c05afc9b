package group_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestQuantilesOfDecimals requires quantiles of the values of each group, with their scale, of a
// whole table and of merged partial results.
func TestQuantilesOfDecimals(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}, Nullable: true},
	}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[
		{"k": 1, "d": "2.00"}, {"k": 2, "d": "-0.50"}, {"k": 1, "d": "9999999.99"}, {"k": 3, "d": null}, {"k": 1, "d": "0.25"},
		{"k": 2, "d": "1.00"}, {"k": 4, "d": "-9999999.99"}, {"k": 2, "d": null}]`))
	require.NoError(t, err)
	defer record.Release()
	want := []string{"1 2 0.25", "2 0.25 -0.5", "3 (null) (null)", "4 -9.99999999e+06 -9.99999999e+06"}
	list := []group.Aggregate{group.Median(expr.Col("d")), group.Quantile(expr.Col("d"), 0)}
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		whole, err := group.By(table, group.Columns("k")...).Aggregate(t.Context(), list, group.ByOptions{Order: group.ByKey})
		require.NoError(t, err)
		merged, err := group.Merge(t.Context(), table.Schema(), partials(t, mgr, table, []string{"k"}, list, 3, 8), list, group.ByOptions{Order: group.ByKey})
		require.NoError(t, err)
		for _, made := range []*buffer.Buffer{whole, merged} {
			got := columntest.Fetch(t, made)
			var lines []string
			for row := range int(got.NumRows()) {
				lines = append(lines, strings.Join([]string{got.Column(0).ValueStr(row), got.Column(1).ValueStr(row), got.Column(2).ValueStr(row)}, " "))
			}
			require.Equal(t, want, lines)
		}
	})
}
