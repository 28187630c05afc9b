package selection_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// TestFilterFaults makes each allocation fail, one per run: no memory stays allocated.
func TestFilterFaults(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault})
		for _, n := range []int{500, 9000} {
			p := newPeople(rand.New(rand.NewPCG(1, 1)), n)
			var columns []*column.Column
			for _, a := range p.arrays(t) {
				columns = append(columns, upload(t, mgr, a, 0, 0))
			}
			table := tableOf(t, mgr, int64(n), false, columns...)
			mask, _ := maskOf(rand.New(rand.NewPCG(1, 2)), n, 0.5, 0.1)
			defer mask.Release()
			keep := uploadMask(t, mgr, mask, 3)
			requireFaults(t, mgr, fault, func(ctx context.Context) (*buffer.Buffer, error) {
				return selection.FilterMask(ctx, table, keep)
			})
			requireFaults(t, mgr, fault, func(ctx context.Context) (*buffer.Buffer, error) {
				return selection.FilterColumn(ctx, columns[0], keep)
			})
			requireFaults(t, mgr, fault, func(ctx context.Context) (*buffer.Buffer, error) {
				return selection.Filter(ctx, table, expr.Col("b").Lt(expr.Lit(0.5)))
			})
		}
	})
}

func requireFaults(t *testing.T, mgr *memory.Manager, fault *adaptor.Fault, run func(ctx context.Context) (*buffer.Buffer, error)) {
	t.Helper()
	before := mgr.Stats().InUse
	fault.Arm(adaptor.FaultOptions{})
	made, err := run(t.Context())
	require.NoError(t, err)
	require.NoError(t, made.Release())
	requests := fault.Requests().Seen
	require.Positive(t, requests)
	for nth := uint64(1); nth <= requests; nth++ {
		fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}})
		made, err := run(t.Context())
		fault.Arm(adaptor.FaultOptions{})
		require.Nil(t, made)
		require.ErrorIs(t, err, adaptor.ErrInjected)
		require.ErrorContains(t, err, "selection: filter")
		require.Equal(t, before, mgr.Stats().InUse, "request %d", nth)
	}
}

func TestFilterRefusals(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		p := newPeople(rand.New(rand.NewPCG(1, 1)), 50)
		arrays := p.arrays(t)
		numbers, flags := upload(t, mgr, arrays[2], 0, 0), upload(t, mgr, arrays[3], 0, 0)
		table := tableOf(t, mgr, 50, false, numbers)
		ctx := t.Context()

		_, err := selection.FilterMask(ctx, table, numbers)
		require.ErrorIs(t, err, column.ErrInvalid)
		require.ErrorContains(t, err, "selection: filter by mask: the mask is int32, it has to be bool")
		short := upload(t, mgr, arrays[3], 1, 0)
		_, err = selection.FilterMask(ctx, table, short)
		require.ErrorIs(t, err, buffer.ErrRows)
		_, err = selection.FilterColumn(ctx, numbers, short)
		require.ErrorIs(t, err, buffer.ErrRows)
		_, err = selection.FilterMask(ctx, table, nil)
		require.ErrorIs(t, err, memory.ErrReleased)
		_, err = selection.FilterMask(ctx, nil, flags)
		require.ErrorIs(t, err, memory.ErrReleased)
		_, err = selection.FilterColumn(ctx, nil, flags)
		require.ErrorIs(t, err, memory.ErrReleased)
		_, err = selection.Filter(ctx, nil, expr.Col("a").IsNull())
		require.ErrorIs(t, err, memory.ErrReleased)
		_, err = selection.Filter(ctx, table, expr.Col("a"))
		require.ErrorIs(t, err, expr.ErrType)
		_, err = selection.Filter(ctx, table, expr.Col("nobody").IsNull())
		require.ErrorIs(t, err, buffer.ErrSchema)

		stream, err := dev.NewStream()
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		_, err = selection.FilterMask(ctx, table, flags, kernels.Options{Stream: stream})
		require.ErrorIs(t, err, device.ErrClosed)
		_, err = selection.Filter(ctx, table, expr.Col("a").IsNull(), kernels.Options{Stream: stream})
		require.ErrorIs(t, err, device.ErrClosed)
	})
}

// TestFilterOptions checks that results belong to the stream and have the tag of the
// options.
func TestFilterOptions(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		defer func() { require.NoError(t, stream.Close()) }()
		for _, n := range []int{600, 9000} {
			arrays := newPeople(rand.New(rand.NewPCG(1, 1)), n).arrays(t)
			values := upload(t, mgr, arrays[2], 0, 0)
			made, err := selection.FilterColumn(t.Context(), values, upload(t, mgr, arrays[3], 0, 0), kernels.Options{Stream: stream, Tag: "kept"})
			require.NoError(t, err)
			for block := range made.Column(0).Blocks {
				require.Equal(t, stream, block.Stream())
				require.Equal(t, "kept", block.Tag())
			}
			require.NoError(t, made.Release())
		}
		require.NoError(t, stream.Synchronize(t.Context()))
	})
}

