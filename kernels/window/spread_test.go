package window_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// oneKeyRecord is a table of a key without nulls and of values, in no order.
func oneKeyRecord(g *arraytest.Generator, t arrow.DataType, n, keys int) arrow.Record {
	b := array.NewBuilder(arrowalloc.DefaultAllocator, t)
	defer b.Release()
	for range n {
		if err := b.AppendValueFromString(fmt.Sprint(g.IntN(keys))); err != nil {
			panic(err)
		}
	}
	key := b.NewArray()
	defer key.Release()
	v, w := g.Array(arrow.PrimitiveTypes.Float64, n), g.Array(arrow.PrimitiveTypes.Int32, n)
	defer v.Release()
	defer w.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: t}, {Name: "v", Type: v.DataType(), Nullable: true}, {Name: "w", Type: w.DataType(), Nullable: true}}, nil)
	return array.NewRecord(schema, []arrow.Array{key, v, w}, int64(n))
}

// TestOneKey compares kernels with the host for rows in no order by one key, whose values travel
// with the numbers of the rows, also in descending order. Some results are of few bytes or have nulls.
func TestOneKey(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	v, w := expr.Col("v"), expr.Col("w")
	functions := []window.Function{
		window.RowNumber(), window.PercentRank(), window.Lag(v, 2), window.Last(w).Rows(-3, 1), window.Sum(v).Rows(window.FirstRow, 0),
		window.Sum(w).Rows(-4, 4), window.Min(w).Rows(-9, 9), window.Max(v).Rows(-700, 0), window.Count(v).Rows(-2, 2), window.Median(v).Rows(-5, 0),
	}
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(21)
		rows := []int{3, 700, 6000}
		if devicetest.Emulated(dev) {
			rows = []int{3, 5000}
		}
		for i, keyType := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int16} {
			for _, n := range rows {
				record := oneKeyRecord(g, keyType, n, 1+n/7)
				key := order.Key{Column: "k", Descending: i%2 == 1}
				by := window.Windows{PartitionBy: []order.Key{key}}
				if i == 2 {
					by = window.Windows{OrderBy: []order.Key{key}}
				}
				got, want := overRecord(t, mgr, record, by, functions), overRecord(t, host, record, by, functions)
				for j := range want {
					require.True(t, want[j].String() == got[j].String(), "%v by %v, %d rows", functions[j], keyType, n)
				}
				record.Release()
			}
		}
	})
}

func overRecord(t *testing.T, mgr *memory.Manager, record arrow.Record, by window.Windows, functions []window.Function) []arrow.Array {
	t.Helper()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	columns, err := window.Over(spreading(t.Context(), true), table, by, functions)
	require.NoError(t, err)
	return arraysOf(t, columns)
}

// TestSpreadBudget gives the functions no memory to spare: then they write to the rows at once.
func TestSpreadBudget(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		free := devicetest.Manager(t, dev, memory.Options{})
		record := oneKeyRecord(arraytest.NewGenerator(5), arrow.PrimitiveTypes.Int32, 5000, 40)
		defer record.Release()
		by := window.Windows{PartitionBy: []order.Key{{Column: "k"}}}
		functions := []window.Function{window.RowNumber(), window.Sum(expr.Col("v")).Rows(window.FirstRow, 0)}
		want := overRecord(t, free, record, by, functions)
		peak := free.Stats().Peak
		refused := 0
		for budget := peak; ; budget -= peak / 40 {
			mgr := devicetest.Manager(t, dev, memory.Options{Budget: budget})
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			columns, err := window.Over(spreading(t.Context(), true), table, by, functions)
			if err != nil {
				require.ErrorIs(t, err, memory.ErrBudget)
				require.NoError(t, table.Release())
				break
			}
			if budget < peak {
				refused++
			}
			for i, a := range arraysOf(t, columns) {
				require.True(t, want[i].String() == a.String(), "%v", functions[i])
			}
			require.NoError(t, table.Release())
		}
		require.Positive(t, refused)
	})
}
