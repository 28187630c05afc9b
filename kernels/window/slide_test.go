package window_test

import (
	"fmt"
	"math"
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

// valuesWithoutNulls has a column of partitions in order, which are of up to longest rows, and
// columns of numbers that do not add up exactly.
func valuesWithoutNulls(g *arraytest.Generator, n, longest int) arrow.Record {
	p, f64 := array.NewInt32Builder(arrowalloc.DefaultAllocator), array.NewFloat64Builder(arrowalloc.DefaultAllocator)
	i64 := array.NewInt64Builder(arrowalloc.DefaultAllocator)
	f32, i16 := array.NewFloat32Builder(arrowalloc.DefaultAllocator), array.NewInt16Builder(arrowalloc.DefaultAllocator)
	partition, rest := int32(0), g.IntN(longest)
	for range n {
		if rest == 0 {
			partition, rest = partition+1, 1+g.IntN(longest)
		}
		rest--
		p.Append(partition)
		x := (g.Float64() - 0.5) * math.Pow(10, float64(g.IntN(20)-10))
		f64.Append(x)
		f32.Append(float32(x))
		i16.Append(int16(g.IntN(2000) - 1000))
		i64.Append(int64(g.Uint64()) >> (g.IntN(3) * 20))
	}
	t := arrow.PrimitiveTypes
	fields := []arrow.Field{{Name: "p", Type: t.Int32}, {Name: "f64", Type: t.Float64}, {Name: "f32", Type: t.Float32}, {Name: "i16", Type: t.Int16}, {Name: "i64", Type: t.Int64}}
	columns := []arrow.Array{p.NewArray(), f64.NewArray(), f32.NewArray(), i16.NewArray(), i64.NewArray()}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(n))
}

// TestShortFrames requires the bits of the host for frames of rows of columns without nulls:
// before, around and behind the row, at the ends of the table and of partitions of a few or
// of many rows, and up to the longest that a warp folds in registers.
func TestShortFrames(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(23)
		frames := [][2]int64{{-99, 0}, {0, 0}, {-1, 1}, {-255, 0}, {-20, 236}, {5, 9}, {-300, -200}, {400, 655}, {-256, 0}, {-40, 9}}
		rows := []int{1, 40, 1500, 4100}
		if testing.Short() {
			frames, rows = frames[g.IntN(2):], []int{40, 1500}
		}
		for _, n := range rows {
			for _, longest := range []int{30, 900, 1 << 20} {
				record := valuesWithoutNulls(g, n, longest)
				w := window.Windows{PartitionBy: []order.Key{{Column: "p"}}}
				if longest > n {
					w = window.Windows{}
				}
				var functions []window.Function
				for i, f := range frames {
					set := func(f window.Function, frame [2]int64) window.Function { return f.Rows(frame[0], frame[1]) }
					functions = append(functions, set(window.Mean(expr.Col("f64")), f), set(window.Max(expr.Col("f64")), f))
					if i%3 == 0 {
						functions = append(functions, set(window.Sum(expr.Col("f32")).AtLeast(3), f), set(window.Min(expr.Col("i16")), f), set(window.Max(expr.Col("f32")), f))
					}
				}
				running := func(f window.Function) window.Function { return f.Rows(window.FirstRow, 0) }
				functions = append(functions, running(window.Sum(expr.Col("f64"))), running(window.Mean(expr.Col("f64")).AtLeast(5)),
					running(window.Sum(expr.Col("i64"))), running(window.Mean(expr.Col("i64"))))
				var results [2][]arrow.Array
				for i, m := range []*memory.Manager{host, mgr} {
					table, err := buffer.FromRecord(m, record)
					require.NoError(t, err)
					made, err := window.Over(t.Context(), table, w, functions)
					require.NoError(t, err)
					results[i] = arraysOf(t, made)
					require.NoError(t, table.Release())
				}
				for i, f := range functions {
					name := fmt.Sprintf("%v of %d rows, partitions up to %d", f, n, longest)
					require.True(t, array.Equal(results[0][i], results[1][i]), "%s: %v, on the host %v", name, results[1][i], results[0][i])
				}
				record.Release()
			}
		}
	})
}

// TestSumsOfManyTiles has more tiles than a block folds together.
func TestSumsOfManyTiles(t *testing.T) {
	if testing.Short() {
		t.Skip("600,000 rows: at full sizes only")
	}
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, longest := range []int{100_000, 1 << 30} {
			record := valuesWithoutNulls(arraytest.NewGenerator(31), 600_000, longest)
			w := window.Windows{PartitionBy: []order.Key{{Column: "p"}}}
			functions := []window.Function{window.Sum(expr.Col("f64")).Rows(window.FirstRow, 0), window.Min(expr.Col("f32")).Rows(window.FirstRow, 0)}
			var results [2][]arrow.Array
			for i, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				made, err := window.Over(t.Context(), table, w, functions)
				require.NoError(t, err)
				results[i] = arraysOf(t, made)
				require.NoError(t, table.Release())
			}
			for i, f := range functions {
				require.True(t, array.Equal(results[0][i], results[1][i]), "%v, partitions up to %d", f, longest)
			}
			record.Release()
		}
	})
}

// TestEachKernelOnce runs each kernel of windows on a few tiles, for tools that slow down a
// GPU a hundred times: TOOL=racecheck RUN=TestEachKernelOnce ./run.sh sanitize.
func TestEachKernelOnce(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(41)
		record := valuesWithoutNulls(g, 4500, 700)
		defer record.Release()
		f64, f32, i64 := expr.Col("f64"), expr.Col("f32"), expr.Col("i64")
		some := expr.If(f32.Lt(expr.Lit(0.0)), expr.Null(arrow.PrimitiveTypes.Float32), f32)
		first := int64(window.FirstRow)
		functions := []window.Function{
			window.RowNumber(), window.DenseRank(), window.Lag(f64, 1), window.Lead(f32, 2), window.Last(some).SkipNulls(),
			window.Mean(f64).Rows(-99, 0), window.Max(f32).Rows(-9, 9), window.Sum(i64).Rows(-99, 0), window.Variance(f64, 1).Rows(-99, 0),
			window.Sum(some).Rows(-50, 0), window.Min(some).Rows(-50, 0), window.Median(f64).Rows(-20, 0), window.Sum(f64).Rows(-2000, 0),
			window.Sum(f64).Rows(first, 0), window.Mean(i64).Rows(first, 0), window.Product(i64).Rows(first, 0), window.Count(some).Rows(first, 0),
		}
		for _, keys := range [][]string{{"p"}, {"i16"}, {"p", "f32"}} {
			w := window.Windows{PartitionBy: []order.Key{{Column: keys[0]}}}
			if len(keys) > 1 {
				w.OrderBy = []order.Key{{Column: keys[1]}}
			}
			var results [2][]arrow.Array
			for i, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				made, err := window.Over(t.Context(), table, w, functions)
				require.NoError(t, err)
				results[i] = arraysOf(t, made)
				require.NoError(t, table.Release())
			}
			for i, f := range functions {
				require.True(t, array.Equal(results[0][i], results[1][i]), "%v by %v", f, keys)
			}
		}
	})
}
