package group_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/callcount"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// quantileDraws are distributions of values, those of topDraws and others.
var quantileDraws = append(slices.Clone(topDraws), []struct {
	name string
	draw func(r *rand.Rand, row int) float64
}{
	{"two values", func(r *rand.Rand, _ int) float64 { return float64(r.IntN(2)) }},
	{"heavy tail", func(r *rand.Rand, _ int) float64 { return math.Exp(20 * r.NormFloat64()) }},
	{"wide", func(r *rand.Rand, _ int) float64 {
		return math.Copysign(math.MaxFloat64, r.Float64()-0.5) * r.Float64()
	}},
	{"subnormal", func(r *rand.Rand, _ int) float64 { return float64(r.IntN(2000)-1000) * math.SmallestNonzeroFloat64 }},
	{"a value and others", func(r *rand.Rand, _ int) float64 { return max(r.NormFloat64(), 0.1) }},
	{"all NaN", func(*rand.Rand, int) float64 { return math.NaN() }},
	{"infinite tails", func(r *rand.Rand, _ int) float64 {
		return []float64{math.Inf(-1), r.Float64(), math.Inf(1), math.NaN()}[r.IntN(4)]
	}},
}...)

// quantileKeys are distributions of keys.
var quantileKeys = []struct {
	name string
	draw func(r *rand.Rand, row, n int) int32
}{
	{"one group", func(*rand.Rand, int, int) int32 { return 3 }},
	{"few groups", func(r *rand.Rand, _, _ int) int32 { return r.Int32N(7) }},
	{"many groups", func(r *rand.Rand, _, _ int) int32 { return r.Int32N(300) }},
	{"sorted groups", func(_ *rand.Rand, row, n int) int32 { return int32(row * 50 / n) }},
	{"one group has most rows", func(r *rand.Rand, _, _ int) int32 { return max(r.Int32N(200)-180, 0) }},
	{"Zipf", func(r *rand.Rand, _, _ int) int32 { return int32(1 / (r.Float64() + 0.001)) }},
	{"tiny groups", func(_ *rand.Rand, row, n int) int32 { return int32(row % (n/3 + 1)) }},
}

// ofQuantiles opens the device of kernels, and counts its calls. emulated is set if it is the emulator, which is slow.
func ofQuantiles(t *testing.T) (mgr *memory.Manager, counted *callcount.Device, emulated bool) {
	t.Helper()
	dev := devicetest.OpenKernels(t)
	name, counted, err := callcount.Register(dev)
	require.NoError(t, err)
	return devicetest.Manager(t, devicetest.Open(t, name), memory.Options{}), counted, devicetest.Emulated(dev)
}

// modelQuantile is a quantile of values.
func modelQuantile(values []float64, q float64) float64 {
	slices.SortStableFunc(values, func(a, b float64) int {
		if math.IsNaN(a) || math.IsNaN(b) {
			return cmp.Compare(map[bool]int{true: 1}[math.IsNaN(a)], map[bool]int{true: 1}[math.IsNaN(b)])
		}
		return cmp.Compare(a, b)
	})
	place := float64(len(values)-1) * q
	below := int(place)
	x, part := values[below], place-float64(below)
	if part > 0 && below+1 < len(values) && values[below+1] != x {
		x = aggregate.Interpolate(x, values[below+1], part) // which its own test compares with big floats
	}
	return x
}

// bitsOfReal returns the bits of a number as results have them.
func bitsOfReal(x float64) uint64 {
	if math.IsNaN(x) {
		return 0x7ff8 << 48
	}
	return math.Float64bits(x)
}

// TestSelectedQuantiles compares quantiles without a sort with those of a sort and of a model, bit by bit.
func TestSelectedQuantiles(t *testing.T) {
	mgr, counted, emulated := ofQuantiles(t)
	few := emulated && testing.Short()
	r, turn := property.Random(t), property.Turn(t)
	selected := 0
	for i, draw := range quantileDraws {
		for j, key := range quantileKeys {
			if few && (i+3*j)%9 != 0 || emulated && !few && (i+j+turn)%3 != 0 {
				continue
			}
			n := []int{1, 100, 3000, 9000}[r.IntN(4)]
			switch {
			case few:
				n = min(n, 700)
			case emulated:
				n = min(n, 3000)
			}
			keys, x := make([]int32, n), make([]float64, n)
			groups := map[int32][]float64{}
			for row := range keys {
				keys[row], x[row] = key.draw(r, row, n), draw.draw(r, row)
				groups[keys[row]] = append(groups[keys[row]], x[row])
			}
			table := floatTable(t, mgr, keys, x, x)
			q := []float64{0, 0.5, 1, r.Float64()}[r.IntN(4)]
			choice := strategy.Group{Values: strategy.Selection, QuantileBins: []int{0, 1, 20, 100}[r.IntN(4)], QuantileKept: n, SharedBytes: []int{1, 0, 0}[r.IntN(3)]}
			title := fmt.Sprint(draw.name, ", ", key.name, ", ", n, " rows, q ", q, ", ", choice)
			answers := map[bool]arrow.Record{}
			for _, sort := range []bool{false, true} {
				if sort {
					choice = strategy.Group{Values: strategy.SortedValues}
				}
				counted.Take()
				made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), []group.Aggregate{group.Quantile(expr.Col("x"), q)},
					group.ByOptions{Order: group.ByKey})
				require.NoError(t, err, title)
				if counted.Take().Kernels["finish_quantiles"] != 0 {
					require.False(t, sort)
					selected++
				}
				answers[sort] = columntest.Fetch(t, made)
			}
			found, sorted := answers[false].Column(1).(*array.Float64), answers[true].Column(1).(*array.Float64)
			require.Equal(t, len(groups), found.Len(), title)
			for i, k := range answers[false].Column(0).(*array.Int32).Int32Values() {
				require.True(t, found.IsValid(i), title)
				want := modelQuantile(groups[k], q)
				require.Equal(t, bitsOfReal(want), math.Float64bits(found.Value(i)), "%s: group %d: %v, want %v", title, k, found.Value(i), want)
				require.Equal(t, math.Float64bits(sorted.Value(i)), math.Float64bits(found.Value(i)), "%s: group %d, sorted", title, k)
			}
		}
	}
	require.Greater(t, selected, 6)
}

