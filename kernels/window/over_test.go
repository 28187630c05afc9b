package window_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// overTest is a function and its model.
type overTest struct {
	function window.Function
	want     []any
}

// overTests returns functions with random frames, and the results of the model.
func overTests(g *arraytest.Generator, c *overCase) []overTest {
	v, s := expr.Col("v"), expr.Col("s")
	whole := rowsModel(math.MinInt64, math.MaxInt64)
	var tests []overTest
	add := func(f window.Function, frame func(*modelWindow, int) bool, model func(w *modelWindow) any) {
		tests = append(tests, overTest{f, c.each(frame, model)})
	}
	count := func(w *modelWindow, from, to int, is func(a, b int) bool) (n int) {
		for i := from; i < to; i++ {
			if is(w.partition[i], w.row()) {
				n++
			}
		}
		return n
	}
	add(window.RowNumber(), whole, func(w *modelWindow) any { return fmt.Sprint(w.at + 1) })
	rank := func(w *modelWindow) int {
		return 1 + count(w, 0, w.at, func(a, b int) bool { return !c.peer(a, b) })
	}
	add(window.Rank(), whole, func(w *modelWindow) any { return fmt.Sprint(rank(w)) })
	add(window.DenseRank(), whole, func(w *modelWindow) any {
		distinct := 1
		for i := 1; i <= w.at; i++ {
			if !c.peer(w.partition[i-1], w.partition[i]) {
				distinct++
			}
		}
		return fmt.Sprint(distinct)
	})
	add(window.PercentRank(), whole, func(w *modelWindow) any {
		return float64(rank(w)-1) / math.Max(float64(len(w.partition)-1), 1)
	})
	add(window.CumulativeDistribution(), whole, func(w *modelWindow) any {
		peers := count(w, 0, len(w.partition), c.peer)
		return float64(rank(w)-1+peers) / float64(len(w.partition))
	})
	parts := 1 + g.IntN(5)
	add(window.Tile(int64(parts)), whole, func(w *modelWindow) any {
		at := 0
		for part := range parts {
			size := len(w.partition) / parts
			if part < len(w.partition)%parts {
				size++
			}
			if at += size; w.at < at {
				return fmt.Sprint(part + 1)
			}
		}
		return nil
	})

	n := g.IntN(4)
	add(window.Lag(s, int64(n)), whole, func(w *modelWindow) any { return pickModel(c.s, w.partition, w.at-n) })
	add(window.Lead(v, int64(n)), whole, func(w *modelWindow) any { return pickModel(c.v, w.partition, w.at+n) })
	add(window.Lag(v, int64(n+1)).SkipNulls(), whole, func(w *modelWindow) any {
		var before []int
		for _, row := range w.partition[:w.at] {
			if c.v.IsValid(row) {
				before = append(before, row)
			}
		}
		return pickModel(c.v, before, len(before)-n-1)
	})
	add(window.Lead(v, int64(n+1)).SkipNulls(), whole, func(w *modelWindow) any {
		var after []int
		for _, row := range w.partition[w.at+1:] {
			if c.v.IsValid(row) {
				after = append(after, row)
			}
		}
		return pickModel(c.v, after, n)
	})

	alpha := 0.25
	add(window.ExponentialMean(v, alpha), rowsModel(math.MinInt64, 0), func(w *modelWindow) any {
		list := w.numbers()
		if len(list) == 0 {
			return nil
		}
		sum, weights := 0.0, 0.0
		for _, x := range list {
			sum, weights = sum*(1-alpha)+x, weights*(1-alpha)+1
		}
		return sum / weights
	})

	type frame struct {
		set   func(f window.Function) window.Function
		model func(*modelWindow, int) bool
	}
	low := int64(g.IntN(9) - 6)
	high := low + int64(g.IntN(5))
	frames := []frame{
		{func(f window.Function) window.Function { return f }, whole},
		{func(f window.Function) window.Function { return f.Rows(window.FirstRow, 0) }, rowsModel(math.MinInt64, 0)},
		{func(f window.Function) window.Function { return f.Rows(low, high) }, rowsModel(low, high)},
		{func(f window.Function) window.Function { return f.Rows(0, window.LastRow) }, rowsModel(0, math.MaxInt64)},
	}
	if c.orders && c.o.DataType().ID() != arrow.STRING {
		from := g.IntN(7) - 5
		to := from + g.IntN(6)
		frames = append(frames, frame{func(f window.Function) window.Function { return f.Range(from, to) }, rangeModel(float64(from), float64(to))},
			frame{func(f window.Function) window.Function { return f.Range(nil, to) }, rangeModel(math.Inf(-1), float64(to))})
	}
	for _, f := range frames {
		add(f.set(window.First(s)), f.model, func(w *modelWindow) any { return pickModel(c.s, w.frame, 0) })
		add(f.set(window.Last(v)), f.model, func(w *modelWindow) any { return pickModel(c.v, w.frame, len(w.frame)-1) })
		add(f.set(window.Nth(v, int64(n+1))).SkipNulls(), f.model, func(w *modelWindow) any { return pickModel(c.v, w.valid(), n) })
		add(f.set(window.Last(v)).SkipNulls(), f.model, func(w *modelWindow) any { rows := w.valid(); return pickModel(c.v, rows, len(rows)-1) })
		add(f.set(window.Sum(v)), f.model, sumModel)
		add(f.set(window.Mean(v)), f.model, meanModel)
		if !arrow.IsFloating(c.v.DataType().ID()) {
			add(f.set(window.BitOr(v)), f.model, bitsModel(func(x, y int64) int64 { return x | y }))
			add(f.set(window.BitXor(v)), f.model, bitsModel(func(x, y int64) int64 { return x ^ y }))
		}
		add(f.set(window.Count(s)), f.model, func(w *modelWindow) any {
			n := 0
			for _, row := range w.frame {
				if c.s.IsValid(row) {
					n++
				}
			}
			return fmt.Sprint(n)
		})
		add(f.set(window.CountAll()), f.model, func(w *modelWindow) any { return fmt.Sprint(len(w.frame)) })
		add(f.set(window.Min(v)), f.model, extremeModel(false))
		add(f.set(window.Max(v)).AtLeast(2), f.model, func(w *modelWindow) any {
			if len(w.valid()) < 2 {
				return nil
			}
			return extremeModel(true)(w)
		})
		add(f.set(window.Min(s)), f.model, textModel(-1))
		add(f.set(window.Max(s)).AtLeast(2), f.model, func(w *modelWindow) any {
			if len(w.texts()) < 2 {
				return nil
			}
			return textModel(1)(w)
		})
		add(f.set(window.Variance(v, 1)), f.model, varianceModel(1))
		add(f.set(window.StdDev(v, 0)), f.model, func(w *modelWindow) any {
			if x, ok := varianceModel(0)(w).(float64); ok {
				return math.Sqrt(x)
			}
			return nil
		})
		add(f.set(window.CountDistinct(s)), f.model, distinctModel)
		add(f.set(window.CountDistinct(v, s)).AtLeast(2), f.model, distinctPairsModel)
		add(f.set(window.Mode(s)), f.model, modeModel)
		q := []float64{0, 0.5, 0.9, 1}[g.IntN(4)]
		add(f.set(window.Quantile(v, q)), f.model, quantileModel(q))
	}
	return tests
}

