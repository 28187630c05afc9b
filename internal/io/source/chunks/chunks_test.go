package chunks_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/memory"
)

// requireDecodable fails unless the kernels decode a chunk.
func requireDecodable(t *testing.T, chunk []byte, about pages.Flat) {
	t.Helper()
	plan, err := pages.NewPlan(chunk, about.Column)
	require.NoError(t, err)
	require.True(t, chunks.Decodable(about, plan), "%v", about.Type)
}

// decoded decodes columns and returns them as arrays.
func decoded(t *testing.T, m *memory.Manager, columns []chunks.Column) []arrow.Array {
	t.Helper()
	list, err := chunks.Decode(t.Context(), m, columns, chunks.Options{Tag: "test"})
	require.NoError(t, err)
	require.Len(t, list, len(columns))
	arrays := make([]arrow.Array, len(list))
	for i, c := range list {
		require.True(t, arrow.TypeEqual(columns[i].Type, c.Type()), "%v", c.Type())
		arrays[i], err = c.Array(t.Context())
		require.NoError(t, err)
		require.NoError(t, c.Release())
	}
	return arrays
}

// Each type in each encoding of arrow-go, with nulls, all columns in one call: in pages of a few rows, and on GPUs also in
// pages of 1 MiB.
func TestDecode(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		sizes := []int{1, 700, 2500}
		if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
			sizes = append(sizes, 300_000)
		}
		for _, rows := range devicetest.Sizes(dev, sizes...) {
			t.Run(fmt.Sprint(rows), func(t *testing.T) { decodeTypes(t, m, rows) })
		}
	})
}

func decodeTypes(t *testing.T, m *memory.Manager, rows int) {
	pageSize, batch := int64(900), int64(90)
	if rows > 100_000 {
		pageSize, batch = 1<<20, 1024
	}
	generator := arraytest.NewGenerator(uint64(rows))
	var columns []chunks.Column
	var want []arrow.Array
	add := func(dataType arrow.DataType, distinct int, properties ...parquet.WriterProperty) {
		for _, nulls := range []arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull} {
			generator.Nulls = nulls
			values := pagestest.Fitting(columntest.Repeated(t, generator, dataType, min(distinct, rows), rows))
			column := columnOf(t, values, append(properties, parquet.WithDataPageSize(pageSize), parquet.WithBatchSize(batch))...)
			requireDecodable(t, column.Chunks[0].Bytes, column.Chunks[0].About)
			columns, want = append(columns, column), append(want, values)
		}
	}
	plain := parquet.WithDictionaryDefault(false)
	for _, dataType := range pagestest.Types() {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			pages := parquet.WithDataPageVersion(version)
			add(dataType, rows, pages, plain)
			add(dataType, 900, pages, parquet.WithStoreDecimalAsInteger(true))
			add(dataType, 900, pages, parquet.WithCompression(compress.Codecs.Snappy))
		}
		for _, encoding := range encodings(dataType) {
			if encoding != parquet.Encodings.RLEDict {
				add(dataType, rows, plain, parquet.WithEncoding(encoding))
			}
		}
	}
	for i, got := range decoded(t, m, columns) {
		require.True(t, array.Equal(want[i], got), "column %d: %v\nwant %v\ngot  %v", i, want[i].DataType(), want[i], got)
	}
}

// Strings of dictionaries are dictionaries on request; their codes are those of the dictionaries of all chunks.
func TestDecodeDictionaries(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		generator := arraytest.NewGenerator(5)
		var columns []chunks.Column
		var want [][]arrow.Array
		for _, valueType := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.Binary} {
			for _, nulls := range []arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull} {
				generator.Nulls = nulls
				c := chunks.Column{Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: valueType}}
				var parts []arrow.Array
				for range 3 {
					values := generator.Array(valueType, 500)
					chunk, about := pagestest.Chunk(t, values, parquet.WithDataPageSize(300), parquet.WithBatchSize(50))
					c.Chunks = append(c.Chunks, chunks.Chunk{About: about, Bytes: chunk, Rows: about.Values})
					parts = append(parts, values)
				}
				columns, want = append(columns, c), append(want, parts)
			}
		}
		for i, got := range decoded(t, m, columns) {
			indices := got.(*array.Dictionary)
			for row := range got.Len() {
				part, at := want[i][row/500], row%500
				require.Equal(t, part.IsNull(at), got.IsNull(row))
				if !got.IsNull(row) {
					require.Equal(t, part.ValueStr(at), indices.Dictionary().ValueStr(indices.GetValueIndex(row)))
				}
			}
		}
	})
}
