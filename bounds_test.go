package gpuframe_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// numbers returns a record of one column of integers from a number on.
func numbers(t *testing.T, name string, from, count int64) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	for i := range count {
		b.Field(0).(*array.Int64Builder).Append(from + i)
	}
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return record
}

// TestScansUseTheKeysOfJoins reads a file of ten row groups of which two have keys of the
// right side.
func TestScansUseTheKeysOfJoins(t *testing.T) {
	eachEngine(t, scanWithKeysOfJoins)
	t.Run("several devices", func(t *testing.T) { scanWithKeysOfJoins(t, openDevices(t, devicetest.Hosts(t, 3))) })
}

func scanWithKeysOfJoins(t *testing.T, e *gpuframe.Engine) {
	rows := numbers(t, "id", 0, 1000)
	var file bytes.Buffer
	writer, err := pqarrow.NewFileWriter(rows.Schema(), &file, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(100)), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, writer.Write(rows))
	require.NoError(t, writer.Close())
	left := e.ParquetReaderAt("ids", bytes.NewReader(file.Bytes()), int64(file.Len()))
	keys := numbers(t, "key", 350, 100)
	right := e.Records(keys.Schema(), keys)
	for kind, scanned := range map[gpuframe.JoinKind]string{
		gpuframe.Inner: "8 of 10 row groups skipped", gpuframe.Semi: "8 of 10 row groups skipped", gpuframe.Left: "1,000 rows",
	} {
		q := left.Join(right, kind, gpuframe.On(gpuframe.Col("id"), gpuframe.Col("key")))
		var p gpuframe.Profile
		f, err := q.Collect(t.Context(), gpuframe.Profiled(&p))
		require.NoError(t, err)
		require.Contains(t, p.String(), scanned)
		if kind != gpuframe.Left {
			require.EqualValues(t, 100, f.NumRows())
			// Rows of the two row groups outside of the bounds are removed too.
			require.Contains(t, p.String(), "within the bounds of key  [100 rows in")
		}
		require.NoError(t, f.Release())
	}
	none, err := left.Join(right.Filter(gpuframe.Col("key").Lt(0)), gpuframe.Inner, gpuframe.On(gpuframe.Col("id"), gpuframe.Col("key"))).Collect(t.Context())
	require.NoError(t, err)
	require.Zero(t, none.NumRows())
	require.NoError(t, none.Release())
}
