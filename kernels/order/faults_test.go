package order_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// columnOperator is SortColumn of the first column as an operator on a table.
var columnOperator = operator{"sort column", func(ctx context.Context, table *buffer.Buffer, _ []order.Key, o kernels.Options) (interface{ Release() error }, error) {
	return order.SortColumn(ctx, table.Column(0), order.ColumnOptions{Options: o})
}}

// TestAllocationsFail fails each allocation of every operator. The error names the
// operator, nothing stays allocated, and the operator works again afterwards.
func TestAllocationsFail(t *testing.T) {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32
	mixes := [][]arrow.DataType{
		{number},
		{text, &arrow.DictionaryType{IndexType: number, ValueType: text}},
		{arrow.StructOf(arrow.Field{Name: "list", Type: arrow.ListOf(number), Nullable: true}), number},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for _, op := range append([]operator{columnOperator}, operators...) {
			for i, types := range mixes {
				if devicetest.Emulated(dev) && i > 0 && op.name != "indices" && op.name != "rank" {
					continue
				}
				t.Run(fmt.Sprint(op.name, types), func(t *testing.T) { allocationsFail(t, dev, op, types) })
			}
		}
	})
}

func allocationsFail(t *testing.T, dev *device.Device, op operator, types []arrow.DataType) {
	fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault})
	rows := 70
	if hurried(dev) {
		rows = 12
	}
	c := newCase(arraytest.NewGenerator(3), rows, types...)
	defer c.release()
	table := c.upload(t, mgr)
	keys := append(c.keys(), order.Key{Expr: expr.Lit(1)})
	held := mgr.Stats().InUse
	succeed := func() {
		result, err := op.run(t.Context(), table, keys, kernels.Options{})
		require.NoError(t, err, op.name)
		require.NoError(t, result.Release())
		require.Equal(t, held, mgr.Stats().InUse)
	}
	fault.Arm(adaptor.FaultOptions{})
	succeed()
	requests := fault.Requests().Seen
	for nth := range requests {
		fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth + 1}})
		_, err := op.run(t.Context(), table, keys, kernels.Options{})
		require.ErrorIs(t, err, adaptor.ErrInjected)
		require.ErrorContains(t, err, "order: ")
		require.Equal(t, held, mgr.Stats().InUse, "allocation %d of %d", nth+1, requests)
		fault.Arm(adaptor.FaultOptions{})
		if !hurried(dev) {
			succeed()
		}
	}
	succeed()
}

// TestEachOperatorOnce runs every operator on few rows of numbers and of strings, for tools that
// check every access and take a thousand times as long. Results are compared in other tests.
func TestEachOperatorOnce(t *testing.T) {
	number, text := arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		turn := property.Turn(t)
		for i, types := range [][]arrow.DataType{{number}, {arrow.PrimitiveTypes.Float64, number}, {text, number}} {
			rows := 6000
			if hurried(dev) || devicetest.Emulated(dev) && (i+turn)%3 != 0 {
				rows = 50
			}
			c := newCase(arraytest.NewGenerator(31), rows, types...)
			table := c.table(t, mgr)
			for _, op := range append([]operator{columnOperator}, operators...) {
				result, err := op.run(t.Context(), table, c.keys(), kernels.Options{})
				require.NoError(t, err, op.name)
				require.NoError(t, result.Release())
			}
			rows32, err := order.Indices(t.Context(), table, c.keys())
			require.NoError(t, err)
			require.Equal(t, c.want(), numbers(t, rows32))
			require.NoError(t, table.Release())
			c.release()
		}
	})
}

