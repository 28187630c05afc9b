//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"context"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// countedTable is a table of a record's first rows. Only the device has the row
// count.
func countedTable(t testing.TB, m *memory.Manager, record arrow.Record, rows int64) *buffer.Buffer {
	t.Helper()
	whole := upload(t, m, record)
	defer whole.Release()
	count, err := memory.NewSlice[int64](m, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	defer count.Release()
	require.NoError(t, count.Upload(t.Context(), nil, []int64{rows}))
	columns := make([]*column.Column, whole.NumColumns())
	for i := range columns {
		columns[i] = whole.Column(i)
	}
	table, err := buffer.New(whole.Schema(), columns, buffer.Rows{Device: count})
	require.NoError(t, err)
	return table
}

// If only the device has the row count of a table or of a nested column, the export
// and the import have the actual number of rows.
func TestExportsOfCountedColumns(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		for number, dataType := range arraytest.AllTypes() {
			record := recordOf(arraytest.NewGenerator(uint64(number)).Array(dataType, 20))
			for _, rows := range []int64{0, 7, 20} {
				want := record.NewSlice(0, rows)
				table := countedTable(t, m, record, rows)
				a, err := ExportColumn(table.Column(0), arrow.Field{Name: "a", Nullable: true})
				require.NoError(t, err, "%v", dataType)
				require.Equal(t, rows, deviceArray(a).Array.Length, "%v", dataType)
				requireChildrenCut(t, table.Column(0), &deviceArray(a).Array)
				back, _, err := ImportColumn(m, a.Device(), a.Schema())
				require.NoError(t, err)
				require.EqualValues(t, rows, back.Len(), "%v", dataType)
				require.NoError(t, sameElements(want.Column(0), arrayOf(t, back)))
				require.NoError(t, back.Release())
				require.NoError(t, a.Release())
				require.NoError(t, table.Release())

				table = countedTable(t, m, record, rows)
				requireRecord(t, want, download(t, throughForeign(t, m, table, ImportOptions{})))
				require.NoError(t, table.Release())
				want.Release()
			}
		}
		requireNothingHeld(t, m)
	})
}

// requireChildrenCut checks that no struct covers more elements than the column has.
func requireChildrenCut(t *testing.T, c *column.Column, a *cabi.Array) {
	t.Helper()
	rows, known := c.HostRows()
	require.True(t, known, "%v", c)
	require.EqualValues(t, rows, a.Length, "%v", c)
	for i, child := range c.Data().Children {
		requireChildrenCut(t, child, childOf(a, i))
	}
}

// A slice of a column with a device row count first fetches the count, and then has
// its own length.
func TestExportsOfSlicesOfCountedColumns(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		record := recordOf(int32s(1, 2, 3, 4, 5, 6), texts("a", "b", "c", "d", "e", "f"))
		table := countedTable(t, m, record, 4)
		_, err := table.Slice(1, 3)
		require.ErrorIs(t, err, column.ErrRowsOnDevice)
		_, err = table.NumRows(t.Context())
		require.NoError(t, err)
		part, err := table.Slice(1, 3)
		require.NoError(t, err)
		require.NoError(t, table.Release())
		want := record.NewSlice(1, 4)
		requireRecord(t, want, download(t, throughForeign(t, m, part, ImportOptions{})))
		require.NoError(t, part.Release())
		requireNothingHeld(t, m)
	})
}

// The wait for the count ends with the context.
func TestExportsOfCountedColumnsThatAreCancelled(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		table := countedTable(t, m, recordOf(int32s(1, 2, 3)), 2)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := Export(table, ExportOptions{Context: ctx})
		require.ErrorIs(t, err, context.Canceled)
		_, err = ExportColumn(table.Column(0), arrow.Field{}, ExportOptions{Context: ctx})
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, table.Release())
		requireNothingHeld(t, m)
	})
}

// Tables without memory, empty or of nulls, are on the device of their manager. An
// import makes them tables of the importing manager.
func TestTablesWithoutMemoryKnowTheirDevice(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		for _, dataType := range arraytest.AllTypes() {
			none := recordOf(arraytest.NewGenerator(1).Array(dataType, 0))
			table := upload(t, m, none)
			a, err := Export(table)
			require.NoError(t, err)
			require.Equal(t, locationOfManager(m), location{deviceArray(a).DeviceType, deviceArray(a).DeviceID}, "%v", dataType)
			p := producertest.Disguise(deviceArray(a))
			back, err := Import(m, pointerTo(p.Device), a.Schema())
			require.NoError(t, err)
			require.Same(t, m, back.Manager())
			require.Same(t, m, back.Column(0).Manager())
			require.NoError(t, back.Release())
			require.NoError(t, a.Release())
			require.NoError(t, table.Release())
			p.Free()
		}
		requireNothingHeld(t, m)
	})
}

// listReader reads the tables of a list.
type listReader struct {
	schema *arrow.Schema
	tables []*buffer.Buffer
}

func (r *listReader) Schema() *arrow.Schema { return r.schema }

func (r *listReader) Next(context.Context) (*buffer.Buffer, error) {
	if len(r.tables) == 0 {
		return nil, io.EOF
	}
	next := r.tables[0]
	r.tables = r.tables[1:]
	return next, nil
}

func (r *listReader) Close() error {
	for _, each := range r.tables {
		if err := each.Release(); err != nil {
			return err
		}
	}
	r.tables = nil
	return nil
}

// A batch without memory may claim any device. The reader places it on the stream's
// device.
func TestAnEmptyBatchInTheMiddleOfAStream(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
		full, none := recordOf(int32s(1, 2, 3), texts("a", "b", "c")), recordOf(int32s(), texts())
		bare := make([]*column.Column, 2)
		for i := range bare {
			var err error
			bare[i], err = column.New(bareData(none.Column(i).DataType()))
			require.NoError(t, err)
		}
		empty, err := buffer.New(none.Schema(), bare, buffer.Rows{Manager: host})
		require.NoError(t, err)
		for _, each := range bare {
			require.NoError(t, each.Release())
		}
		reader := &listReader{schema: full.Schema(), tables: []*buffer.Buffer{upload(t, m, full), empty, upload(t, m, none), upload(t, m, full)}}
		stream, err := NewCDeviceStream()
		require.NoError(t, err)
		defer stream.Release()
		require.NoError(t, ExportStream(m, reader, stream.Pointer()))
		back, err := ImportStream(m, stream.Pointer())
		require.NoError(t, err)
		for _, want := range []arrow.Record{full, none, none, full} {
			table, err := back.Next(t.Context())
			require.NoError(t, err)
			require.True(t, m.Device().Same(table.Device()))
			requireRecord(t, want, download(t, table))
		}
		require.NoError(t, back.Close())
		requireNothingHeld(t, m)
		requireNothingHeld(t, host)
	})
}
