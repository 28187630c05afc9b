package chunks_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// drawProperties draws how arrow-go writes a column chunk.
func drawProperties(r *rapid.T, dataType arrow.DataType) (properties []parquet.WriterProperty, name string) {
	codec := rapid.SampledFrom(knownCodecs()).Draw(r, "codec")
	version := rapid.SampledFrom([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}).Draw(r, "version")
	encoding := rapid.SampledFrom(encodings(dataType)).Draw(r, "encoding")
	pageSize, batch := rapid.OneOf(rapid.Int64Range(10, 6000), rapid.Just(int64(1<<20))).Draw(r, "page size"), rapid.Int64Range(1, 300).Draw(r, "batch size")
	limit := rapid.Int64Range(10, 3000).Draw(r, "dictionary size")
	properties = []parquet.WriterProperty{
		parquet.WithCompression(codec), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(pageSize), parquet.WithBatchSize(batch),
		parquet.WithDictionaryPageSizeLimit(limit), parquet.WithStoreDecimalAsInteger(rapid.Bool().Draw(r, "decimals as integers")),
	}
	if encoding == parquet.Encodings.RLEDict {
		properties = append(properties, parquet.WithDictionaryDefault(true))
	} else {
		properties = append(properties, parquet.WithDictionaryDefault(false), parquet.WithEncoding(encoding))
	}
	return properties, fmt.Sprint(dataType, codec, version, encoding)
}

// knownCodecs are the codecs of arrow-go that the kernels decompress.
func knownCodecs() (codecs []compress.Compression) {
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd} {
		about := pages.Flat{Column: pages.Column{Codec: parquetformat.Codec(codec), Values: 1}, Physical: parquetformat.Int64, Type: arrow.PrimitiveTypes.Int64}
		if chunks.Decodable(about, pages.Plan{{Header: pages.Header{Values: 1}}}) {
			codecs = append(codecs, codec)
		}
	}
	return codecs
}

// encodings are those in which arrow-go writes a type.
func encodings(dataType arrow.DataType) []parquet.Encoding {
	list := []parquet.Encoding{parquet.Encodings.Plain, parquet.Encodings.RLEDict}
	switch dataType.ID() {
	case arrow.BOOL:
		return list[:1]
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING:
		return append(list, parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray)
	case arrow.INT8, arrow.UINT16, arrow.UINT32, arrow.INT64, arrow.DATE32, arrow.TIME32, arrow.TIMESTAMP:
		return append(list, parquet.Encodings.DeltaBinaryPacked)
	}
	return list
}

// writtenChunk is pagestest.Chunk, with other properties if arrow-go panics: its encoder of differences does for some sizes of pages.
func writtenChunk(t testing.TB, values arrow.Array, properties []parquet.WriterProperty) (chunk []byte, about pages.Flat) {
	defer func() {
		if recover() != nil {
			chunk, about = pagestest.Chunk(t, values)
		}
	}()
	return pagestest.Chunk(t, values, properties...)
}

// randomColumn is a column with its rows.
type randomColumn struct {
	chunks.Column
	want arrow.Array
	name string
}

// rowsOf returns the rows of a chunk of values that are decoded.
func rowsOf(values arrow.Array, c chunks.Chunk) (parts []arrow.Array) {
	at := c.First
	for _, g := range append(slices.Clone(c.Gaps), chunks.Gap{First: c.First + c.Rows}) {
		parts = append(parts, array.NewSlice(values, at, g.First))
		at = g.First + g.Rows
	}
	return parts
}

// drawRows draws rows of a chunk, which has them all.
func drawRows(r *rapid.T, c *chunks.Chunk) {
	if rapid.Bool().Draw(r, "all rows") {
		return
	}
	c.First, c.Rows = rapid.Int64Range(0, c.About.Values).Draw(r, "first"), 0
	for range rapid.IntRange(1, 4).Draw(r, "spans") {
		end := c.First + c.Rows
		first := rapid.Int64Range(end, c.About.Values).Draw(r, "first of a span")
		c.Extend(first, rapid.Int64Range(0, c.About.Values-first).Draw(r, "rows of a span"))
	}
}

// drawColumn draws a column of several chunks, of which any rows may be left out.
func drawColumn(t testing.TB, r *rapid.T, most int) (c randomColumn) {
	dataType := rapid.SampledFrom(pagestest.Types()).Draw(r, "type")
	generator := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
	c.Type = dataType
	var parts []arrow.Array
	n := rapid.IntRange(1, 3).Draw(r, "chunks")
	for range n {
		generator.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull}).Draw(r, "nulls")
		rows := rapid.IntRange(1, most).Draw(r, "rows")
		values := pagestest.Fitting(columntest.Repeated(t, generator, dataType, rapid.IntRange(1, rows).Draw(r, "distinct"), rows))
		properties, name := drawProperties(r, dataType)
		data, about := writtenChunk(t, values, properties)
		chunk := chunks.Chunk{About: about, Bytes: data, Rows: int64(rows)}
		drawRows(r, &chunk)
		c.Chunks = append(c.Chunks, chunk)
		parts = append(parts, rowsOf(values, chunk)...)
		c.name += " " + name
	}
	var err error
	c.want, err = array.Concatenate(parts, arrowmemory.DefaultAllocator)
	require.NoError(r, err)
	return c
}

// drawNeighbours moves the bytes of chunks to one piece of memory, in any order, with gaps or without.
func drawNeighbours(r *rapid.T, columns []chunks.Column) {
	if rapid.Bool().Draw(r, "apart") {
		return
	}
	var all []*chunks.Chunk
	for i := range columns {
		for k := range columns[i].Chunks {
			all = append(all, &columns[i].Chunks[k])
		}
	}
	var memory []byte
	places := make([]int, len(all))
	order := rapid.Permutation(all).Draw(r, "order")
	for i, chunk := range order {
		gap := rapid.SampledFrom([]int{0, 0, 1, 4096, 4097}).Draw(r, "gap")
		memory = append(memory, bytes.Repeat([]byte{0xaa}, gap)...)
		places[i] = len(memory)
		memory = append(memory, chunk.Bytes...)
	}
	for i, chunk := range order {
		chunk.Bytes = memory[places[i] : places[i]+len(chunk.Bytes)]
	}
}

// Columns of any chunks and parts of them are the rows that were written.
func TestRandomColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			var columns []chunks.Column
			var drawn []randomColumn
			for range rapid.IntRange(1, 4).Draw(r, "columns") {
				c := drawColumn(t, r, rapid.SampledFrom([]int{300, 900, 6000}).Draw(r, "most rows"))
				columns, drawn = append(columns, c.Column), append(drawn, c)
			}
			drawNeighbours(r, columns)
			list, err := chunks.Decode(t.Context(), m, columns, chunks.Options{})
			require.NoError(r, err)
			for i, c := range list {
				got, err := c.Array(t.Context())
				require.NoError(r, err)
				require.NoError(r, c.Release())
				require.True(r, array.Equal(drawn[i].want, got), "column %d:%s\nwant %v\ngot  %v", i, drawn[i].name, drawn[i].want, got)
				if c.NullCount() >= 0 {
					require.Equal(r, got.NullN(), c.NullCount())
				}
			}
		})
	})
}
