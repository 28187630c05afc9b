package selection_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// people are rows to filter by expressions: x, y, k, flag, name.
type people struct {
	x, y          []float64
	k             []int32
	flag          []bool
	name          []string
	xValid, valid []bool // valid belongs to flag and name
}

func newPeople(r *rand.Rand, n int) *people {
	p := &people{}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 5e-324, math.MaxFloat64}
	for i := range n {
		x := r.NormFloat64()
		if r.IntN(20) == 0 {
			x = odd[r.IntN(len(odd))]
		}
		p.x, p.y, p.k = append(p.x, x), append(p.y, r.Float64()), append(p.k, int32(i))
		p.flag, p.name = append(p.flag, r.IntN(2) == 0), append(p.name, []string{"", "ann", "bob", "a name that is longer than most"}[r.IntN(4)])
		p.xValid, p.valid = append(p.xValid, r.IntN(10) > 0), append(p.valid, r.IntN(10) > 0)
	}
	return p
}

// arrays returns one array per field, and x a second time at the end.
func (p *people) arrays(t testing.TB) []arrow.Array {
	mem := arrowmemory.DefaultAllocator
	x, y, k := array.NewFloat64Builder(mem), array.NewFloat64Builder(mem), array.NewInt32Builder(mem)
	flag, name := array.NewBooleanBuilder(mem), array.NewStringBuilder(mem)
	x.AppendValues(p.x, p.xValid)
	y.AppendValues(p.y, nil)
	k.AppendValues(p.k, nil)
	flag.AppendValues(p.flag, p.valid)
	name.AppendValues(p.name, p.valid)
	var arrays []arrow.Array
	for _, b := range []array.Builder{x, y, k, flag, name} {
		a := b.NewArray()
		b.Release()
		t.Cleanup(a.Release)
		arrays = append(arrays, a)
	}
	return arrays
}

// above reports whether x > y. NaN is the greatest number.
func above(x, y float64) bool { return x > y || math.IsNaN(x) && !math.IsNaN(y) }

// predicates are expressions on the columns a to e of people, and the same conditions
// in Go.
var predicates = []struct {
	of   expr.Expr
	keep func(p *people, i int) bool
}{
	{expr.Col("a").Gt(expr.Lit(0.0)), func(p *people, i int) bool { return p.xValid[i] && above(p.x[i], 0) }},
	{expr.Col("a").Le(expr.Lit(0.0)), func(p *people, i int) bool { return p.xValid[i] && p.x[i] <= 0 }},
	{expr.Col("b").Lt(expr.Lit(0.5)), func(p *people, i int) bool { return p.y[i] < 0.5 }},
	{expr.Col("b").Ge(expr.Lit(0.0)), func(*people, int) bool { return true }},
	{expr.Col("b").Lt(expr.Lit(0.0)), func(*people, int) bool { return false }},
	{expr.Col("a").IsNull(), func(p *people, i int) bool { return !p.xValid[i] }},
	{expr.Col("d"), func(p *people, i int) bool { return p.valid[i] && p.flag[i] }},
	{expr.Col("d").Not(), func(p *people, i int) bool { return p.valid[i] && !p.flag[i] }},
	{expr.Col("c").Mod(expr.Lit(3)).Eq(expr.Lit(1)), func(p *people, i int) bool { return p.k[i]%3 == 1 }},
	{expr.Col("e").Eq(expr.Lit("bob")), func(p *people, i int) bool { return p.valid[i] && p.name[i] == "bob" }},
	{
		expr.Col("a").Mul(expr.Lit(2.0)).Add(expr.Col("b")).Gt(expr.Lit(1.0)).And(expr.Col("c").Ge(expr.Lit(20))),
		func(p *people, i int) bool { return p.xValid[i] && above(p.x[i]*2+p.y[i], 1) && p.k[i] >= 20 },
	},
}