// requireOver compares a result with the model: floats to a relative 10⁻⁹, all else exactly.
func requireOver(t *testing.T, name string, got arrow.Array, want []any) {
	t.Helper()
	require.Equal(t, len(want), got.Len(), name)
	for row, x := range want {
		if x == nil || got.IsNull(row) {
			require.True(t, x == nil && got.IsNull(row), "%s: row %d is %s, the model has %v", name, row, got.ValueStr(row), x)
			continue
		}
		number, ok := x.(float64)
		if !ok {
			require.Equal(t, x, got.ValueStr(row), "%s: row %d", name, row)
			continue
		}
		found, err := strconv.ParseFloat(got.ValueStr(row), 64)
		require.NoError(t, err)
		if math.IsNaN(number) || math.IsInf(number, 0) {
			require.Equal(t, fmt.Sprint(number), fmt.Sprint(found), "%s: row %d", name, row)
		} else {
			require.InDelta(t, number, found, 1e-9*math.Max(math.Abs(number), 1), "%s: row %d", name, row)
		}
	}
}

func functionsOf(tests []overTest) (list []window.Function) {
	for _, test := range tests {
		list = append(list, test.function)
	}
	return list
}

// arraysOf downloads and releases columns.
func arraysOf(t *testing.T, columns []*column.Column) (arrays []arrow.Array) {
	t.Helper()
	for _, c := range columns {
		a, err := c.Array(t.Context())
		require.NoError(t, err)
		t.Cleanup(a.Release)
		arrays = append(arrays, a)
		require.NoError(t, c.Release())
	}
	return arrays
}

