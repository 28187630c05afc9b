package source_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// writeNumbers writes a Parquet file of row groups of ten rows, of which column n has the numbers from first on.
func writeNumbers(t *testing.T, path string, first, rows int) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(first + i))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("row ", first+i))
	}
	record := b.NewRecord()
	defer record.Release()
	file, err := os.Create(path)
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(schema, file, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(10)), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.WriteBuffered(record))
	require.NoError(t, w.Close())
}

// TestRowsByNumber reads rows by the numbers that a reader gives them, also after the file has changed.
func TestRowsByNumber(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		folder := t.TempDir()
		first := filepath.Join(folder, "1.parquet")
		writeNumbers(t, first, 0, 25)
		writeNumbers(t, filepath.Join(folder, "2.parquet"), 25, 31)
		s, err := source.Files{}.Parquet([]string{folder})
		require.NoError(t, err)
		request := source.Request{Columns: []string{"n"}, Numbered: true, Readahead: source.NewReadahead(m)}
		all, err := s.Open(t.Context(), m, request)
		require.NoError(t, err)
		require.NoError(t, all.Close())
		rows, err := source.OpenRows(t.Context(), s, m, request)
		require.NoError(t, err)
		read := func(numbers ...int64) (values []int64, err error) {
			r, err := rows.At(t.Context(), numbers)
			if err != nil {
				return nil, err
			}
			for {
				table, err := r.Next(t.Context())
				if err == io.EOF {
					return values, r.Close()
				}
				if err != nil {
					return nil, errors.Join(err, r.Close())
				}
				record, err := table.Record(t.Context())
				require.NoError(t, err)
				values = append(values, record.Column(0).(*array.Int64).Int64Values()...)
				record.Release()
				require.NoError(t, table.Release())
			}
		}
		for _, numbers := range [][]int64{{0}, {9, 10, 11, 24, 25, 26, 55}, {3, 5, 54}} {
			got, err := read(numbers...)
			require.NoError(t, err)
			require.Equal(t, numbers, got)
		}
		writeNumbers(t, first, 100, 26)
		_, err = read(3)
		require.ErrorIs(t, err, source.ErrContents)
		require.ErrorContains(t, err, "changed")
		require.NoError(t, rows.Close())
	})
}
