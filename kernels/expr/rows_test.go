package expr_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// TestColumnsCarryTheRowCount uses columns of a result by themselves. Only the device knows
// their number of rows.
func TestColumnsCarryTheRowCount(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := tableOf(t, mgr, fromJSON(t, i32, "[1, 2, null, 4, 5]"))
		count, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, count.Upload(ctx, nil, []int64{2}))
		table, err := buffer.New(whole.Schema(), []*column.Column{whole.Column(0)}, buffer.Rows{Device: count})
		require.NoError(t, err)
		evaluated, err := expr.Evaluate(ctx, table, []expr.Expr{a.Mul(expr.Lit(2)), a, expr.Lit(7)})
		require.NoError(t, err)
		for i, want := range []string{"[2 4]", "[1 2]", "[7 7]"} {
			require.Equal(t, want, arrayOf(t, evaluated[i]).String())
			sum, err := reduce.Column(ctx, evaluated[i], reduce.Sum)
			require.NoError(t, err)
			require.Equal(t, []string{"[6]", "[3]", "[14]"}[i], arrayOf(t, sum).String())
			require.NoError(t, sum.Release())
			require.NoError(t, evaluated[i].Release())
		}
		require.NoError(t, table.Release())
		require.NoError(t, count.Release())
	})
}

// TestEmptyTablesKnowTheirManager evaluates tables that have no memory at all.
func TestEmptyTablesKnowTheirManager(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, kind := range []arrow.DataType{i32, text, arrow.Null} {
			table := tableOf(t, mgr, fromJSON(t, kind, "[]"))
			projected, err := expr.Project(ctx, table, []expr.Expr{expr.Lit(1), a})
			require.NoError(t, err)
			require.Same(t, mgr, projected.Manager())
			again, err := expr.Project(ctx, projected, []expr.Expr{expr.Col("1").Add(expr.Lit(1))})
			require.NoError(t, err, "%v", kind)
			counts, err := reduce.Scalars(ctx, again, []reduce.Aggregate{reduce.CountAll(), reduce.Sum(expr.Col("1 + 1"))})
			require.NoError(t, err)
			require.Equal(t, "0", counts[0].String())
			require.False(t, counts[1].IsValid())
			require.NoError(t, again.Release())
			require.NoError(t, projected.Release())
		}
	})
}