// TestFilterOfNothing filters tables without rows and without columns.
func TestFilterOfNothing(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		arrays := newPeople(rand.New(rand.NewPCG(1, 1)), 9000).arrays(t)
		none := upload(t, mgr, arrays[2], 9000, 0)
		made, err := selection.FilterColumn(t.Context(), none, upload(t, mgr, arrays[3], 9000, 0))
		require.NoError(t, err)
		require.Equal(t, int64(0), records(t, made).NumRows())
		made, err = selection.Filter(t.Context(), tableOf(t, mgr, 0, false, none), expr.Col("a").Gt(expr.Lit(1)))
		require.NoError(t, err)
		require.Equal(t, int64(0), records(t, made).NumRows())

		for _, n := range []int{100, 9000} {
			mask := array.NewSlice(arrays[3], 0, int64(n))
			defer mask.Release()
			bare, err := buffer.New(arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: int64(n)})
			require.NoError(t, err)
			release(t, bare)
			made, err := selection.FilterMask(t.Context(), bare, upload(t, mgr, mask, 0, 0))
			require.NoError(t, err)
			want := 0
			for i := range n {
				if mask.(*array.Boolean).IsValid(i) && mask.(*array.Boolean).Value(i) {
					want++
				}
			}
			rows, err := made.NumRows(t.Context())
			require.NoError(t, err)
			require.Equal(t, int64(want), rows)
			require.NoError(t, made.Release())
		}
		for _, n := range []int{100, 9000} { // the count on the device is zero, which the host does not know
			values, mask := upload(t, mgr, arrays[2], 9000-n, 0), upload(t, mgr, arrays[3], 9000-n, 0)
			made, err := selection.FilterMask(t.Context(), tableOf(t, mgr, 0, true, values), mask)
			require.NoError(t, err)
			require.Equal(t, int64(0), records(t, made).NumRows())
			made, err = selection.Filter(t.Context(), tableOf(t, mgr, 0, true, values), expr.Col("a").Ge(expr.Lit(0)))
			require.NoError(t, err)
			require.Equal(t, int64(0), records(t, made).NumRows())
		}
	})
}

// exactly makes a column of fixed width, or of bool, with buffers in separate
// allocations that end with the last required byte.
func exactly(t *testing.T, mgr *memory.Manager, values arrow.Array) *column.Column {
	t.Helper()
	data := column.Data{Type: values.DataType(), Length: values.Len(), Offset: values.Data().Offset(), NullCount: column.UnknownNullCount}
	for i, from := range values.Data().Buffers() {
		if from == nil {
			data.Buffers = append(data.Buffers, column.Bytes{})
			continue
		}
		end := data.Offset + data.Length
		bytes := (end + 7) / 8
		if width, ok := column.ElementBytes(values.DataType()); ok && i == 1 {
			bytes = width * end
		}
		made, err := memory.NewSlice[uint8](mgr, bytes, memory.AllocateOptions{})
		require.NoError(t, err)
		defer made.Release()
		require.NoError(t, made.Upload(t.Context(), nil, from.Bytes()[:bytes]))
		data.Buffers = append(data.Buffers, made)
	}
	c, err := column.New(data)
	require.NoError(t, err)
	release(t, c)
	return c
}

// TestFilterReadsNothingBeyond has buffers that end with their last required byte, at
// which the emulator stops, in memory that initially holds garbage.
func TestFilterReadsNothingBeyond(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		var resource memory.Resource = memory.NewDriverResource(dev)
		if dev.Kind() == device.CUDA {
			resource = adaptor.NewPoison(resource, adaptor.PoisonOptions{})
		}
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource})
		for _, n := range []int{5, 77, 9001, 8207}[:rounds(3, 4)] {
			p := newPeople(rand.New(rand.NewPCG(2, uint64(n))), n+9)
			arrays := p.arrays(t)
			for _, ahead := range []int{0, 3, 9} {
				var columns []*column.Column
				var from []arrow.Array
				for _, a := range arrays[1:4] {
					part := array.NewSlice(a, int64(ahead), int64(ahead+n))
					defer part.Release()
					from = append(from, part)
					columns = append(columns, exactly(t, mgr, part))
				}
				var rows []int
				for i := range n {
					if p.valid[ahead+i] && p.flag[ahead+i] {
						rows = append(rows, i)
					}
				}
				table := tableOf(t, mgr, int64(n), false, columns...)
				byMask, err := selection.FilterMask(t.Context(), table, columns[2])
				require.NoError(t, err)
				byExpression, err := selection.Filter(t.Context(), table, expr.Col("c"))
				require.NoError(t, err)
				for _, made := range []*buffer.Buffer{byMask, byExpression} {
					record := records(t, made)
					for i := range from {
						requireRows(t, record.Column(i), from[i], rows)
					}
				}
			}
		}
	})
}
