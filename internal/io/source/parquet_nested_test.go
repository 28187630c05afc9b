package source_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// Devices decode lists, maps and structs, but no other columns in this way, and none of a codec that they do not have.
func TestNestedColumns(t *testing.T) {
	types := variedTypes()
	for codec, want := range map[compress.Compression]bool{compress.Codecs.Snappy: true, compress.Codecs.Brotli: false} {
		data := variedParquet(t, types, parquet.WithCompression(codec))
		s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		nested, err := source.Nested(t.Context(), s)
		require.NoError(t, err)
		for i, dataType := range types {
			assert.Equal(t, want && arrow.IsNested(dataType.ID()), nested[i], "%v, %v", dataType, codec)
		}
	}
	for _, name := range []string{"testdata/others/parquet-go-1.parquet", "testdata/others/parquet-go-2.parquet"} {
		s := openedParquet(t, name)
		schema, err := s.Schema(t.Context())
		require.NoError(t, err)
		nested, err := source.Nested(t.Context(), s)
		require.NoError(t, err)
		for i, field := range schema.Fields() {
			if field.Name != "map" && field.Name != "variant" { // which are refused
				assert.Equal(t, arrow.IsNested(field.Type.ID()), nested[i], "%s: %v", name, field)
			}
		}
	}
}

// A list that may be null in one file and may not in another one has other levels: the rows of both are those that the host reads.
func TestNestedColumnsOfSeveralFiles(t *testing.T) {
	folder := t.TempDir()
	for i, nullable := range []bool{true, false, true} {
		list := arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)
		if i == 2 {
			list = arrow.ListOf(arrow.PrimitiveTypes.Int64)
		}
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "l", Type: list, Nullable: nullable}}, nil))
		rows := []string{fmt.Sprintf(`{"l":[%d,2]}`, i), `{"l":[]}`, `{"l":[3]}`}
		if nullable {
			rows = append(rows, `{"l":null}`)
		}
		if i == 2 {
			rows = append(rows, `{"l":[null,4]}`)
		}
		for _, row := range rows {
			require.NoError(t, b.UnmarshalJSON([]byte(row)))
		}
		record := b.NewRecord()
		b.Release()
		write(t, parquetOf(t, 10, record), folder, fmt.Sprintf("%d.parquet", i))
	}
	texts := func(m *memory.Manager) (rows []string) {
		for _, record := range read(t, openedParquet(t, folder), m, source.Request{}) {
			for row := range int(record.NumRows()) {
				rows = append(rows, record.Column(0).ValueStr(row))
			}
		}
		return rows
	}
	want := texts(devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}))
	require.Len(t, want, 4+3+5)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		require.Equal(t, want, texts(devicetest.Manager(t, dev, memory.Options{})))
	})
}