func TestFilterByExpression(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		sizes := devicetest.Sizes(dev, 1, 33, 1000, 8192, 8193, 12289)
		if !devicetest.Emulated(dev) && !testing.Short() {
			sizes = append(sizes, 300_001)
		}
		for _, n := range sizes {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				mgr := devicetest.Manager(t, dev, memory.Options{})
				p := newPeople(rand.New(rand.NewPCG(uint64(n), 1)), n)
				for i := range predicates {
					if n < 10_000 || !testing.Short() || i%3 == 0 {
						filterPeople(t, mgr, p, i, 0, n, false)
					}
				}
				if n > 20 {
					filterPeople(t, mgr, p, 0, 11, n-13, false)
					filterPeople(t, mgr, p, 10, 3, n-4, true)
				}
			})
		}
	})
}

// filterPeople filters rows [begin, end) by a predicate. If counted is true, the count
// on the device leaves out the last nine rows.
func filterPeople(t *testing.T, mgr *memory.Manager, p *people, number, begin, end int, counted bool) {
	arrays := p.arrays(t)
	columns := make([]*column.Column, len(arrays))
	for i, a := range arrays {
		columns[i] = upload(t, mgr, a, begin, a.Len()-end)
	}
	n := end - begin
	if counted {
		n = max(0, n-9)
	}
	table := tableOf(t, mgr, int64(n), counted, columns...)
	predicate := predicates[number]
	var rows []int
	for i := begin; i < begin+n; i++ {
		if predicate.keep(p, i) {
			rows = append(rows, i)
		}
	}
	made, err := selection.Filter(t.Context(), table, predicate.of)
	require.NoError(t, err, "%v", predicate.of)
	record := records(t, made)
	require.Equal(t, int64(len(rows)), record.NumRows(), "%v", predicate.of)
	for i, a := range arrays {
		if i < 4 || n < 10_000 {
			requireRows(t, record.Column(i), a, rows)
		}
	}
}

// TestFilterFewColumns filters tables that have only the columns that the predicate
// reads, or fewer columns.
func TestFilterFewColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{100, 9000} {
			p := newPeople(rand.New(rand.NewPCG(4, 1)), n)
			arrays := p.arrays(t)
			for _, used := range []int{1, 2, 3} {
				column := upload(t, mgr, arrays[used], 0, 0)
				table := tableOf(t, mgr, int64(n), false, column)
				predicate, keep := expr.Col("a").Ge(expr.Lit(0.5)), func(i int) bool { return p.y[i] >= 0.5 }
				switch used {
				case 2:
					predicate, keep = expr.Col("a").BitAnd(expr.Lit(4)).Eq(expr.Lit(4)), func(i int) bool { return p.k[i]&4 == 4 }
				case 3:
					predicate, keep = expr.Col("a").IsValid(), func(i int) bool { return p.valid[i] }
				}
				var rows []int
				for i := range n {
					if keep(i) {
						rows = append(rows, i)
					}
				}
				made, err := selection.Filter(t.Context(), table, predicate)
				require.NoError(t, err)
				requireRows(t, records(t, made).Column(0), arrays[used], rows)
			}
		}
	})
}

// TestFilterManyLiterals has more literals than the parameters of the kernel for small
// tables can hold, and then more than those of any kernel: it computes operands of the predicate before.
func TestFilterManyLiterals(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		p := newPeople(rand.New(rand.NewPCG(4, 1)), 1000)
		table := tableOf(t, mgr, 1000, false, upload(t, mgr, p.arrays(t)[2], 0, 0))
		for _, literals := range []int{420, 600} {
			predicate := expr.Col("a").Eq(expr.Lit(1))
			for i := 1; i < literals; i++ {
				predicate = predicate.Or(expr.Col("a").Eq(expr.Lit(2*i + 1)))
			}
			made, err := selection.Filter(t.Context(), table, predicate)
			require.NoError(t, err)
			rows, err := made.NumRows(t.Context())
			require.NoError(t, err)
			require.Equal(t, int64(min(literals, 500)), rows)
			require.NoError(t, made.Release())
		}
	})
}
