package chunks_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// nestedOf writes an array of lists or structs with arrow-go, and returns it as a column, and as arrow-go reads it.
func nestedOf(t require.TestingT, values arrow.Array, groupRows int64, properties ...parquet.WriterProperty) (c chunks.Column, want arrow.Array) {
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: values.DataType(), Nullable: true}}, nil), []arrow.Array{values}, int64(values.Len()))
	defer record.Release()
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(record.Schema(), &to, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	table := array.NewTableFromRecords(record.Schema(), []arrow.Record{record})
	defer table.Release()
	require.NoError(t, writer.WriteTable(table, groupRows))
	require.NoError(t, writer.Close())
	data := to.Bytes()
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	arrowReader, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	back, err := arrowReader.ReadTable(context.Background())
	require.NoError(t, err)
	c.Type = back.Schema().Field(0).Type
	c.Nested, err = pages.NewNested(&arrowReader.Manifest.Fields[0], c.Type)
	require.NoError(t, err)
	for _, group := range reader.MetaData().GetRowGroups() {
		chunk := chunks.Chunk{Rows: group.GetNumRows(), All: group.GetNumRows()}
		c.Nested.Leaves(func(leaf *pages.Nested) {
			m, column := group.GetColumns()[leaf.Column].MetaData, reader.MetaData().Schema.Column(leaf.Column)
			start := m.GetDataPageOffset()
			if m.IsSetDictionaryPageOffset() {
				start = min(start, m.GetDictionaryPageOffset())
			}
			chunk.Leaves = append(chunk.Leaves, chunks.Chunk{
				About: pages.Flat{
					Column:   pages.Column{Codec: compress.Compression(m.GetCodec()), Values: m.GetNumValues(), MaxDefinition: column.MaxDefinitionLevel(), MaxRepetition: column.MaxRepetitionLevel()},
					Physical: column.PhysicalType(), Width: column.TypeLength(), Type: leaf.Type,
				},
				Bytes: data[start : start+m.GetTotalCompressedSize()],
			})
		})
		c.Chunks = append(c.Chunks, chunk)
	}
	parts := back.Column(0).Data().Chunks()
	want, err = array.Concatenate(parts, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	return c, want
}

// nestedTypes are lists and structs of each kind within each other.
func nestedTypes() []arrow.DataType {
	integers, text := arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	field := func(name string, t arrow.DataType, nullable bool) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: nullable}
	}
	pair := arrow.StructOf(field("n", integers, true), field("s", text, true))
	return []arrow.DataType{
		arrow.ListOf(integers), arrow.ListOf(text), arrow.ListOf(arrow.FixedWidthTypes.Boolean), arrow.ListOf(arrow.PrimitiveTypes.Float32), arrow.ListOfNonNullable(integers),
		pair, arrow.StructOf(field("n", integers, false)), arrow.StructOf(field("p", pair, true), field("b", arrow.FixedWidthTypes.Boolean, true)),
		arrow.ListOf(arrow.ListOf(integers)), arrow.ListOf(arrow.ListOf(arrow.ListOf(text))), arrow.ListOf(pair),
		arrow.StructOf(field("l", arrow.ListOf(integers), true), field("m", arrow.ListOf(pair), true), field("n", integers, true)),
		arrow.MapOf(text, integers), arrow.ListOf(arrow.MapOf(text, arrow.ListOf(integers))),
		arrow.ListOf(arrow.StructOf(field("l", arrow.ListOf(text), true), field("d", arrow.PrimitiveTypes.Uint16, true))),
	}
}

// drawNested draws a column of lists or structs, and its rows.
func drawNested(r *rapid.T, rows int) (c chunks.Column, want arrow.Array) {
	t := rapid.SampledFrom(nestedTypes()).Draw(r, "type")
	generator := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
	generator.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull}).Draw(r, "nulls")
	values := withoutHidden(generator.Array(t, rows))
	c, want = nestedOf(r, values, rapid.SampledFrom([]int64{30, 1 << 20}).Draw(r, "rows of a row group"),
		parquet.WithDataPageVersion(rapid.SampledFrom([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}).Draw(r, "version of pages")),
		parquet.WithCompression(rapid.SampledFrom([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy}).Draw(r, "codec")),
		parquet.WithDataPageSize(rapid.SampledFrom([]int64{50, 1000, 1 << 20}).Draw(r, "length of a page")),
		parquet.WithBatchSize(rapid.SampledFrom([]int64{7, 200, 1024}).Draw(r, "batch")),
		parquet.WithDictionaryDefault(rapid.Bool().Draw(r, "dictionary")))
	var parts []arrow.Array
	row := int64(0)
	for i := range c.Chunks {
		chunk := &c.Chunks[i]
		chunk.About.Values = chunk.All // for drawRows
		drawRows(r, chunk)
		chunk.About.Values = 0
		group := array.NewSlice(want, row, row+chunk.All)
		parts = append(parts, rowsOf(group, *chunk)...)
		row += chunk.All
	}
	want, err := array.Concatenate(parts, arrowmemory.DefaultAllocator)
	require.NoError(r, err)
	return c, want
}

// withoutHidden makes lists again that are null and have elements: arrow-go writes these.
func withoutHidden(values arrow.Array) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, values.DataType())
	defer b.Release()
	text, err := values.MarshalJSON()
	if err == nil {
		err = b.UnmarshalJSON(text)
	}
	if err != nil {
		panic(fmt.Sprintf("%v: %v", values.DataType(), err))
	}
	return b.NewArray()
}

// Lists and structs are those that arrow-go reads.
func TestRandomNested(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			var columns []chunks.Column
			var want []arrow.Array
			for range rapid.IntRange(1, 3).Draw(r, "columns") {
				c, values := drawNested(r, rapid.SampledFrom([]int{1, 40, 400, 3000}).Draw(r, "rows"))
				columns, want = append(columns, c), append(want, values)
			}
			list, err := chunks.Decode(t.Context(), m, columns, chunks.Options{})
			require.NoError(r, err)
			for i, c := range list {
				got, err := c.Array(t.Context())
				require.NoError(r, err)
				require.NoError(r, c.Release())
				require.True(r, array.ApproxEqual(want[i], got, array.WithNaNsEqual(true), array.WithAbsTolerance(0)), "column %d of %v\nwant %v\ngot  %v", i, columns[i].Type, want[i], got)
			}
		})
	})
}
