package sink_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/memory"
)

// tableReader reads one table, which it retains.
type tableReader struct {
	table *buffer.Buffer
	read  bool
}

func (r *tableReader) Schema() *arrow.Schema { return r.table.Schema() }

func (r *tableReader) Next(context.Context) (*buffer.Buffer, error) {
	if r.read {
		return nil, io.EOF
	}
	r.read = true
	return r.table, r.table.Retain()
}

func (r *tableReader) Close() error { return nil }

// mixedRecord has columns of every way through the kernels: with dictionaries and without, converted or
// not, with nulls and without.
func mixedRecord(t testing.TB, rows int) arrow.Record {
	g := arraytest.NewGenerator(5)
	var fields []arrow.Field
	var columns []arrow.Array
	for i, dataType := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int8, &arrow.Decimal128Type{Precision: 15, Scale: 2}, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64} {
		for _, few := range []int{3, rows} {
			g.Nulls = arraytest.Nulls(i % 2)
			values := pagestest.Fitting(columntest.Repeated(t, g, dataType, few, rows))
			fields = append(fields, arrow.Field{Name: string(rune('a' + len(fields))), Type: dataType, Nullable: true})
			columns = append(columns, values)
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
}

// givesBack holds the calls after a failure of which memory cannot be reused.
var givesBack = []string{"Free", "FreeAsync", "HostFree", "PhysicalRelease", "AddressFree", "Unmap"}

// After any driver call that fails nothing is held, and the table can be written again.
func TestEveryDriverCallFails(t *testing.T) {
	defer sink.SetLeastDeviceRows(1)()
	dev, driver := faulttest.OpenEmulator(t)
	m := devicetest.Manager(t, dev, memory.Options{})
	record := mixedRecord(t, 300)
	table, err := buffer.FromRecord(m, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	before := m.Stats().InUse
	write := func() ([]byte, error) {
		var to bytes.Buffer
		_, err := sink.ToWriter(t.Context(), &to, sink.Parquet(sink.ParquetOptions{GroupRows: 200}), &tableReader{table: table})
		driver.Arm(nil)
		require.Equal(t, before, m.Stats().InUse)
		stats, statsErr := memory.PinnedStatsOf(dev)
		require.NoError(t, statsErr)
		require.LessOrEqual(t, stats.InUse, m.StagingStats().Pinned)
		return to.Bytes(), err
	}
	want, err := write()
	require.NoError(t, err)
	driver.Arm(func(faulttest.Call) error { return nil })
	var to bytes.Buffer
	_, err = sink.ToWriter(t.Context(), &to, sink.Parquet(sink.ParquetOptions{GroupRows: 200}), &tableReader{table: table})
	require.NoError(t, err)
	calls := driver.Counts()
	driver.Arm(nil)
	failures := 0
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if slices.Contains(givesBack, name) {
			continue
		}
		for nth := 1; nth <= calls[name]; nth += 1 + calls[name]/40 {
			driver.Arm(func(c faulttest.Call) error {
				if c.Operation == name && c.Nth == nth {
					return faulttest.ErrDriver
				}
				return nil
			})
			if data, err := write(); err != nil {
				require.ErrorIs(t, err, faulttest.ErrDriver, "%s %d", name, nth)
				failures++
			} else {
				require.Equal(t, want, data, "%s %d", name, nth)
			}
		}
	}
	require.Greater(t, failures, 20)
	data, err := write()
	require.NoError(t, err)
	require.Equal(t, want, data)
}

// A table is copied if its device has no memory for the kernels, and written as the others are.
func TestDevicesWithoutMemory(t *testing.T) {
	defer sink.SetLeastDeviceRows(1)()
	record := mixedRecord(t, 500)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	want := written(t, host, record, sink.ParquetOptions{}, 1<<20)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		table, err := buffer.FromRecord(m, record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		for _, room := range []uint64{0, 1 << 12, 1 << 16, 1 << 20, 1 << 22} {
			require.NoError(t, m.SetBudget(m.Stats().InUse+room))
			var to bytes.Buffer
			_, err := sink.ToWriter(t.Context(), &to, sink.Parquet(sink.ParquetOptions{}), &tableReader{table: table})
			require.NoError(t, err)
			require.Equal(t, want, to.Bytes(), "%d bytes for kernels", room)
		}
	})
}
