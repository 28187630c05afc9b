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
)

// A profile shows row groups that dictionaries have excluded: 5 lies between the values of the
// first one.
func TestProfileNamesDictionaries(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
		defer b.Release()
		b.Field(0).(*array.Int64Builder).AppendValues([]int64{0, 10, 0, 5}, nil)
		rows := b.NewRecord()
		defer rows.Release()
		var file bytes.Buffer
		writer, err := pqarrow.NewFileWriter(rows.Schema(), &file, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(2)), pqarrow.DefaultWriterProps())
		require.NoError(t, err)
		require.NoError(t, writer.Write(rows))
		require.NoError(t, writer.Close())
		var p gpuframe.Profile
		f, err := e.ParquetReaderAt("n", bytes.NewReader(file.Bytes()), int64(file.Len())).Filter(gpuframe.Col("n").Eq(5)).Collect(t.Context(), gpuframe.Profiled(&p))
		require.NoError(t, err)
		require.EqualValues(t, 1, f.NumRows())
		require.Contains(t, p.String(), "1 of 2 row groups skipped (1 by dictionaries)")
		require.NoError(t, f.Release())
	})
}
