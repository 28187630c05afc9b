package reduce_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

func TestRefusals(t *testing.T) {
	number, text, date, truth := expr.Col("0"), expr.Col("1"), expr.Col("2"), expr.Col("3")
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(1)
		table := load(t, mgr, 50, g.Array(arrow.PrimitiveTypes.Int32, 50), g.Array(arrow.BinaryTypes.String, 50),
			g.Array(arrow.FixedWidthTypes.Date32, 50), g.Array(arrow.FixedWidthTypes.Boolean, 50))
		for _, refused := range []struct {
			aggregate reduce.Aggregate
			is        error
			says      string
		}{
			{reduce.Aggregate{}, device.ErrInvalidValue, "no function"},
			{reduce.Sum(text), device.ErrNotSupported, "utf8"},
			{reduce.Sum(date), device.ErrNotSupported, "date32"},
			{reduce.Mean(date), device.ErrNotSupported, "aggregate 1, mean"},
			{reduce.Product(date), device.ErrNotSupported, "product"},
			{reduce.Any(number), device.ErrNotSupported, "any"},
			{reduce.StdDev(truth, 0), device.ErrNotSupported, "bool"},
			{reduce.Variance(number, -1), device.ErrInvalidValue, "-1 degrees"},
			{reduce.Sum(number).Where(date), device.ErrInvalidValue, "its condition is date32"},
			{reduce.Sum(expr.Col("none")), buffer.ErrSchema, "none"},
			{reduce.Sum(expr.Expr{}), expr.ErrMissing, ""},
		} {
			_, err := reduce.Table(t.Context(), table, []reduce.Aggregate{reduce.CountAll(), refused.aggregate})
			require.ErrorIs(t, err, refused.is, "%v", refused.aggregate)
			assert.ErrorContains(t, err, "reduce: ")
			assert.ErrorContains(t, err, refused.says)
		}
		_, err := reduce.Table(t.Context(), table, nil)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = reduce.Table(t.Context(), table, []reduce.Aggregate{reduce.CountAll()}, kernels.Options{}, kernels.Options{})
		require.ErrorIs(t, err, device.ErrInvalidValue)

		if dev.Kind() == device.Host {
			ended, end := context.WithCancel(t.Context())
			end()
			_, err = reduce.Scalars(ended, table, []reduce.Aggregate{reduce.Sum(number)})
			require.ErrorIs(t, err, context.Canceled)
		}

		stream, err := dev.NewStream()
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		_, err = reduce.Table(t.Context(), table, []reduce.Aggregate{reduce.Sum(number)}, kernels.Options{Stream: stream})
		require.ErrorIs(t, err, device.ErrClosed)

		require.NoError(t, table.Release())
		_, err = reduce.Table(t.Context(), table, []reduce.Aggregate{reduce.Sum(number)})
		require.ErrorIs(t, err, memory.ErrReleased)
		_, err = reduce.Column(t.Context(), nil, reduce.Sum)
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}

func TestNames(t *testing.T) {
	x := expr.Col("x")
	for _, named := range []struct {
		aggregate reduce.Aggregate
		name      string
	}{
		{reduce.Sum(x), "sum(x)"},
		{reduce.CountAll(), "count_all()"},
		{reduce.Variance(x, 1), "variance(x, 1)"},
		{reduce.Sum(x).As("total"), "total"},
		{reduce.Sum(x).As("total").Where(x.Gt(expr.Lit(1))), "total"},
		{reduce.Min(x).Where(x.Gt(expr.Lit(1))), "min(x) where x > 1"},
	} {
		require.Equal(t, named.name, named.aggregate.Name())
	}
}

// TestSchema checks the names and types of results for aggregates that share one
// kernel.
func TestSchema(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, zone := range []string{"UTC", "Europe/Berlin"} {
			kind := &arrow.TimestampType{Unit: arrow.Second, TimeZone: zone}
			a := arraytest.NewGenerator(1).Array(kind, 10)
			table := load(t, mgr, 10, a)
			for _, name := range []string{"first", "second"} {
				result, err := reduce.Table(t.Context(), table, []reduce.Aggregate{reduce.Min(expr.Col("0")).As(name), reduce.CountAll()})
				require.NoError(t, err)
				want := arrow.NewSchema([]arrow.Field{{Name: name, Type: kind, Nullable: true},
					{Name: "count_all()", Type: arrow.PrimitiveTypes.Int64}}, nil)
				require.True(t, want.Equal(result.Schema()), "%v", result.Schema())
				require.NoError(t, result.Release())
			}
			require.NoError(t, table.Release())
			a.Release()
		}
	})
}

// TestConditionsOfSeveral checks Where as method and as function.
func TestConditionsOfSeveral(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := load(t, mgr, 6, int64s(1, 2, 3, 4, 5, 6))
		defer func() { require.NoError(t, table.Release()) }()
		x := expr.Col("0")
		aggregates := reduce.Where(x.Gt(expr.Lit(2)), reduce.Sum(x), reduce.Sum(x).Where(x.Lt(expr.Lit(6))))
		got, err := reduce.Scalars(t.Context(), table, aggregates)
		require.NoError(t, err)
		require.Equal(t, "18 12", got[0].String()+" "+got[1].String())
	})
}
