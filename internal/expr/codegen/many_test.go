package codegen_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// agree runs the kernel for many rows on columns with few rows, and compares the
// results.
func agree(t *testing.T, call op.Call, p *exprtree.Program, columns []*column.Column, rows memory.Slice[int64], results []arrow.Array) {
	t.Helper()
	n := columns[0].Len()
	again, err := codegen.RunMany(call, p, columns, rows, n)
	require.NoError(t, err)
	defer release(t, again)
	if rows.Len() > 0 {
		n = clamped(t, rows, n)
	}
	for i, c := range again {
		a, err := c.Array(t.Context())
		require.NoError(t, err)
		if array.SliceEqual(results[i], 0, int64(n), a, 0, int64(n)) {
			continue // equal, except for NaN
		}
		for row := range n {
			if a.IsNull(row) != results[i].IsNull(row) || a.IsValid(row) && !same(results[i], a, row) {
				require.FailNowf(t, "kernels differ", "output %d, row %d of %d: %s for few, %s for many", i, row, n, results[i].ValueStr(row), a.ValueStr(row))
			}
		}
	}
}

// clamped returns the number of rows, limited to the capacity.
func clamped(t *testing.T, rows memory.Slice[int64], capacity int) int {
	t.Helper()
	var n [1]int64
	require.NoError(t, rows.Download(t.Context(), nil, n[:]))
	return int(min(max(n[0], 0), int64(capacity)))
}
