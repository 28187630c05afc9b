package selection_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// counted returns the columns with one row count on the device. The elements after the
// last row stay in memory; no operator may use them.
func counted(t testing.TB, mgr *memory.Manager, rows int, columns ...*column.Column) []*column.Column {
	t.Helper()
	one, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, one.Upload(t.Context(), nil, []int64{int64(rows)}))
	count, err := column.NewRowCount(one, int64(columns[0].Len()))
	require.NoError(t, err)
	require.NoError(t, one.Release())
	made := make([]*column.Column, len(columns))
	for i, c := range columns {
		made[i], err = c.WithRows(count)
		require.NoError(t, err)
		release(t, made[i])
	}
	require.NoError(t, count.Release())
	return made
}

// TestColumnsWithARowCount runs all operators on columns with a row count on the
// device, and with other values after the last row.
func TestColumnsWithARowCount(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const n = 70
		for number, of := range []arrow.DataType{
			arrow.PrimitiveTypes.Int32, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, arrow.ListOf(arrow.BinaryTypes.String),
			arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int16),
			arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}),
		} {
			for _, rows := range []int{0, 1, 33, n} {
				t.Run(fmt.Sprint(of, rows), func(t *testing.T) {
					g := arraytest.NewGenerator(uint64(number))
					values, others := g.Array(of, n), g.Array(of, n)
					defer values.Release()
					defer others.Release()
					order := indicesOf(t, arrow.PrimitiveTypes.Int32, append(randomRows(g.Rand, rows, max(rows, 1), rows == 0), slices.Repeat([]int{1 << 30}, n-rows)...))
					bits := g.Array(arrow.FixedWidthTypes.Boolean, n).(*array.Boolean)
					defer bits.Release()
					all := counted(t, mgr, rows, upload(t, mgr, values, 0, 0), upload(t, mgr, others, 0, 0), upload(t, mgr, bits, 0, 0), upload(t, mgr, order, 0, 0))
					a, b, mask, indices := all[0], all[1], all[2], all[3]

					back, err := selection.ReverseColumn(t.Context(), a)
					require.NoError(t, err)
					require.Equal(t, n, back.Len(), "the capacity stays")
					reversed := upTo(rows)
					slices.Reverse(reversed)
					requireRows(t, download(t, back), values, reversed)

					taken, err := selection.TakeColumn(t.Context(), a, indices)
					require.NoError(t, err)
					var want []int
					for i := range rows {
						want = append(want, int(order.(*array.Int32).Value(i)))
					}
					requireRows(t, download(t, taken), values, want)
					_, err = selection.TakeColumn(t.Context(), a, upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, []int{rows}), 0, 0))
					require.ErrorIs(t, err, selection.ErrBounds, "row %d is behind the rows", rows)

					filtered, err := selection.FilterColumn(t.Context(), a, mask)
					require.NoError(t, err)
					var kept []int
					for i := range rows {
						if bits.IsValid(i) && bits.Value(i) {
							kept = append(kept, i)
						}
					}
					requireTable(t, filtered, kept, values)

					chosen, err := selection.Choose(t.Context(), mask, a, b)
					require.NoError(t, err)
					require.Equal(t, n, chosen.Len(), "the capacity stays")
					requireChosen(t, download(t, chosen), bits, values, others, rows)

					both, err := selection.ConcatColumns(t.Context(), []*column.Column{a, a})
					require.NoError(t, err)
					requireRows(t, download(t, both), values, append(upTo(rows), upTo(rows)...))
					compact, err := selection.CompactColumn(t.Context(), a)
					require.NoError(t, err)
					require.Equal(t, rows, compact.Len())
					requireRows(t, download(t, compact), values, upTo(rows))
				})
			}
		}
		bits := arraytest.NewGenerator(1).Array(arrow.FixedWidthTypes.Boolean, 10)
		defer bits.Release()
		mask := upload(t, mgr, bits, 0, 0)
		_, err := selection.FilterColumn(t.Context(), counted(t, mgr, 3, mask)[0], counted(t, mgr, 4, mask)[0])
		require.ErrorIs(t, err, buffer.ErrRows)
		_, err = selection.Choose(t.Context(), counted(t, mgr, 3, mask)[0], mask, mask)
		require.ErrorIs(t, err, buffer.ErrRows)
	})
}

// TestFilteredTablesAreCompacted filters few rows of many. The count keeps only its own
// memory allocated, and the compact table only its rows.
func TestFilteredTablesAreCompacted(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const n = 20_000
		g := arraytest.NewGenerator(1)
		g.Nulls = arraytest.NoneNull
		texts := g.Array(arrow.BinaryTypes.String, n)
		defer texts.Release()
		rows := upTo(n)
		numbers := indicesOf(t, arrow.PrimitiveTypes.Int32, rows)
		table := tableOf(t, mgr, n, false, upload(t, mgr, numbers, 0, 0), upload(t, mgr, texts, 0, 0))
		few, err := selection.Filter(t.Context(), table, expr.Col("a").Lt(expr.Lit(int32(10))))
		require.NoError(t, err)
		held := mgr.Stats().InUse

		compact, err := selection.Compact(t.Context(), few)
		require.NoError(t, err)
		if count := few.DeviceRows(); count.Block() != nil {
			require.LessOrEqual(t, count.Block().Bytes(), uint64(256))
		}
		require.LessOrEqual(t, mgr.Stats().InUse-held, uint64(4096))
		known, ok := compact.HostRows()
		require.True(t, ok)
		require.EqualValues(t, 10, known)
		require.NoError(t, few.Release())
		requireTable(t, compact, rows[:10], numbers, texts)
	})
}