// overTable uploads the table of a case.
func overTable(t *testing.T, mgr *memory.Manager, c *overCase) *buffer.Buffer {
	t.Helper()
	record := c.record()
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	return table
}

// spreading returns a context in which results of few rows, too, are written in the order of
// places first, or the given one.
func spreading(ctx context.Context, few bool) context.Context {
	if !few {
		return ctx
	}
	return strategy.WithWindow(ctx, strategy.Window{SpreadRows: 1})
}

// TestOver compares all functions with a quadratic model.
func TestOver(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, of := range valueTypes {
			if testing.Short() && devicetest.Emulated(dev) && i%4 != 0 {
				continue
			}
			g := arraytest.NewGenerator(uint64(i))
			for range 3 {
				n := g.IntN(70)
				c := newOverCase(g, n, of, orderTypes[g.IntN(len(orderTypes))])
				if g.IntN(4) == 0 {
					c = newOverCase(g, 0, of, arrow.PrimitiveTypes.Int64)
				}
				tests := overTests(g, c)
				table := overTable(t, mgr, c)
				columns, err := window.Over(spreading(t.Context(), g.IntN(2) == 0), table, c.windows(), functionsOf(tests))
				require.NoError(t, err)
				for j, a := range arraysOf(t, columns) {
					f := tests[j].function
					name := fmt.Sprintf("%v of %v by %d partitions, order %v of %v %+v, %d rows", f, of, c.partitions, c.orders, c.o.DataType(), c.direction, c.rows)
					requireOver(t, name, a, tests[j].want)
					want, err := f.Type(table.Schema(), c.windows())
					require.NoError(t, err)
					require.True(t, arrow.TypeEqual(want, a.DataType()), name)
				}
				require.NoError(t, table.Release())
				c.release()
			}
		}
	})
}

// sortedCase returns the case with its rows in the order of its windows.
func (c *overCase) sorted(t *testing.T, mgr *memory.Manager) *buffer.Buffer {
	t.Helper()
	table := overTable(t, mgr, c)
	w := c.windows()
	keys := append(w.PartitionBy, w.OrderBy...)
	if len(keys) == 0 {
		return table
	}
	sorted, err := order.Sort(t.Context(), table, keys)
	require.NoError(t, err)
	require.NoError(t, table.Release())
	return sorted
}

// TestOverHost requires the same bits of the host and of kernels, for long partitions and
// frames, with values that do not add up exactly.
func TestOverHost(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(9)
		rows, every := 9000, 1
		if devicetest.Emulated(dev) {
			rows, every = 2500, 2
		}
		c := newOverCase(g, rows, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64)
		defer c.release()
		c.partitions, c.orders = 3, true
		c.v.Release()
		c.v = g.Array(arrow.PrimitiveTypes.Float64, rows)
		small := expr.Col("v").Mul(expr.Lit(1e-300)).Add(expr.Lit(0.1))
		frames := []func(f window.Function) window.Function{
			func(f window.Function) window.Function { return f.Rows(window.FirstRow, 0) },
			func(f window.Function) window.Function { return f.Rows(-99, 0) },
			func(f window.Function) window.Function { return f.Rows(-1500, 1300) },
			func(f window.Function) window.Function { return f.Range(-4, 4) },
		}
		var functions []window.Function
		for _, frame := range frames {
			functions = append(functions, frame(window.Variance(small, 1)), frame(window.Sum(small)), frame(window.Max(small)), frame(window.Product(small)))
		}
		functions = append(functions, window.ExponentialMean(small, 0.01), window.Median(small).Rows(-9, 0), window.Lag(small, 1), window.RowNumber())
		for i, ctx := range []context.Context{t.Context(), spreading(t.Context(), true), t.Context()} {
			sorted, chosen := i == 2, functions
			if every > 1 {
				chosen = nil
				for j := i % every; j < len(functions); j += every {
					chosen = append(chosen, functions[j])
				}
			}
			upload := overTable
			if sorted {
				upload = func(t *testing.T, mgr *memory.Manager, c *overCase) *buffer.Buffer { return c.sorted(t, mgr) }
			}
			table, hostTable := upload(t, mgr, c), upload(t, host, c)
			got, err := window.Over(ctx, table, c.windows(), chosen)
			require.NoError(t, err)
			want, err := window.Over(t.Context(), hostTable, c.windows(), chosen)
			require.NoError(t, err)
			wanted := arraysOf(t, want)
			for i, a := range arraysOf(t, got) {
				for row := range a.Len() {
					if !array.SliceEqual(a, int64(row), int64(row+1), wanted[i], int64(row), int64(row+1)) && a.ValueStr(row) != wanted[i].ValueStr(row) {
						t.Fatalf("%v, sorted %v, row %d: %v, on the host %v", chosen[i], sorted, row, a.ValueStr(row), wanted[i].ValueStr(row))
					}
				}
			}
			require.NoError(t, table.Release())
			require.NoError(t, hostTable.Release())
		}
	})
}

