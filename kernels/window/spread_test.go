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
	"github.com/gpuframe/gpuframe/internal/testing/property"
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

// TestSpreadRows compares results that travel to their rows with those of the host, for numbers of rows below, at and
// above those of tiles, spans and divisions, and for keys that are all equal, few, many, all distinct, and in descending order.
func TestSpreadRows(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(property.Random(t).Uint64())
		const span = 8192
		rows := []int{1, 2, span - 1, span, span + 1, 3*span + 17, 1 << 16, 1<<17 + 4097, 300_001}
		if testing.Short() && devicetest.Emulated(dev) {
			rows = []int{2, span + 1, 1<<16 + 4097 + 8*g.IntN(3000)}
		}
		for i, n := range rows {
			kinds := []int{1, 2, 60, n / 100, n, -1}
			if devicetest.Emulated(dev) && n > span {
				kinds = []int{kinds[(i+g.IntN(6))%6], 100}
			}
			for _, keys := range kinds {
				record := spreadRecord(g, n, keys)
				by := window.Windows{PartitionBy: []order.Key{{Column: "k"}}}
				if g.IntN(2) == 0 {
					by.OrderBy = []order.Key{{Column: "o", Descending: g.IntN(2) == 0}}
				}
				functions := spreadFunctions(g)
				got, want := overRecord(t, mgr, record, by, functions), overRecord(t, host, record, by, functions)
				for j := range want {
					requireSame(t, want[j], got[j], fmt.Sprintf("%v of %d rows, %d keys, ordered %v", functions[j], n, keys, len(by.OrderBy) > 0))
				}
				record.Release()
			}
		}
	})
}

// requireSame requires equal bits and the same nulls.
func requireSame(t *testing.T, want, got arrow.Array, name string) {
	t.Helper()
	require.Equal(t, want.Len(), got.Len(), name)
	for row := range want.Len() {
		if want.IsValid(row) != got.IsValid(row) || want.IsValid(row) && want.ValueStr(row) != got.ValueStr(row) {
			t.Fatalf("%s: row %d is %v, on the host %v", name, row, got.ValueStr(row), want.ValueStr(row))
		}
	}
}

// spreadRecord has a key of a number of values, or descending ones if the number is negative, a key of the order, and values.
func spreadRecord(g *arraytest.Generator, n, keys int) arrow.Record {
	k, o := array.NewInt32Builder(arrowalloc.DefaultAllocator), array.NewInt64Builder(arrowalloc.DefaultAllocator)
	for row := range n {
		switch {
		case keys < 0:
			k.Append(int32(n - row))
		case keys == n: // a permutation, if 7 does not divide n
			k.Append(int32(row * 7 % n))
		default:
			k.Append(int32(g.IntN(max(keys, 1))))
		}
		o.Append(int64(g.IntN(1000)))
	}
	columns := []arrow.Array{k.NewArray(), o.NewArray()}
	fields := []arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "o", Type: arrow.PrimitiveTypes.Int64}}
	for _, c := range []struct {
		name  string
		t     arrow.DataType
		nulls float64
	}{{"v", arrow.PrimitiveTypes.Float64, 0}, {"w", arrow.PrimitiveTypes.Int32, 0.3}, {"x", arrow.PrimitiveTypes.Int64, 0.9}, {"y", arrow.PrimitiveTypes.Float32, 0}, {"z", arrow.PrimitiveTypes.Int16, 0.1}} {
		b := array.NewBuilder(arrowalloc.DefaultAllocator, c.t)
		for range n {
			if c.nulls > 0 && g.IntN(1000) < int(1000*c.nulls) {
				b.AppendNull()
			} else if err := b.AppendValueFromString(fmt.Sprint(g.IntN(30_000) - 15_000)); err != nil {
				panic(err)
			}
		}
		columns = append(columns, b.NewArray())
		fields = append(fields, arrow.Field{Name: c.name, Type: c.t, Nullable: c.nulls > 0})
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(n))
}

// spreadFunctions has some functions of each way to the rows.
func spreadFunctions(g *arraytest.Generator) []window.Function {
	v, w, x, y, z := expr.Col("v"), expr.Col("w"), expr.Col("x"), expr.Col("y"), expr.Col("z")
	offset := []int64{1, 3, 100, 10_000, 1 << 40}[g.IntN(5)]
	running := func(f window.Function) window.Function { return f.Rows(window.FirstRow, 0) }
	all := []window.Function{
		window.Lag(w, offset), window.Lead(x, offset), window.Lag(y, 0), window.Lag(z, 1), window.Lead(x, 1).SkipNulls(), window.Last(v).Rows(-3, 1),
		running(window.Sum(w)), running(window.Sum(x)), running(window.Min(y)), running(window.Max(z)), running(window.Count(x)), running(window.Mean(w)),
		window.Sum(x).Rows(-4, 4).AtLeast(3), window.Min(w).Rows(-9, 9), window.Sum(v).Rows(-700, 0), window.PercentRank(), window.DenseRank(), window.Tile(7),
	}
	functions := []window.Function{window.RowNumber(), window.Lag(v, 1), running(window.Sum(v))}
	for range 3 {
		functions = append(functions, all[g.IntN(len(all))])
	}
	return functions
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
