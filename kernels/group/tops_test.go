package group_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// topDraws are distributions of float64. Of the last ones keys cannot give back all values.
var topDraws = []struct {
	name string
	draw func(r *rand.Rand, row int) float64
}{
	{"random", func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }},
	{"ascending", func(_ *rand.Rand, row int) float64 { return float64(row) }},
	{"descending", func(_ *rand.Rand, row int) float64 { return -float64(row) }},
	{"equal", func(*rand.Rand, int) float64 { return 1.5 }},
	{"few", func(r *rand.Rand, _ int) float64 { return float64(r.IntN(3)) }},
	{"infinite", func(r *rand.Rand, _ int) float64 { return math.Inf(r.IntN(2)*2 - 1) }},
	{"zeros", func(r *rand.Rand, _ int) float64 { return math.Copysign(0, float64(r.IntN(2))-0.5) }},
	{"some NaN", func(r *rand.Rand, _ int) float64 {
		if r.IntN(40) == 0 {
			return math.NaN()
		}
		return r.NormFloat64()
	}},
}

// topTypes are types of values.
var topTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Boolean,
}

// topRecord is n rows of keys k and values x and i, of which some are null, and conditions b.
func topRecord(r *rand.Rand, n, groups int, draw func(*rand.Rand, int) float64, nulls bool) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "h", Type: arrow.FixedWidthTypes.Float16},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for row := range n {
		b.Field(0).(*array.Int32Builder).Append(int32(r.IntN(groups)))
		if x := draw(r, row); nulls && r.IntN(3) == 0 {
			b.Field(1).AppendNull()
			b.Field(3).AppendNull()
		} else {
			b.Field(1).(*array.Float64Builder).Append(x)
			b.Field(3).(*array.Int64Builder).Append(r.Int64N(201) - 100)
		}
		b.Field(4).(*array.Float16Builder).Append(float16.New(float32(draw(r, row))))
		b.Field(2).(*array.BooleanBuilder).Append(r.IntN(3) > 0)
	}
	return b.NewRecord()
}

// topValue is the expression of x as a type.
func topValue(of arrow.DataType) expr.Expr {
	x := expr.Col("x")
	i := expr.Col("i")
	switch {
	case of.ID() == arrow.FLOAT16:
		return expr.Col("h")
	case of.ID() == arrow.BOOL:
		return i.Gt(expr.Lit(int64(0)))
	case of.ID() == arrow.INT64:
		return i.ShiftLeft(expr.Lit(int64(60))) // also the least one, and many that are equal
	case of.ID() == arrow.DATE32:
		return i.Cast(arrow.PrimitiveTypes.Int32).Cast(of)
	case arrow.IsUnsignedInteger(of.ID()):
		return i.BitAnd(expr.Lit(int64(127))).Cast(of)
	case arrow.IsInteger(of.ID()):
		return i.Cast(of)
	}
	return x.Cast(of)
}

// TestTops compares the largest and smallest values of groups, and quantiles, with those of the host, which sorts.
func TestTops(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	r := rand.New(rand.NewPCG(91, 92))
	for i, draw := range topDraws {
		for j, of := range topTypes {
			if brief(mgr) && (i+j)%3 != 0 {
				continue
			}
			n, groups := []int{0, 1, 500, 20_000}[r.IntN(4)], []int{1, 7, 400}[r.IntN(3)]
			record := topRecord(r, n, groups, draw.draw, r.IntN(2) == 0)
			choice := strategy.Group{Values: strategy.Tops, SharedBytes: r.IntN(2)}
			x, limit, where := topValue(of), 1+r.IntN(9), r.IntN(3) == 0
			aggregates := []group.Aggregate{group.Largest(x, limit), group.Smallest(x, limit), group.Largest(x, 0)}
			if of.ID() != arrow.BOOL && of.ID() != arrow.DATE32 {
				aggregates = append(aggregates, group.Median(x), group.Quantile(x, 0.9))
			}
			if where {
				aggregates[0], aggregates[1] = aggregates[0].Where(expr.Col("b")), aggregates[1].Where(expr.Col("b"))
			}
			title := fmt.Sprint(draw.name, of, n, groups, limit, where, choice)
			var answers []arrow.Record
			for _, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				query := group.By(table, group.Columns("k")...)
				if where {
					query = query.Where(expr.Col("k").Gt(expr.Lit(int32(0)))) // the device counts the rows
				}
				made, err := query.Aggregate(strategy.WithGroup(t.Context(), choice), aggregates, group.ByOptions{Order: group.FirstAppearance})
				require.NoError(t, err, title)
				answers = append(answers, columntest.Fetch(t, made))
				require.NoError(t, table.Release())
			}
			requireEqual(t, answers[0], answers[1], title)
			record.Release()
		}
	}
}

// TestEveryAllocationOfTopsFails fails each allocation.
func TestEveryAllocationOfTopsFails(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		failEach(t, dev, func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(ctx, strategy.Group{Values: strategy.Tops}), []group.Aggregate{group.Smallest(expr.Col("x"), 2)})
		})
	})
}