// TestSelectedQuantilesOfTypes compares quantiles of all types, with nulls and conditions, with those of the host.
func TestSelectedQuantilesOfTypes(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	mgr, counted, emulated := ofQuantiles(t)
	few := emulated && testing.Short()
	r := property.Random(t)
	for i, of := range append(slices.Clone(topTypes), arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int32) {
		if of.ID() == arrow.BOOL || of.ID() == arrow.DATE32 || few && i%3 != 0 {
			continue
		}
		record := topRecord(r, 1500, 5, quantileDraws[0].draw, true)
		x := topValue(of)
		aggregates := []group.Aggregate{group.Median(x), group.Quantile(x, 0.9), group.Quantile(x, 0.99).Where(expr.Col("b")), group.Median(x).Where(expr.Lit(false))}
		choice := strategy.Group{Values: strategy.Selection, QuantileBins: 20, QuantileKept: 1500}
		var answers []arrow.Record
		for _, m := range []*memory.Manager{host, mgr} {
			table, err := buffer.FromRecord(m, record)
			require.NoError(t, err)
			counted.Take()
			made, err := group.By(table, group.Columns("k")...).Where(expr.Col("k").Gt(expr.Lit(int32(0)))).
				Aggregate(strategy.WithGroup(t.Context(), choice), aggregates, group.ByOptions{Order: group.ByKey})
			require.NoError(t, err, of)
			if m == mgr {
				require.Equal(t, len(aggregates), counted.Take().Kernels["finish_quantiles"], "%v: no group is sorted", of)
			}
			answers = append(answers, columntest.Fetch(t, made))
			require.NoError(t, table.Release())
		}
		requireEqual(t, answers[0], answers[1], of.String())
		record.Release()
	}
}

// TestQuantilesAreSorted requires a sort if a quantile may be −0 or 0, or if too many rows would be kept.
func TestQuantilesAreSorted(t *testing.T) {
	mgr, counted, _ := ofQuantiles(t)
	const n = 3000
	keys, zeros, many := make([]int32, n), make([]float64, n), make([]float64, n)
	columns := map[string][]float64{"x": zeros, "y": many}
	for i := range keys {
		keys[i], zeros[i], many[i] = int32(i%3), float64(i%1000)-100, float64(i*7%n)
	}
	zeros[100] = math.Copysign(0, -1)
	table := floatTable(t, mgr, keys, zeros, many)
	for _, c := range []struct {
		name   string
		value  string
		q      float64
		choice strategy.Group
		sorted bool
	}{
		{"a quantile that is not zero", "x", 0.9, strategy.Group{Values: strategy.Selection, QuantileBins: 20, QuantileKept: n}, false},
		{"a quantile that is zero", "x", 0.1, strategy.Group{Values: strategy.Selection, QuantileBins: 20, QuantileKept: n}, true},
		{"few rows are kept", "y", 0.5, strategy.Group{Values: strategy.Selection, QuantileBins: 50, QuantileKept: 300}, false},
		{"many rows of a group are kept", "y", 0.5, strategy.Group{Values: strategy.Selection, QuantileBins: 1, QuantileKept: n}, false},
		{"too many rows", "y", 0.5, strategy.Group{Values: strategy.Selection, QuantileBins: 1, QuantileKept: 300}, true},
		{"few rows", "y", 0.5, strategy.Group{Values: strategy.Tops}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			counted.Take()
			made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), c.choice), []group.Aggregate{group.Quantile(expr.Col(c.value), c.q)})
			require.NoError(t, err)
			calls := counted.Take().Kernels
			answer := columntest.Fetch(t, made)
			for i, k := range answer.Column(0).(*array.Int32).Int32Values() {
				var values []float64
				for row, x := range columns[c.value] {
					if keys[row] == k {
						values = append(values, x)
					}
				}
				require.Equal(t, math.Float64bits(modelQuantile(values, c.q)), math.Float64bits(answer.Column(1).(*array.Float64).Value(i)))
			}
			require.Equal(t, c.sorted, calls["quantiles"] == 1)
			require.Equal(t, !c.sorted, calls["finish_quantiles"] == 1)
		})
	}
}

// TestEveryAllocationOfQuantilesFails fails each allocation.
func TestEveryAllocationOfQuantilesFails(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		failEach(t, dev, func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			choice := strategy.Group{Values: strategy.Selection, QuantileKept: 5}
			return group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(ctx, choice), []group.Aggregate{group.Median(expr.Col("x"))})
		})
	})
}