// TestSlicesTakeWhatTheyShow filters ten rows of a slice of many strings.
func TestSlicesTakeWhatTheyShow(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(1)
		g.Nulls = arraytest.NoneNull
		const n = 80_000
		values := g.Array(arrow.BinaryTypes.String, n)
		defer values.Release()
		c := upload(t, mgr, values, 1000, n-1010)
		bits := array.NewSlice(values, 1000, 1010)
		defer bits.Release()
		require.Greater(t, c.Buffer(2).Len(), 64<<10)
		table := tableOf(t, mgr, 10, false, c)
		before := mgr.Stats().InUse
		mgr.ResetPeak()
		made, err := selection.Filter(t.Context(), table, expr.Col("a").Eq(expr.Col("a")))
		require.NoError(t, err)
		require.LessOrEqual(t, mgr.Stats().Peak-before, uint64(16<<10))
		requireTable(t, made, upTo(10), bits)
	})
}

// TestTablesOfNoRows runs operators on tables without memory. No operator requires
// Options.Manager.
func TestTablesOfNoRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		poison := adaptor.NewPoison(memory.NewDriverResource(dev), adaptor.PoisonOptions{})
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poison})
		g := arraytest.NewGenerator(1)
		numbers, nothing := g.Array(arrow.PrimitiveTypes.Int32, 5), g.Array(arrow.Null, 5)
		defer numbers.Release()
		defer nothing.Release()
		full := tableOf(t, mgr, 5, false, upload(t, mgr, numbers, 0, 0), upload(t, mgr, nothing, 0, 0))
		nulls := tableOf(t, mgr, 5, false, upload(t, mgr, nothing, 0, 0))
		keep := func(made *buffer.Buffer, err error) *buffer.Buffer {
			require.NoError(t, err)
			release(t, made)
			return made
		}
		none := upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, nil), 0, 0)
		for name, table := range map[string]*buffer.Buffer{
			"filtered": keep(selection.Filter(t.Context(), full, expr.Lit(false))),
			"taken":    keep(selection.Take(t.Context(), full, none)),
			"head":     keep(selection.Head(t.Context(), full, 0)),
			"nulls":    nulls,
		} {
			t.Run(name, func(t *testing.T) {
				rows, err := table.NumRows(t.Context())
				require.NoError(t, err)
				reversed := keep(selection.Reverse(t.Context(), table))
				twice := keep(selection.Reverse(t.Context(), reversed))
				both := keep(selection.Concat(t.Context(), []*buffer.Buffer{table, twice}))
				compact := keep(selection.Compact(t.Context(), both))
				got, err := compact.NumRows(t.Context())
				require.NoError(t, err)
				require.Equal(t, 2*rows, got)
				require.Same(t, mgr, compact.Manager())
				keep(selection.Take(t.Context(), table, none))
				keep(selection.Tail(t.Context(), table, 3))
			})
		}
	})
}

// TestOneOption checks that every operator rejects more than one option.
func TestOneOption(t *testing.T) {
	two := []kernels.Options{{}, {}}
	ctx := context.Background()
	for name, run := range map[string]func() error{
		"filter":         func() error { _, err := selection.Filter(ctx, nil, expr.Lit(true), two...); return err },
		"filter mask":    func() error { _, err := selection.FilterMask(ctx, nil, nil, two...); return err },
		"filter column":  func() error { _, err := selection.FilterColumn(ctx, nil, nil, two...); return err },
		"take":           func() error { _, err := selection.Take(ctx, nil, nil, two...); return err },
		"take column":    func() error { _, err := selection.TakeColumn(ctx, nil, nil, two...); return err },
		"concat":         func() error { _, err := selection.Concat(ctx, nil, two...); return err },
		"concat columns": func() error { _, err := selection.ConcatColumns(ctx, nil, two...); return err },
		"compact":        func() error { _, err := selection.Compact(ctx, nil, two...); return err },
		"compact column": func() error { _, err := selection.CompactColumn(ctx, nil, two...); return err },
		"reverse":        func() error { _, err := selection.Reverse(ctx, nil, two...); return err },
		"reverse column": func() error { _, err := selection.ReverseColumn(ctx, nil, two...); return err },
		"head":           func() error { _, err := selection.Head(ctx, nil, 1, two...); return err },
		"tail":           func() error { _, err := selection.Tail(ctx, nil, 1, two...); return err },
		"choose":         func() error { _, err := selection.Choose(ctx, nil, nil, nil, two...); return err },
	} {
		require.ErrorIs(t, run(), device.ErrInvalidValue, name)
	}
}
