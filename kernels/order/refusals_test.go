package order_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// operator is an operator on a table and keys. The caller releases the result.
type operator struct {
	name string
	run  func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error)
}

// nothing is a result without memory.
type nothing struct{}

func (nothing) Release() error { return nil }

// operators are all operators on tables. The sorted tables are made by a sort.
var operators = []operator{
	{"sort", func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error) {
		return order.Sort(ctx, table, keys, o)
	}},
	{"indices", func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error) {
		return order.Indices(ctx, table, keys, o)
	}},
	{"rank", func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error) {
		return order.Rank(ctx, table, keys, order.RankOptions{Options: o, Method: order.Dense})
	}},
	{"top", func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error) {
		return order.TopK(ctx, table, 5, keys, o)
	}},
	{"top indices", func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error) {
		return order.TopIndices(ctx, table, 5, keys, o)
	}},
	{"is sorted", func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error) {
		_, err := order.IsSorted(ctx, table, keys, o)
		return nothing{}, err
	}},
	{"merge", func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error) {
		return order.Merge(ctx, []*buffer.Buffer{table, table}, keys, order.MergeOptions{Options: o, Unchecked: true})
	}},
	{"search", func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error) {
		return order.Search(ctx, table, table, keys, order.SearchOptions{Options: o, Unchecked: true})
	}},
	{"partition", func(ctx context.Context, table *buffer.Buffer, keys []order.Key, o kernels.Options) (interface{ Release() error }, error) {
		sorted, err := order.Sort(ctx, table, keys, o)
		if err != nil {
			return nil, err
		}
		made, err := order.Partition(ctx, table, sorted, keys, o)
		return made, errors.Join(err, sorted.Release())
	}},
}

// eachOperator runs a test for every operator on the host.
func eachOperator(t *testing.T, test func(t *testing.T, mgr *memory.Manager, op operator)) {
	for _, op := range operators {
		t.Run(op.name, func(t *testing.T) { test(t, devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), op) })
	}
}

// upload returns a table until the end of the test.
func (c sortCase) upload(t *testing.T, mgr *memory.Manager) *buffer.Buffer {
	table := c.table(t, mgr)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

func TestKeysAreNamedInErrors(t *testing.T) {
	eachOperator(t, func(t *testing.T, mgr *memory.Manager, op operator) {
		c := newCase(arraytest.NewGenerator(1), 20, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)
		defer c.release()
		table := c.upload(t, mgr)
		short, err := column.FromSlice(t.Context(), mgr, []int32{1, 2}, column.SliceOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, short.Release()) }()
		twice := op.name == "merge" || op.name == "search" || op.name == "partition"
		for _, each := range []struct {
			key   order.Key
			cause error
			says  string
		}{
			{order.Key{Column: "c9"}, buffer.ErrSchema, `there are "c0", "c1"`},
			{order.Key{Expr: expr.Col("c9")}, buffer.ErrSchema, `there are "c0", "c1"`},
			{order.Key{}, buffer.ErrSchema, "key 1"},
			{order.Key{Column: "c0", Expr: expr.Col("c1")}, device.ErrInvalidValue, "expected one"},
			{order.Key{Values: short}, buffer.ErrRows, "2 elements"},
		} {
			_, err := op.run(t.Context(), table, []order.Key{{Column: "c0"}, each.key}, kernels.Options{})
			var wrong *order.KeyError
			require.ErrorAs(t, err, &wrong, "%v", each.key)
			require.Equal(t, 1, wrong.Number)
			require.ErrorContains(t, err, "order: ")
			if each.key.Values == nil || !twice {
				require.ErrorIs(t, err, each.cause, "%v", each.key)
				require.ErrorContains(t, err, each.says)
			}
		}
		_, err = op.run(t.Context(), table, nil, kernels.Options{})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, "no key")
	})
}

func TestUnorderedTypes(t *testing.T) {
	eachOperator(t, func(t *testing.T, mgr *memory.Manager, op operator) {
		for _, of := range ordertest.Unordered() {
			a := arraytest.NewGenerator(1).Array(of, 9)
			c := sortCase{[]arrow.Array{a}, ordertest.Directions[:1]}
			table := c.table(t, mgr)
			_, err := op.run(t.Context(), table, c.keys(), kernels.Options{})
			var wrong *order.KeyError
			require.ErrorAs(t, err, &wrong, "%v", of)
			var kind *rowkey.TypeError
			require.ErrorAs(t, err, &kind)
			require.ErrorIs(t, err, device.ErrNotSupported)
			require.ErrorContains(t, err, "no order")
			require.NoError(t, table.Release())
			c.release()
		}
	})
}

