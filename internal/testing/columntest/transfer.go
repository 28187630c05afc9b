package columntest

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// Upload uploads an array of a flat type. A slice keeps its offset: the whole array is uploaded and
// sliced on the device. The column is released at the end of the test.
func Upload(t testing.TB, mgr *memory.Manager, in arrow.Array) *column.Column {
	t.Helper()
	data := in.Data()
	wholeData := array.NewData(data.DataType(), data.Offset()+data.Len(), data.Buffers(), nil, array.UnknownNullCount, 0)
	defer wholeData.Release()
	whole := array.MakeFromData(wholeData)
	defer whole.Release()
	c, err := column.FromArray(t.Context(), mgr, whole, column.UploadOptions{})
	require.NoError(t, err)
	sliced, err := c.Slice(data.Offset(), in.Len())
	require.NoError(t, err)
	require.NoError(t, c.Release())
	t.Cleanup(func() { require.NoError(t, sliced.Release()) })
	return sliced
}

// Download copies a column to the host. The array is released at the end of the test.
func Download(t testing.TB, c *column.Column) arrow.Array {
	t.Helper()
	a, err := c.Array(t.Context())
	require.NoError(t, err)
	t.Cleanup(a.Release)
	return a
}

// UploadRows uploads an array of any type and slices the column to the rows from first
// to end, so that it has an offset. It returns the same slice of the array. Both are
// released at the end of the test.
func UploadRows(t testing.TB, mgr *memory.Manager, in arrow.Array, first, end int) (*column.Column, arrow.Array) {
	t.Helper()
	whole, err := column.FromArray(t.Context(), mgr, in, column.UploadOptions{})
	require.NoError(t, err)
	rows, err := whole.Slice(first, end-first)
	require.NoError(t, err)
	require.NoError(t, whole.Release())
	t.Cleanup(func() { require.NoError(t, rows.Release()) })
	same := array.NewSlice(in, int64(first), int64(end))
	t.Cleanup(same.Release)
	return rows, same
}

// ColumnOf uploads values as a column without nulls. It is released at the end of the
// test.
func ColumnOf[T memory.Element](t testing.TB, mgr *memory.Manager, dataType arrow.DataType, values []T) *column.Column {
	t.Helper()
	s, err := memory.NewSlice[T](mgr, len(values), memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, s.Upload(t.Context(), nil, values))
	c, err := column.New(column.Data{Type: dataType, Length: len(values), Buffers: []column.Bytes{{}, s.AsBytes()}})
	require.NoError(t, err)
	require.NoError(t, s.Release())
	t.Cleanup(func() { require.NoError(t, c.Release()) })
	return c
}

// WithRows returns the column with a row count in device memory. The elements behind the
// rows stay, and no operator may read them. The column is released at the end of the test.
func WithRows(t testing.TB, mgr *memory.Manager, c *column.Column, rows int64) *column.Column {
	t.Helper()
	counter, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, counter.Upload(t.Context(), nil, []int64{rows}))
	count, err := column.NewRowCount(counter, int64(c.Len()))
	require.NoError(t, err)
	require.NoError(t, counter.Release())
	counted, err := c.WithRows(count)
	require.NoError(t, err)
	count.Release()
	t.Cleanup(func() { require.NoError(t, counted.Release()) })
	return counted
}

// Fetch copies a table to the host and releases it. The record is released at the end of
// the test.
func Fetch(t testing.TB, table *buffer.Buffer) arrow.Record {
	t.Helper()
	record, err := table.Record(t.Context())
	require.NoError(t, err)
	require.NoError(t, table.Release())
	t.Cleanup(record.Release)
	return record
}
