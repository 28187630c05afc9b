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

// TestPartialsOfListsMerge merges partial results of lists, null and empty ones among them.
func TestPartialsOfListsMerge(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32},
		{Name: "n", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
		{Name: "s", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[
		{"k": 2, "n": null, "s": ["a", "b"]}, {"k": 0, "n": null, "s": ["a", null]}, {"k": 3, "n": null, "s": []}, {"k": 0, "n": [], "s": ["a", "b"]},
		{"k": 0, "n": null, "s": null}, {"k": 1, "n": [1, 2], "s": ["a", "b"]}, {"k": 1, "n": [1, 2], "s": ["a", "b", "c"]}, {"k": 1, "n": [1], "s": ["a", "b"]},
		{"k": 0, "n": [1, 2], "s": ["a", "b"]}, {"k": 0, "n": [null], "s": ["a", null]}, {"k": 2, "n": [], "s": [null]}, {"k": 0, "n": [], "s": ["a", "b"]}]`))
	require.NoError(t, err)
	defer record.Release()
	var list []group.Aggregate
	for _, name := range []string{"n", "s"} {
		e := expr.Col(name)
		list = append(list, group.Collect(e), group.First(e), group.Last(e), group.Count(e))
	}
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		options := group.ByOptions{Order: group.ByKey}
		whole, err := group.By(table, group.Columns("k")...).Aggregate(t.Context(), list, options)
		require.NoError(t, err)
		want := columntest.Fetch(t, whole)
		for _, ends := range [][]int64{{12}, {4, 12}, {3, 5, 12}, {1, 1, 9, 12}} {
			merged, err := group.Merge(t.Context(), schema, partials(t, mgr, table, []string{"k"}, list, ends...), list, options)
			require.NoError(t, err)
			got := columntest.Fetch(t, merged)
			for c := range int(want.NumCols()) {
				require.Equal(t, columntest.Texts(want.Column(c)), columntest.Texts(got.Column(c)), "%s in parts %v", want.ColumnName(c), ends)
			}
		}
	})
}
