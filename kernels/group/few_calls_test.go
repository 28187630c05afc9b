package group_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/callcount"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
	"github.com/gpuframe/gpuframe/memory"
)

// fewTable returns a table of rows with 100 keys and a value.
func fewTable(t testing.TB, mgr *memory.Manager, rows int) *buffer.Buffer {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.PrimitiveTypes.Int32}, {Name: "value", Type: arrow.PrimitiveTypes.Float64}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int32Builder).Append(int32(i * 7 % 100))
		b.Field(1).(*array.Float64Builder).Append(float64(i) / 3)
	}
	record := b.NewRecord()
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

// TestFewRowsCalls pins what the driver does for a small group-by: one launch, as code and memory
// are there from the first one.
func TestFewRowsCalls(t *testing.T) {
	name, counted, err := callcount.Register(kerneltest.Open(t))
	require.NoError(t, err)
	mgr := devicetest.Manager(t, devicetest.Open(t, name), memory.Options{})
	table := fewTable(t, mgr, 1000)
	for _, query := range []struct {
		name  string
		of    group.Query
		calls map[string]int
	}{
		{"columns", group.By(table, group.Columns("key")...), map[string]int{callcount.Launch: 1}},
		{"expressions", group.By(table, group.Key{Expr: expr.Col("key").Mod(expr.Lit(int32(7)))}).Where(expr.Col("value").Gt(expr.Lit(10.0))),
			map[string]int{callcount.Launch: 2}},
	} {
		t.Run(query.name, func(t *testing.T) {
			for i := range 2 {
				counted.Take()
				made, err := query.of.Aggregate(t.Context(), []group.Aggregate{group.Sum(expr.Col("value")), group.Max(expr.Col("value")), group.CountAll()})
				require.NoError(t, err)
				require.NoError(t, made.Release())
				if calls := counted.Take(); i > 0 {
					require.Equal(t, query.calls, calls.Count)
				}
			}
		})
	}
}

// TestTilesCalls pins what the driver does for means by a key with a known range: the states are cleared by one
// call, and the host does not wait.
func TestTilesCalls(t *testing.T) {
	mgr, counted, _ := ofQuantiles(t)
	const n = 1000
	keys, x := make([]int32, n), make([]float64, n)
	for i := range keys {
		keys[i], x[i] = int32(i%100)+1, float64(i)
	}
	table := floatTable(t, mgr, keys, x, x)
	means := []group.Aggregate{group.Mean(expr.Col("k")), group.Mean(expr.Col("x")), group.Mean(expr.Col("y"))}
	for i := range 2 {
		counted.Take()
		groups, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), strategy.Group{Add: strategy.Tiles, MeasuredRows: 1}), means)
		require.NoError(t, err)
		require.NoError(t, groups.Release())
		if calls := counted.Take(); i > 0 {
			require.Equal(t, 1, calls.Count[callcount.Fill])
			require.Zero(t, calls.Count[callcount.Wait]+calls.Count[callcount.Download])
			require.Equal(t, 1, calls.Kernels["add_tiles"])
		}
	}
}

// BenchmarkFewRows measures the time of the host, without launches.
func BenchmarkFewRows(b *testing.B) {
	name, counted, err := callcount.Register(kerneltest.Open(b))
	require.NoError(b, err)
	mgr := devicetest.Manager(b, devicetest.Open(b, name), memory.Options{})
	table := fewTable(b, mgr, 1000)
	counted.Discard = true
	b.ReportAllocs()
	for b.Loop() {
		made, err := group.By(table, group.Columns("key")...).Aggregate(b.Context(), []group.Aggregate{group.Sum(expr.Col("value"))})
		require.NoError(b, err)
		require.NoError(b, made.Release())
	}
}
