package group_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// TestEveryAllocationOfAggregatesFails fails each allocation, one in each run. Closing the
// manager reports the memory that an error path leaks.
func TestEveryAllocationOfAggregatesFails(t *testing.T) {
	x, keys := expr.Col("x"), group.Columns("k", "y")
	for name, operation := range map[string]func(context.Context, *buffer.Buffer) (*buffer.Buffer, error){
		"sum": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, keys...).Where(x.Gt(expr.Lit(0))).Aggregate(ctx, []group.Aggregate{group.Sum(x), group.First(x)}, group.ByOptions{Order: group.ByKey})
		},
		"tiles": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, keys[0]).Aggregate(strategy.WithGroup(ctx, strategy.Group{Add: strategy.Tiles}), []group.Aggregate{group.Sum(x), group.Max(x)})
		},
		"expressions": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			list := []group.Aggregate{group.Max(x.Add(expr.Lit(1))), group.Sum(x.Mul(x)), group.Count(x.Neg()).Where(x.Gt(expr.Lit(1)))}
			return group.By(table, keys[0]).Aggregate(strategy.WithGroup(ctx, strategy.Group{Add: strategy.Tiles, MeasuredRows: 1}), list)
		},
		"few rows": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, group.Key{Expr: expr.Col("k").Add(expr.Lit(int32(1)))}).Where(x.Gt(expr.Lit(0))).Aggregate(ctx, []group.Aggregate{group.Sum(x)}, group.ByOptions{Order: group.ByKey})
		},
		"constant": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, group.Key{Expr: expr.Lit(int8(0))}).Aggregate(ctx, []group.Aggregate{group.Sum(x), group.First(x)}, group.ByOptions{MaxGroups: 1})
		},
		"partitions": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			ctx = strategy.WithGroup(ctx, strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 1, DigitBits: 1, ChunkRows: 1})
			return group.By(table, keys[0]).Aggregate(ctx, []group.Aggregate{group.Sum(x), group.Mean(x).Where(x.Gt(expr.Lit(1.0)))})
		},
		"divided": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			ctx = strategy.WithGroup(ctx, strategy.Group{DividedRows: 3, DividedBits: 1})
			return group.By(table, group.Key{Values: table.Column(0)}).Aggregate(ctx, []group.Aggregate{group.Sum(x)}, group.ByOptions{Order: group.FirstAppearance})
		},
		"join": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, keys[0]).Aggregate(ctx, []group.Aggregate{group.Join(expr.Col("s"), ", ")})
		},
		"median": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, keys[0]).Aggregate(ctx, []group.Aggregate{group.Median(x)})
		},
		"mode": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, keys[0]).Aggregate(ctx, []group.Aggregate{group.CountDistinct(x), group.Mode(x)})
		},
		"largest": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, keys[0]).Aggregate(ctx, []group.Aggregate{group.Largest(x, 2)})
		},
		"merge": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			list := []group.Aggregate{group.Mean(x), group.Last(x)}
			partial, err := group.By(table, keys[0]).Partial(ctx, list)
			if err != nil {
				return nil, err
			}
			merged, err := group.Merge(ctx, table.Schema(), []*buffer.Buffer{partial, partial}, list)
			return merged, errors.Join(err, partial.Release())
		},
		"merge lists": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			list := []group.Aggregate{group.Collect(x)}
			partial, err := group.By(table, keys[0]).Partial(ctx, list)
			if err != nil {
				return nil, err
			}
			merged, err := group.Merge(ctx, table.Schema(), []*buffer.Buffer{partial}, list)
			return merged, errors.Join(err, partial.Release())
		},
		"transform": func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(table, keys[0]).Where(x.Gt(expr.Lit(0))).Transform(ctx, []group.Aggregate{group.Sum(x)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) { failEach(t, dev, operation) })
		})
	}
}

func failEach(t *testing.T, dev *device.Device, operation func(context.Context, *buffer.Buffer) (*buffer.Buffer, error)) {
	values := []float64{3, 1, 2, 1, 5}
	made := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	floats, err := floatTable(t, made, []int32{1, 2, 1, 2, 1}, values, values).Record(t.Context())
	require.NoError(t, err)
	defer floats.Release()
	texts := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	defer texts.Release()
	texts.AppendValues([]string{"a", "b", "", "dd", "e"}, nil)
	strings := texts.NewArray()
	defer strings.Release()
	record := array.NewRecord(
		arrow.NewSchema(append(floats.Schema().Fields(), arrow.Field{Name: "s", Type: arrow.BinaryTypes.String}), nil),
		append(slices.Clone(floats.Columns()), strings), floats.NumRows())
	defer record.Release()
	// The first allocation is the table's. On the emulator with -short, every third of the
	// others fails, from a random one on.
	failing, step := uint64(2), uint64(1)
	if testing.Short() && devicetest.Emulated(dev) {
		failing, step = 2+property.Random(t).Uint64N(3), 3
	}
	for ; ; failing += step {
		faults := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: failing}})
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: faults})
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		result, err := operation(t.Context(), table)
		err = errors.Join(err, result.Release(), table.Release())
		if err == nil {
			break
		}
		require.ErrorIs(t, err, adaptor.ErrInjected)
	}
	require.Greater(t, failing, uint64(6))
}

// TestManyRowsOfTheHost has enough rows for several goroutines, with few and with many
// groups.
func TestManyRowsOfTheHost(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	const n = 100_000
	for _, groups := range []int32{3, n / 2} {
		keys, x := make([]int32, n), make([]float64, n)
		want := make([]float64, groups)
		for i := range keys {
			keys[i], x[i] = int32(i)%groups, float64(i)
			want[keys[i]] += x[i]
		}
		result, err := group.By(floatTable(t, mgr, keys, x, x), group.Columns("k")...).Aggregate(t.Context(), []group.Aggregate{group.Sum(expr.Col("x"))})
		require.NoError(t, err)
		record := columntest.Fetch(t, result)
		require.Equal(t, want, record.Column(1).(*array.Float64).Float64Values())
		require.Equal(t, arrow.PrimitiveTypes.Float64, record.Column(1).DataType())
	}
}
