package group_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// manyRows has more rows than those up to which no host waits, and integers with small and
// with large ranges.
func manyRows(n int) arrow.Record {
	r := rand.New(rand.NewPCG(7, 8))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "small", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "tiny", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "large", Type: arrow.PrimitiveTypes.Int32}, {Name: "none", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for range n {
		if small := b.Field(0).(*array.Int64Builder); r.IntN(50) == 0 {
			small.AppendNull()
		} else {
			small.Append(-1<<40 + r.Int64N(300))
		}
		b.Field(1).(*array.Uint8Builder).Append(uint8(r.IntN(9)))
		b.Field(2).(*array.Int32Builder).Append(int32(r.IntN(200)) * 10_000_000)
		b.Field(3).AppendNull()
		b.Field(4).(*array.Float64Builder).Append(r.NormFloat64())
	}
	return b.NewRecord()
}

// TestManyRows compares groups that are found by tables of places, and dense keys, with those
// of the host.
func TestManyRows(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	record := manyRows(66_000)
	defer record.Release()
	for i, keys := range [][]string{{"small", "tiny"}, {"tiny", "large"}, {"none"}, {"tiny"}} {
		for _, options := range []group.ByOptions{{Order: group.FirstAppearance}, {Order: group.ByKey}} {
			if brief(mgr) && i != int(options.Order-group.FirstAppearance) { // one of each order
				continue
			}
			var answers []arrow.Record
			for _, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				query := group.By(table, group.Columns(keys...)...)
				if i%2 == 1 {
					query = query.Where(expr.Col("x").Gt(expr.Lit(0.5)))
				}
				made, err := query.Aggregate(t.Context(), []group.Aggregate{
					group.Count(expr.Col("small")), group.Sum(expr.Col("x")), group.Max(expr.Col("large")), group.First(expr.Col("x")).Where(expr.Col("x").Lt(expr.Lit(0.0))),
				}, options)
				require.NoError(t, err)
				answers = append(answers, columntest.Fetch(t, made))
				require.NoError(t, table.Release())
			}
			require.True(t, array.RecordEqual(answers[0], answers[1]), "%v, order %d", keys, options.Order)
		}
	}
}

// TestPlaces finds groups by places in shared and in global memory: with nulls, of one value, of few rows, and
// with rows that the block does not have to read.
func TestPlaces(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	for _, n := range []int{2049, 20_000} {
		record := manyRows(n)
		for _, keys := range [][]string{{"small"}, {"tiny"}, {"none"}, {"small", "tiny"}, {"large", "tiny", "small"}} {
			for _, choice := range []strategy.Group{{MeasuredRows: 1}, {MeasuredRows: 1, SharedBytes: 1}} {
				var answers []arrow.Record
				for _, m := range []*memory.Manager{host, mgr} {
					table, err := buffer.FromRecord(m, record)
					require.NoError(t, err)
					query := group.By(table, group.Columns(keys...)...)
					if choice.SharedBytes > 0 {
						query = query.Where(expr.Col("x").Gt(expr.Lit(0.5))) // the device counts the rows
					}
					made, err := query.Aggregate(strategy.WithGroup(t.Context(), choice), []group.Aggregate{group.CountAll()}, group.ByOptions{Order: group.FirstAppearance})
					require.NoError(t, err)
					answers = append(answers, columntest.Fetch(t, made))
					require.NoError(t, table.Release())
				}
				requireEqual(t, answers[0], answers[1], fmt.Sprint(n, keys, choice))
			}
		}
		record.Release()
	}
}

