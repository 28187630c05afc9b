//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

const capacity = 8

// countedRecord has as many rows as a counted table has memory for.
func countedRecord(t *testing.T) arrow.Record {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: "m", Type: arrow.PrimitiveTypes.Int32},
		{Name: "nulls", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "l", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16)},
		{Name: "s", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range capacity {
		b.Field(0).(*array.Int32Builder).Append(int32(i))
		b.Field(1).(*array.Int32Builder).Append(int32(-i))
		if i == capacity-1 {
			b.Field(2).AppendNull() // beyond all row counts but the largest
		} else {
			b.Field(2).(*array.Int32Builder).Append(int32(i))
		}
		b.Field(3).(*array.BooleanBuilder).Append(i%3 == 0)
		lists := b.Field(4).(*array.FixedSizeListBuilder)
		lists.Append(true)
		lists.ValueBuilder().(*array.Int16Builder).AppendValues([]int16{int16(i), int16(10 * i)}, nil)
		b.Field(5).(*array.StringBuilder).Append("text"[:i%5])
	}
	return b.NewRecord()
}

// countedTable returns a table with a row count that only the device knows, as a filter
// makes it. The caller releases it.
func countedTable(t *testing.T, m *memory.Manager, record arrow.Record, rows int64) *buffer.Buffer {
	t.Helper()
	plain, err := buffer.FromRecord(m, record)
	require.NoError(t, err)
	word, err := memory.NewSlice[int64](m, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, word.Upload(t.Context(), nil, []int64{rows}))
	var columns []*column.Column
	for i := range plain.NumColumns() {
		columns = append(columns, plain.Column(i))
	}
	table, err := buffer.New(plain.Schema(), columns, buffer.Rows{Device: word, Manager: m})
	require.NoError(t, err)
	require.NoError(t, word.Release())
	require.NoError(t, plain.Release())
	return table
}

// Every result of a counted table in Python has its rows and not its capacity: columns,
// tensors, matrices, Arrow structs and copies.
func TestCountedTablesInPython(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		record := countedRecord(t)
		defer record.Release()
		for _, rows := range []int64{0, 3, capacity} {
			want := record.NewSlice(0, rows)
			counted := func() *buffer.Buffer { return countedTable(t, m, record, rows) }
			for name, check := range map[string]func(t *testing.T, table *buffer.Buffer){
				"columns": func(t *testing.T, table *buffer.Buffer) {
					for i := range table.NumColumns() {
						s, err := seriesOf(table, i)
						require.NoError(t, err)
						require.EqualValues(t, rows, s.Len())
						requireColumn(t, want.Column(i), s.Column)
						require.NoError(t, s.Release())
					}
				},
				"tensors": func(t *testing.T, table *buffer.Buffer) {
					for _, i := range []int{0, 3, 4} {
						s := newSeries(table.Column(i), table.Schema().Field(i))
						requireTensor(t, m, want.Column(i), s)
					}
				},
				"matrix": func(t *testing.T, table *buffer.Buffer) {
					two, err := table.Select("n", "m")
					require.NoError(t, err)
					h := objects.add(two)
					tensor, err := exportTable(h, 0, 0)
					require.NoError(t, err)
					columns, err := dlpack.ImportMatrix(m, tensor)
					require.NoError(t, err)
					require.Len(t, columns, 2)
					for i, c := range columns {
						requireColumn(t, want.Column(i), c)
					}
					releaseColumns(columns)
					require.NoError(t, release(h))
				},
				"arrow": func(t *testing.T, table *buffer.Buffer) {
					a, err := exported(table)
					require.NoError(t, err)
					back, err := arrowdev.Import(m, a.Device(), a.Schema())
					require.NoError(t, err)
					requireTable(t, want, back)
					require.NoError(t, back.Release())
					require.NoError(t, a.Release())
				},
				"copy": func(t *testing.T, table *buffer.Buffer) {
					copied, err := copyTable(table, m)
					require.NoError(t, err)
					requireTable(t, want, copied)
					require.NoError(t, copied.Release())
				},
			} {
				t.Run(name, func(t *testing.T) {
					table := counted()
					check(t, table)
					require.NoError(t, table.Release())
				})
			}
			want.Release()
		}
		require.NoError(t, dev.Synchronize(t.Context()))
	})
}

func requireColumn(t *testing.T, want arrow.Array, c *column.Column) {
	t.Helper()
	got, err := c.Array(t.Context())
	require.NoError(t, err)
	require.True(t, array.Equal(want, got), "%v\n%v", want, got)
	got.Release()
}

func requireTable(t *testing.T, want arrow.Record, table *buffer.Buffer) {
	t.Helper()
	got, err := table.Record(t.Context())
	require.NoError(t, err)
	require.True(t, array.RecordEqual(want, got), "%v\n%v", want, got)
	got.Release()
}

func requireTensor(t *testing.T, m *memory.Manager, want arrow.Array, s *series) {
	t.Helper()
	tensor, err := export(s, 0, 0)
	require.NoError(t, err)
	back, err := dlpack.Import(m, tensor)
	require.NoError(t, err)
	requireColumn(t, want, back)
	require.NoError(t, back.Release())
}

// While the interpreter's lock is held, an export does not fetch a row count and does
// not count nulls.
func TestExportsThatMayWait(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		record := countedRecord(t)
		defer record.Release()
		table := countedTable(t, m, record, 3)
		first := newSeries(table.Column(0), arrow.Field{})
		require.True(t, mayWait(first, 0), "only the device knows the number of rows")

		plain, err := buffer.FromRecord(m, record)
		require.NoError(t, err)
		require.NoError(t, dev.Synchronize(t.Context()))
		part := func(name string, from, count int) *series {
			i := plain.Schema().FieldIndices(name)[0]
			c, err := plain.Column(i).Slice(from, count)
			require.NoError(t, err)
			return newSeries(c, plain.Schema().Field(i))
		}
		for _, each := range []struct {
			name        string
			from, count int
			waits       bool
		}{
			{"n", 0, capacity, false},
			{"n", 2, 3, false},
			{"l", 2, 3, false},
			{"b", 0, capacity, true},
			{"nulls", 0, 3, true}, // the nulls of the part are not counted yet
		} {
			s := part(each.name, each.from, each.count)
			require.Equal(t, each.waits, mayWait(s, 0), "%+v", each)
			require.NoError(t, s.Release())
		}
		nulls := part("nulls", 0, capacity)
		lists, err := column.New(column.Data{
			Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), Length: capacity / 2,
			Buffers: make([]column.Bytes, 1), Children: []*column.Column{nulls.Column},
		})
		require.NoError(t, err)
		require.True(t, mayWait(newSeries(lists, arrow.Field{}), 0), "the nulls of the items that a list shows are counted")
		require.NoError(t, lists.Release())
		require.NoError(t, nulls.Release())

		rows, err := table.NumRows(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 3, rows)
		require.False(t, mayWait(first, 0), "the number of rows was fetched")
		require.NoError(t, plain.Release())
		require.NoError(t, table.Release())
	})
}