func TestWrongTables(t *testing.T) {
	eachOperator(t, func(t *testing.T, mgr *memory.Manager, op operator) {
		keys := []order.Key{{Column: "c0"}}
		_, err := op.run(t.Context(), nil, keys, kernels.Options{})
		require.ErrorIs(t, err, memory.ErrReleased)

		long, err := buffer.New(arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: order.MaxRows + 1, Manager: mgr})
		require.NoError(t, err)
		defer func() { require.NoError(t, long.Release()) }()
		_, err = op.run(t.Context(), long, keys, kernels.Options{})
		require.ErrorIs(t, err, order.ErrTooLong)

		c := newCase(arraytest.NewGenerator(1), 20, arrow.PrimitiveTypes.Int32)
		defer c.release()
		table := c.upload(t, mgr)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = op.run(ctx, table, keys, kernels.Options{})
		require.ErrorIs(t, err, context.Canceled)

		tight := devicetest.Manager(t, mgr.Device(), memory.Options{Budget: 300})
		if op.name == "is sorted" {
			return // it needs no memory on the host
		}
		_, err = op.run(t.Context(), table, keys, kernels.Options{Manager: tight})
		require.ErrorIs(t, err, memory.ErrBudget)
	})
}

func TestWrongArguments(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	g := arraytest.NewGenerator(1)
	c := newCase(g, 20, arrow.PrimitiveTypes.Int32)
	defer c.release()
	other := newCase(g, 20, arrow.PrimitiveTypes.Int64)
	defer other.release()
	table, wide := c.upload(t, mgr), other.upload(t, mgr)
	ctx, keys := t.Context(), []order.Key{{Column: "c0"}}

	_, err := order.TopK(ctx, table, -1, keys)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = order.TopIndices(ctx, table, -1, keys)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = order.Rank(ctx, table, keys, order.RankOptions{Method: 9})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = order.Merge(ctx, nil, keys)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = order.Merge(ctx, []*buffer.Buffer{table, wide}, keys)
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.ErrorContains(t, err, "table 1")
	_, err = order.Merge(ctx, []*buffer.Buffer{table, nil}, keys)
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = order.Merge(ctx, []*buffer.Buffer{table}, keys)
	require.ErrorIs(t, err, order.ErrUnsorted)
	_, err = order.Search(ctx, table, wide, keys, order.SearchOptions{Unchecked: true})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "int32")
	_, err = order.Search(ctx, table, table, keys)
	require.ErrorIs(t, err, order.ErrUnsorted)
	_, err = order.Partition(ctx, table, table, keys)
	require.ErrorIs(t, err, order.ErrUnsorted)
	_, err = order.SortColumn(ctx, nil)
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = order.SortColumn(ctx, table.Column(0), order.ColumnOptions{}, order.ColumnOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = order.PartitionBy(ctx, table, table.Column(0), 3)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "expected uint8")
	_, err = order.PartitionBy(ctx, table, nil, 3)
	require.Error(t, err)
	few, err := column.FromSlice(ctx, mgr, []uint8{0}, column.SliceOptions{})
	require.NoError(t, err)
	_, err = order.PartitionBy(ctx, table, few, 3)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "one for each row")
	single, err := table.Slice(0, 1)
	require.NoError(t, err)
	_, err = order.PartitionBy(ctx, single, few, 1<<30)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "1073741824 ranges")
	require.NoError(t, errors.Join(single.Release(), few.Release()))
	require.NoError(t, (*order.Partitions)(nil).Release())
	require.Equal(t, "average", order.Average.String())
	require.Equal(t, "method 9", order.Method(9).String())
}

// TestOneOption refuses more than one option struct.
func TestOneOption(t *testing.T) {
	ctx, o := context.Background(), kernels.Options{}
	for i, err := range []error{
		second(order.Sort(ctx, nil, nil, o, o)), second(order.Indices(ctx, nil, nil, o, o)),
		second(order.Rank(ctx, nil, nil, order.RankOptions{}, order.RankOptions{})),
		second(order.TopK(ctx, nil, 1, nil, o, o)), second(order.TopIndices(ctx, nil, 1, nil, o, o)),
		second(order.IsSorted(ctx, nil, nil, o, o)), second(order.Merge(ctx, nil, nil, order.MergeOptions{}, order.MergeOptions{})),
		second(order.Search(ctx, nil, nil, nil, order.SearchOptions{}, order.SearchOptions{})), second(order.Partition(ctx, nil, nil, nil, o, o)),
		second(order.PartitionBy(ctx, nil, nil, 1, o, o)),
	} {
		require.ErrorIs(t, err, device.ErrInvalidValue, i)
		require.ErrorContains(t, err, "at most one")
	}
}

func second[T any](_ T, err error) error { return err }

// TestKeysOfExpressions sorts by an expression, and by a column that is not in the table.
func TestKeysOfExpressions(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	values, err := column.FromSlice(t.Context(), mgr, []int32{-3, 1, 2, -1}, column.SliceOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, values.Release()) }()
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: values.Type()}}, nil)
	table, err := buffer.New(schema, []*column.Column{values}, buffer.Rows{Count: 4})
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	for _, each := range []struct {
		keys []order.Key
		want string
	}{
		{[]order.Key{{Expr: expr.Col("v").Mul(expr.Col("v"))}}, "[1 3 2 0]"},
		{[]order.Key{{Expr: expr.Col("v").Mul(expr.Col("v")), Descending: true}, {Expr: expr.Col("v")}}, "[0 2 3 1]"},
		{[]order.Key{{Values: values}}, "[0 3 1 2]"},
	} {
		rows, err := order.Indices(t.Context(), table, each.keys)
		require.NoError(t, err)
		require.Equal(t, each.want, fmt.Sprint(numbers(t, rows)), "%v", each.keys)
	}
}
