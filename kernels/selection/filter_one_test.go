package selection_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// TestFilterOneColumn filters by a predicate that reads one column without nulls, with
// and without a second column in the table, with sizes around multiples of the tile
// size, 3,584 rows.
func TestFilterOneColumn(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		const tile = 3584
		for _, n := range []int{3*tile - 1, 3 * tile, 3*tile + 1, 3*tile + 511, 34*tile + 513} {
			for _, limit := range []float64{0.5, 0.001, 0, 2}[:rounds(min(2, 40*tile/n), 4)] {
				t.Run(fmt.Sprint(n, " below ", limit), func(t *testing.T) {
					mgr := devicetest.Manager(t, dev, memory.Options{})
					builder := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
					defer builder.Release()
					r := rand.New(rand.NewPCG(uint64(n), 7))
					ahead := int(r.Uint32() % 4)
					for range ahead {
						builder.Append(-1)
					}
					var rows []int
					counted := n - int(r.Uint32()%600) // the count on the device
					for i := range n {
						x := r.Float64()
						if i%100 == 7 {
							x = math.NaN()
						}
						builder.Append(x)
						if x < limit && i < counted {
							rows = append(rows, i)
						}
					}
					all := builder.NewArray()
					defer all.Release()
					values := array.NewSlice(all, int64(ahead), int64(all.Len()))
					defer values.Release()
					predicate := expr.Col("a").Lt(expr.Lit(limit))

					alone := tableOf(t, mgr, int64(counted), true, upload(t, mgr, all, ahead, 0))
					made, err := selection.Filter(t.Context(), alone, predicate)
					require.NoError(t, err)
					requireTable(t, made, rows, values)

					beside := tableOf(t, mgr, int64(counted), true, upload(t, mgr, all, ahead, 0), upload(t, mgr, values, 0, 0))
					made, err = selection.Filter(t.Context(), beside, predicate)
					require.NoError(t, err)
					requireTable(t, made, rows, values, values)
				})
			}
		}
	})
}

// TestFilterOneColumnOfNoRows filters a table with a count of zero on the device.
func TestFilterOneColumnOfNoRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		builder := array.NewInt64Builder(arrowmemory.DefaultAllocator)
		defer builder.Release()
		for i := range 70_000 {
			builder.Append(int64(i))
		}
		values := builder.NewArray()
		defer values.Release()
		table := tableOf(t, mgr, 0, true, upload(t, mgr, values, 0, 0))
		made, err := selection.Filter(t.Context(), table, expr.Col("a").Gt(expr.Lit(int64(3))))
		require.NoError(t, err)
		requireTable(t, made, nil, values)
	})
}
