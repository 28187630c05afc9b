package reduce_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// TestManyNullableColumns reduces columns together and one by one. Together they use
// the kernel in which all columns may have a bitmap.
func TestManyNullableColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{1000, 9000} {
			g := arraytest.NewGenerator(1)
			arrays := make([]arrow.Array, 6)
			for i := range arrays {
				g.Nulls = arraytest.NoneNull
				if i%2 == 0 {
					g.Nulls = arraytest.SomeNull
				}
				arrays[i] = values(g, arrow.PrimitiveTypes.Float64, n)
				defer arrays[i].Release()
			}
			table := load(t, mgr, n, arrays...)
			var aggregates []reduce.Aggregate
			for i := range arrays {
				x := expr.Col(fmt.Sprint(i))
				aggregates = append(aggregates, reduce.Sum(x), reduce.Count(x), reduce.ArgMax(x))
			}
			together, err := reduce.Scalars(t.Context(), table, aggregates)
			require.NoError(t, err)
			for i, a := range aggregates {
				alone, err := reduce.Scalars(t.Context(), table, []reduce.Aggregate{a})
				require.NoError(t, err)
				require.Equal(t, alone[0].String(), together[i].String(), "%v", a)
			}
			require.NoError(t, table.Release())
		}
	})
}
