package optest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// PairSpec describes an operator of two tables with a table as its result.
type PairSpec struct {
	// Name is part of every error of the operator.
	Name string
	Run  func(ctx context.Context, left, right *buffer.Buffer, options kernels.Options) (*buffer.Buffer, error)
	// Left and Right are inputs with some ten rows and a column "keep" of booleans without
	// nulls.
	Left, Right arrow.Record
}

// RunPair tests an operator of two tables against itself on the host: with row counts on
// the device on both sides, on two streams concurrently, with each allocation failing, and
// with a context that has ended. Tests of the operator compare it with a model.
func RunPair(t *testing.T, spec PairSpec) {
	x := &testedPair{PairSpec: spec}
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	x.whole, x.kept = x.expected(t, host, false), x.expected(t, host, true)
	require.NotEqual(t, x.whole, x.kept, "the rows with keep have another result")
	t.Run("counts on the device", func(t *testing.T) { devicetest.EachKernel(t, x.counted) })
	t.Run("two streams", func(t *testing.T) { devicetest.EachKernel(t, x.twoStreams) })
	t.Run("faults", func(t *testing.T) { devicetest.EachKernel(t, x.faults) })
	t.Run("the context ends", func(t *testing.T) { devicetest.EachKernel(t, x.cancelled) })
}

// testedPair is an operator, and its results as text for whole tables and for the rows
// that are kept.
type testedPair struct {
	PairSpec
	whole, kept string
}

// inputs uploads both tables, with only the rows that are kept if filtered is set.
func (x *testedPair) inputs(t *testing.T, mgr *memory.Manager, filtered bool) (tables [2]*buffer.Buffer) {
	t.Helper()
	for i, record := range []arrow.Record{x.Left, x.Right} {
		var err error
		tables[i], err = buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		if filtered {
			kept, err := selection.Filter(t.Context(), tables[i], expr.Col("keep"))
			require.NoError(t, err)
			require.NoError(t, tables[i].Release())
			tables[i] = kept
		}
		t.Cleanup(func() { require.NoError(t, tables[i].Release()) })
	}
	return tables
}

func (x *testedPair) expected(t *testing.T, mgr *memory.Manager, filtered bool) string {
	t.Helper()
	in := x.inputs(t, mgr, filtered)
	result, err := x.Run(t.Context(), in[0], in[1], kernels.Options{})
	require.NoError(t, err)
	return textOf(t, result)
}

// textOf returns a table as text and releases it.
func textOf(t *testing.T, table *buffer.Buffer) string {
	t.Helper()
	record, err := table.RecordWith(t.Context(), column.DownloadOptions{})
	require.NoError(t, errors.Join(err, table.Release()))
	defer record.Release()
	return recordText(record)
}

func recordText(record arrow.Record) string {
	var text strings.Builder
	text.WriteString(record.Schema().String())
	for _, c := range record.Columns() {
		text.WriteString("\n" + c.String())
	}
	return text.String()
}

func (x *testedPair) counted(t *testing.T, dev *device.Device) {
	mgr := devicetest.Manager(t, dev, memory.Options{})
	in := x.inputs(t, mgr, true)
	result, err := x.Run(t.Context(), in[0], in[1], kernels.Options{})
	require.NoError(t, err)
	require.Equal(t, x.kept, textOf(t, result))
}

func (x *testedPair) twoStreams(t *testing.T, dev *device.Device) {
	mgr := devicetest.Manager(t, dev, memory.Options{})
	in := x.inputs(t, mgr, false)
	var results [2]*buffer.Buffer
	var failures [2]error
	var callers sync.WaitGroup
	for i := range results {
		stream, err := dev.NewStream()
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, stream.Close()) })
		callers.Go(func() { results[i], failures[i] = x.Run(t.Context(), in[0], in[1], kernels.Options{Stream: stream}) })
	}
	callers.Wait()
	require.NoError(t, errors.Join(failures[:]...))
	for _, result := range results {
		require.Equal(t, x.whole, textOf(t, result))
	}
}

// faults fails each allocation, one in each run; in short tests on the emulator a random
// fourth of them.
func (x *testedPair) faults(t *testing.T, dev *device.Device) {
	fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault})
	in := x.inputs(t, mgr, false)
	before := mgr.Stats().InUse
	random := property.Random(t)
	for nth := uint64(1); ; nth++ {
		if testing.Short() && devicetest.Emulated(dev) && random.IntN(4) != 0 {
			continue
		}
		fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}})
		result, err := x.Run(t.Context(), in[0], in[1], kernels.Options{})
		fault.Arm(adaptor.FaultOptions{})
		if err == nil {
			require.Greater(t, nth, uint64(1), "the operator allocates")
			require.Equal(t, x.whole, textOf(t, result))
			return
		}
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		require.ErrorContains(t, err, x.Name)
		require.Equal(t, before, mgr.Stats().InUse)
	}
}

func (x *testedPair) cancelled(t *testing.T, dev *device.Device) {
	mgr := devicetest.Manager(t, dev, memory.Options{})
	in := x.inputs(t, mgr, false)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the user went away")
	cancel(gone)
	_, err := x.Run(ctx, in[0], in[1], kernels.Options{})
	require.ErrorIs(t, err, gone)
	require.ErrorContains(t, err, x.Name)
}

// Record makes a record of columns, which it releases, and a column "keep" that is true for
// two of three rows.
func Record(names []string, columns []arrow.Array) arrow.Record {
	rows := columns[0].Len()
	keep := make([][]byte, rows)
	for i := range keep {
		keep[i] = []byte{0}
		if i%3 != 1 {
			keep[i][0] = 1
		}
	}
	columns = append(columns, Fixed(arrow.FixedWidthTypes.Boolean, keep))
	var fields []arrow.Field
	for i, c := range columns {
		name := "keep"
		if i < len(names) {
			name = names[i]
		}
		fields = append(fields, arrow.Field{Name: name, Type: c.DataType(), Nullable: true})
	}
	record := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
	for _, c := range columns {
		c.Release()
	}
	return record
}