// TestConstantKeys groups rows by constants: all are one group, if there are rows.
func TestConstantKeys(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		x := expr.Col("x")
		keys := []group.Key{{Expr: expr.Lit(int8(7)), Name: "a"}, {Expr: expr.Lit(int64(-3)), Name: "b"}}
		aggregates := []group.Aggregate{group.CountAll(), group.Sum(x), group.First(x), group.Max(expr.Col("y"))}
		for _, n := range devicetest.Sizes(mgr.Device(), 0, 1, 300) {
			values := make([]float64, n)
			for i := range values {
				values[i] = float64(i) + 0.5
			}
			table := floatTable(t, mgr, make([]int32, n), values, values)
			for _, options := range []group.ByOptions{{}, {MaxGroups: 1}} {
				for _, limit := range []float64{1000, 0} {
					query := group.By(table, keys...).Where(x.Lt(expr.Lit(limit)))
					whole, err := query.Aggregate(t.Context(), aggregates, options)
					require.NoError(t, err)
					part, err := query.Partial(t.Context(), aggregates, options)
					require.NoError(t, err)
					merged, err := group.Merge(t.Context(), table.Schema(), []*buffer.Buffer{part, part}, aggregates, options)
					require.NoError(t, err)
					require.NoError(t, part.Release())
					once, twice := columntest.Fetch(t, whole), columntest.Fetch(t, merged)
					if n == 0 || limit == 0 {
						require.Zero(t, once.NumRows())
						require.Zero(t, twice.NumRows())
						continue
					}
					total := float64(n) * float64(n) / 2
					for i, want := range []any{int8(7), int64(-3), int64(n), total, 0.5, float64(n) - 0.5} {
						require.EqualValues(t, fmt.Sprint(want), columntest.Texts(once.Column(i))[0], "column %d", i)
					}
					require.Equal(t, 2*total, twice.Column(3).(*array.Float64).Value(0))
				}
			}
		}
	})
}

// TestConstantKeysOfNoRows groups a table whose rows were all removed, which the host knows, by a constant.
func TestConstantKeysOfNoRows(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		x := expr.Col("x")
		table := floatTable(t, mgr, make([]int32, 300), make([]float64, 300), make([]float64, 300))
		kept, err := selection.Filter(t.Context(), table, x.Gt(expr.Lit(1.0)), kernels.Options{Manager: mgr})
		require.NoError(t, err)
		defer func() { require.NoError(t, kept.Release()) }()
		rows, err := kept.NumRows(t.Context())
		require.NoError(t, err)
		require.Zero(t, rows)
		key := group.Key{Expr: expr.Lit(int8(7)), Name: "a"}
		for _, aggregates := range [][]group.Aggregate{{group.Sum(x)}, {group.CountAll(), group.First(x)}} {
			whole, err := group.By(kept, key).Aggregate(t.Context(), aggregates, group.ByOptions{})
			require.NoError(t, err)
			part, err := group.By(kept, key).Partial(t.Context(), aggregates, group.ByOptions{})
			require.NoError(t, err)
			for _, result := range []*buffer.Buffer{whole, part} {
				rows, err := result.NumRows(t.Context())
				require.NoError(t, errors.Join(err, result.Release()))
				require.Zero(t, rows)
			}
		}
	})
}

// TestMemoryOfConstantKeys checks that the aggregates of all rows and their partial results keep no
// memory that grows with the rows.
func TestMemoryOfConstantKeys(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		n := devicetest.Sizes(mgr.Device(), 5000)[0]
		table := floatTable(t, mgr, make([]int32, n), make([]float64, n), make([]float64, n))
		key := group.Key{Expr: expr.Lit(int8(0)), Name: "all"}
		sum, before := group.Sum(expr.Col("x").Add(expr.Lit(1.5))), mgr.Stats().InUse
		part, err := group.By(table, key).Partial(t.Context(), []group.Aggregate{sum, group.CountAll()}, group.ByOptions{MaxGroups: 1})
		require.NoError(t, err)
		whole, err := group.By(table, key).Aggregate(t.Context(), []group.Aggregate{sum, group.CountAll()}, group.ByOptions{MaxGroups: 1})
		require.NoError(t, err)
		require.NoError(t, mgr.Stream().Synchronize(t.Context()))
		require.Less(t, mgr.Stats().InUse-before, uint64(n), "bytes for less than one of each row")
		require.NoError(t, part.Release())
		require.Equal(t, []string{fmt.Sprint(1.5 * float64(n))}, columntest.Texts(columntest.Fetch(t, whole).Column(1)))
	})
}