// TestCountedTables leaves out rows if only the device knows how many there are. The
// result has the count of the table.
func TestCountedTables(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(5)
		for i, types := range [][]arrow.DataType{
			{arrow.PrimitiveTypes.Float64}, {arrow.BinaryTypes.String}, {arrow.PrimitiveTypes.Int8, arrow.ListOf(arrow.PrimitiveTypes.Int32)},
		} {
			whole := newCase(g, 50, types...)
			defer whole.release()
			for _, n := range []int{0, 1, 23, 50} {
				c := sortCase{directions: whole.directions}
				for _, a := range whole.arrays {
					c.arrays = append(c.arrays, array.NewSlice(a, 0, int64(n)))
				}
				table := counted(t, whole.upload(t, mgr), mgr, n)
				name := fmt.Sprint(types, n)
				rows, err := order.Indices(t.Context(), table, c.keys())
				require.NoError(t, err, name)
				if i == 0 && dev.Kind() != device.Host {
					_, known := table.HostRows()
					require.False(t, known, "%s: the rows were fetched", name)
				}
				require.Same(t, table.RowCount(), rows.RowCount(), name)
				require.Equal(t, c.want(), numbers(t, rows), name)
				sorted, err := order.Sort(t.Context(), table, c.keys())
				require.NoError(t, err, name)
				c.equalRows(t, sorted, c.want(), name)
				require.NoError(t, sorted.Release())
				one, err := order.SortColumn(t.Context(), table.Column(0))
				require.NoError(t, err, name)
				require.Equal(t, n, columntest.Download(t, one).Len(), name)
				require.NoError(t, one.Release())
				ranks, err := order.Rank(t.Context(), table, c.keys(), order.RankOptions{Method: order.First})
				require.NoError(t, err, name)
				places := make([]uint32, n)
				for place, row := range c.want() {
					places[row] = uint32(place + 1)
				}
				require.Equal(t, places, append([]uint32{}, numbers(t, ranks)...), name)
				top, err := order.TopIndices(t.Context(), table, 10, c.keys())
				require.NoError(t, err, name)
				require.Equal(t, c.want()[:min(10, n)], numbers(t, top), name)
				is, err := order.IsSorted(t.Context(), table, c.keys())
				require.NoError(t, err, name)
				require.Equal(t, n < 2, is, name)

				_, err = table.NumRows(t.Context()) // known to the host from now on
				require.NoError(t, err)
				rows, err = order.Indices(t.Context(), table, c.keys())
				require.NoError(t, err)
				require.Same(t, table.RowCount(), rows.RowCount(), name)
				require.Equal(t, c.want(), numbers(t, rows), name)
				c.release()
			}
		}
	})
}

// counted returns a table with a row count that only the device knows.
func counted(t *testing.T, table *buffer.Buffer, mgr *memory.Manager, n int) *buffer.Buffer {
	one, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, one.Upload(t.Context(), nil, []int64{int64(n)}))
	var columns []*column.Column
	for i := range table.NumColumns() {
		columns = append(columns, table.Column(i))
	}
	made, err := buffer.New(table.Schema(), columns, buffer.Rows{Device: one})
	require.NoError(t, err)
	require.NoError(t, one.Release())
	t.Cleanup(func() { require.NoError(t, made.Release()) })
	return made
}

// TestEstimates compares estimates with the memory that calls use.
func TestEstimates(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(7)
		for number, types := range [][]arrow.DataType{
			{arrow.PrimitiveTypes.Int8}, {arrow.PrimitiveTypes.Float64}, {arrow.PrimitiveTypes.Int32, arrow.FixedWidthTypes.Boolean}, {arrow.PrimitiveTypes.Int64},
		} {
			g.Nulls = arraytest.Nulls(number % 2)
			for _, n := range []int{0, 1, 3000} {
				c := newCase(g, n, types...)
				table := c.table(t, mgr)
				rows, err := order.Indices(t.Context(), table, c.keys())
				require.NoError(t, err)
				require.NoError(t, rows.Release())
				name := fmt.Sprint(types, n)
				columntest.CheckEstimate(t, mgr, name, func(o kernels.Options) (*column.Column, error) {
					return order.Indices(t.Context(), table, c.keys(), o)
				})
				columntest.CheckEstimate(t, mgr, name+", rank", func(o kernels.Options) (*column.Column, error) {
					return order.Rank(t.Context(), table, c.keys(), order.RankOptions{Options: o})
				})
				sorted, err := order.Sort(t.Context(), table, c.keys())
				require.NoError(t, err)
				for _, unchecked := range []bool{false, true} {
					columntest.CheckEstimate(t, mgr, name+", search", func(o kernels.Options) (*column.Column, error) {
						return order.Search(t.Context(), sorted, table, c.keys(), order.SearchOptions{Options: o, Unchecked: unchecked})
					})
				}
				require.NoError(t, sorted.Release())
				columntest.CheckEstimate(t, mgr, name+", column", func(o kernels.Options) (*column.Column, error) {
					return order.SortColumn(t.Context(), table.Column(0), order.ColumnOptions{Options: o})
				})
				if number > 0 || dev.Kind() != device.Host { // a column has four bytes for each row
					columntest.CheckEstimate(t, mgr, name+", sort", func(o kernels.Options) (*buffer.Buffer, error) {
						return order.Sort(t.Context(), table, c.keys(), o)
					})
					if len(types) > 1 {
						columntest.CheckEstimate(t, mgr, name+", sort by the last column", func(o kernels.Options) (*buffer.Buffer, error) {
							return order.Sort(t.Context(), table, c.keys()[1:], o)
						})
					}
				}
				require.NoError(t, table.Release())
				c.release()
			}
		}
	})
}
