package reduce_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// TestEstimates compares estimates with the memory that reductions of one part and of
// several parts use, with a row count on the host and on the device.
func TestEstimates(t *testing.T) {
	x := expr.Col("0")
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{0, 1, 4096, 4097, 20_000} {
			a := values(arraytest.NewGenerator(1), arrow.PrimitiveTypes.Int32, n)
			table := load(t, mgr, n, a)
			a.Release()
			counted := withCount(t, mgr, table, int64(n/2))
			for name, aggregates := range map[string][]reduce.Aggregate{
				"rows":     {reduce.CountAll()},
				"one":      {reduce.Sum(x)},
				"several":  {reduce.Sum(x), reduce.Variance(x, 1), reduce.ArgMax(x), reduce.CountNull(x)},
				"selected": {reduce.Mean(x.Mul(expr.Lit(2))).Where(x.Gt(expr.Lit(0)))},
			} {
				for where, of := range map[string]*buffer.Buffer{"host": table, "device": counted} {
					columntest.CheckEstimate(t, mgr, fmt.Sprintf("%s of %d rows, count on the %s", name, n, where), func(o kernels.Options) (*buffer.Buffer, error) {
						return reduce.Table(t.Context(), of, aggregates, o)
					})
				}
			}
			columntest.CheckEstimate(t, mgr, "column", func(o kernels.Options) (*column.Column, error) {
				return reduce.Column(t.Context(), table.Column(0), reduce.Max, o)
			})
			_, err := kernels.EstimateOf(func(o kernels.Options) (*column.Column, error) {
				return reduce.Column(t.Context(), table.Column(0), reduce.Any, o)
			})
			require.ErrorIs(t, err, device.ErrNotSupported)
			require.NoError(t, counted.Release())
			require.NoError(t, table.Release())
		}
	})
}
