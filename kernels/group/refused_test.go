package group_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestRefusedTypes requires typed errors for keys and values of types that are documented to
// have none.
func TestRefusedTypes(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, c := range []struct {
		of  arrow.DataType
		run func(*buffer.Buffer) error
	}{
		{&arrow.Decimal256Type{Precision: 50, Scale: 2}, func(table *buffer.Buffer) error {
			_, err := group.By(table, group.Key{Expr: expr.Lit(int32(1))}).Aggregate(t.Context(), []group.Aggregate{group.Sum(expr.Col("x"))})
			var named *group.AggregateError
			require.ErrorAs(t, err, &named)
			return err
		}},
		{arrow.MapOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32), func(table *buffer.Buffer) error {
			_, err := group.By(table, group.Columns("x")...).Aggregate(t.Context(), []group.Aggregate{group.CountAll()})
			var named *group.KeyError
			require.ErrorAs(t, err, &named)
			return err
		}},
		{arrow.ListOf(arrow.MapOf(arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String)), func(table *buffer.Buffer) error {
			_, err := group.By(table, group.Key{Expr: expr.Lit(int32(1))}).Aggregate(t.Context(), []group.Aggregate{group.CountDistinct(expr.Lit(1), expr.Col("x"))})
			var named *group.AggregateError
			require.ErrorAs(t, err, &named)
			return err
		}},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String), func(table *buffer.Buffer) error {
			_, err := group.By(table, group.Key{Expr: expr.Lit(int32(1))}).Partial(t.Context(), []group.Aggregate{group.Mode(expr.Col("x"))})
			var named *group.AggregateError
			require.ErrorAs(t, err, &named)
			return err
		}},
	} {
		values := arraytest.NewGenerator(4).Array(c.of, 5)
		record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.of, Nullable: true}}, nil), []arrow.Array{values}, 5)
		values.Release()
		table, err := buffer.FromRecord(mgr, record)
		record.Release()
		require.NoError(t, err)
		err = c.run(table)
		require.ErrorIs(t, err, device.ErrNotSupported)
		require.NoError(t, table.Release())
	}
}