// fewFunctions has one function of each kind.
func fewFunctions() []window.Function {
	v, s := expr.Col("v"), expr.Col("s")
	return []window.Function{
		window.Rank(), window.Lag(s, 1), window.First(v).Rows(-2, 0).SkipNulls(), window.Sum(v).Rows(window.FirstRow, 0),
		window.Mean(v.Add(expr.Lit(1))).Rows(-2, 2), window.Min(v).Range(-3, 3), window.Median(v).Rows(-3, 0), window.ExponentialMeanBy(v, expr.Col("o"), 3), window.CountDistinct(v, s).Rows(-3, 1).AtLeast(1), window.Mode(v).Range(-3, 3),
	}
}

// TestOverCounted leaves out the rows behind a count that only the device knows.
func TestOverCounted(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(4)
		c := newOverCase(g, 60, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64)
		defer c.release()
		c.partitions, c.orders = 3, true
		table := overTable(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		for _, rows := range []int64{0, 1, 37, 60} {
			one, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, one.Upload(t.Context(), nil, []int64{rows}))
			var columns []*column.Column
			for i := range table.NumColumns() {
				columns = append(columns, table.Column(i))
			}
			counted, err := buffer.New(table.Schema(), columns, buffer.Rows{Device: one})
			require.NoError(t, err)
			require.NoError(t, one.Release())
			got, err := window.Over(spreading(t.Context(), rows > 40), counted, c.windows(), fewFunctions())
			require.NoError(t, err)
			short, err := table.Slice(0, rows)
			require.NoError(t, err)
			want, err := window.Over(t.Context(), short, c.windows(), fewFunctions())
			require.NoError(t, err)
			wanted := arraysOf(t, want)
			for i, a := range arraysOf(t, got) {
				require.True(t, array.Equal(wanted[i], a), "%v of %d rows: %v, without a count %v", fewFunctions()[i], rows, a, wanted[i])
			}
			require.NoError(t, short.Release())
			require.NoError(t, counted.Release())
		}
	})
}

// TestOverFaults fails each allocation.
func TestOverFaults(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault})
		c := newOverCase(arraytest.NewGenerator(4), 20, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64)
		defer c.release()
		c.partitions, c.orders = 3, true
		table := overTable(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		ctx := spreading(t.Context(), true)
		held := mgr.Stats().InUse
		functions := fewFunctions()
		for nth := uint64(1); ; nth++ {
			fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}})
			columns, err := window.Over(ctx, table, c.windows(), functions)
			fault.Arm(adaptor.FaultOptions{})
			if err == nil {
				require.Greater(t, nth, uint64(4), "several allocations failed")
				arraysOf(t, columns)
				return
			}
			require.ErrorIs(t, err, adaptor.ErrInjected)
			require.ErrorContains(t, err, "window: over: ")
			require.Equal(t, held, mgr.Stats().InUse, "allocation %d", nth)
		}
	})
}
