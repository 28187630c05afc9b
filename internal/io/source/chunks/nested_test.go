package chunks_test

import (
	"bytes"
	"context"
	"encoding/binary"
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

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/io/source/parquetschema"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
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
	fields, err := parquetschema.Fields(pagestest.Footer(t, data).Schema, arrowReader.Manifest.OriginSchema)
	require.NoError(t, err)
	c.Nested, err = pages.NewNested(fields[0], c.Type)
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
					Column:   pages.Column{Codec: parquetformat.Codec(m.GetCodec()), Values: m.GetNumValues(), MaxDefinition: column.MaxDefinitionLevel(), MaxRepetition: column.MaxRepetitionLevel()},
					Physical: parquetformat.Type(column.PhysicalType()), Width: column.TypeLength(), Type: leaf.Type,
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
		pair, arrow.StructOf(field("n", integers, false)), arrow.StructOf(field("r", arrow.StructOf(field("n", integers, false), field("l", arrow.ListOf(integers), true)), false)), arrow.StructOf(field("p", pair, true), field("b", arrow.FixedWidthTypes.Boolean, true)),
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
	version, batch := parquet.DataPageV1, rapid.SampledFrom([]int64{7, 200, 1024}).Draw(r, "batch")
	if rapid.Bool().Draw(r, "second version") {
		version, batch = parquet.DataPageV2, 1<<14 // arrow-go never ends with rows that have more entries
	}
	var more []parquet.WriterProperty
	if list, ok := t.(*arrow.ListType); ok && list.Elem().ID() == arrow.STRING && rapid.Bool().Draw(r, "lengths apart") {
		more = append(more, parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaLengthByteArray))
	}
	c, want = nestedOf(r, values, rapid.SampledFrom([]int64{30, 1 << 20}).Draw(r, "rows of a row group"), append([]parquet.WriterProperty{
		parquet.WithDataPageVersion(version), parquet.WithBatchSize(batch), parquet.WithDataPageSize(rapid.SampledFrom([]int64{50, 1000, 1 << 20}).Draw(r, "length of a page")),
		parquet.WithCompression(rapid.SampledFrom([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy}).Draw(r, "codec")),
		parquet.WithDictionaryDefault(rapid.Bool().Draw(r, "dictionary")),
	}, more...)...)
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

// Leaves with other bytes give an error about the column, or as many rows as there are. Other columns stay as they are.
func TestDamagedNested(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := guarded(t, dev)
		property.Check(t, func(r *rapid.T) {
			other := drawColumn(t, r, 100)
			c, _ := drawNested(r, 200)
			for range rapid.IntRange(1, 3).Draw(r, "changes") {
				chunk := &c.Chunks[rapid.IntRange(0, len(c.Chunks)-1).Draw(r, "chunk")]
				leaf := &chunk.Leaves[rapid.IntRange(0, len(chunk.Leaves)-1).Draw(r, "leaf")]
				leaf.Bytes = changed(r, leaf.Bytes)
			}
			decodeDamaged(t.Context(), r, m, c, other)
		})
	})
}

// runs returns levels as runs of one.
func runs(levels ...byte) []byte {
	var stream []byte
	for _, level := range levels {
		stream = append(stream, 2, level)
	}
	return withLength(stream)
}

// entriesOf is a leaf of int64 in one page, with the numbers from 0 on as values.
func entriesOf(leaf *pages.Nested, repetitions, definitions []byte) chunks.Chunk {
	var body []byte
	if leaf.Depth > 0 {
		body = runs(repetitions...)
	}
	body = append(body, runs(definitions...)...)
	value := uint64(0)
	for _, level := range definitions {
		if int(level) == leaf.Definition {
			body = binary.LittleEndian.AppendUint64(body, value)
			value++
		}
	}
	page := pagestest.Page{Body: body, Values: len(definitions), Uncompressed: int64(len(body)), Encoding: pages.Plain}
	return chunks.Chunk{Bytes: page.Bytes(), About: pages.Flat{
		Column:   pages.Column{Values: int64(len(definitions)), MaxDefinition: int16(leaf.Definition), MaxRepetition: int16(leaf.Depth)},
		Physical: parquetformat.Int64, Type: arrow.PrimitiveTypes.Int64,
	}}
}

// Levels that no list has are an error that names the leaf and the page.
func TestDamagedLevels(t *testing.T) {
	integers := arrow.PrimitiveTypes.Int64
	first := &pages.Nested{Type: integers, Nullable: true, Definition: 4, Depth: 1, Leaf: 0}
	second := &pages.Nested{Type: integers, Nullable: true, Definition: 4, Depth: 1, Leaf: 1}
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: integers, Nullable: true}, arrow.Field{Name: "b", Type: integers, Nullable: true})
	tree := &pages.Nested{Type: arrow.ListOf(pair), Nullable: true, Definition: 1, Element: 2, Leaf: -1, Children: []*pages.Nested{
		{Type: pair, Nullable: true, Definition: 3, Depth: 1, Leaf: -1, Children: []*pages.Nested{first, second}},
	}}
	repetitions, definitions := []byte{0, 1, 0, 0, 0, 1}, []byte{4, 3, 0, 1, 2, 4}
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := guarded(t, dev)
		decode := func(leaves ...chunks.Chunk) ([]*column.Column, error) {
			c := chunks.Column{Type: tree.Type, Nested: tree, Chunks: []chunks.Chunk{{Rows: 4, All: 4, Leaves: leaves}}}
			return chunks.Decode(t.Context(), m, []chunks.Column{c}, chunks.Options{})
		}
		right := entriesOf(second, repetitions, definitions)
		list, err := decode(entriesOf(first, repetitions, definitions), right)
		require.NoError(t, err)
		got, err := list[0].Array(t.Context())
		require.NoError(t, err)
		require.NoError(t, list[0].Release())
		text, err := got.MarshalJSON()
		require.NoError(t, err)
		require.JSONEq(t, `[[{"a":0,"b":0},{"a":null,"b":null}],null,[],[null,{"a":1,"b":1}]]`, string(text))
		for name, leaf := range property.InOrder(map[string]chunks.Chunk{
			"a definition level above": entriesOf(first, repetitions, []byte{5, 3, 0, 1, 2, 4}),
			"a repetition level above": entriesOf(first, []byte{0, 3, 0, 0, 0, 1}, definitions),
			"no first row":             entriesOf(first, []byte{1, 1, 0, 0, 0, 1}, definitions),
			"an empty list goes on":    entriesOf(first, []byte{0, 1, 0, 0, 1, 1}, definitions),
			"a null list goes on":      entriesOf(first, []byte{0, 1, 1, 0, 0, 1}, definitions),
			"more rows":                entriesOf(first, []byte{0, 0, 0, 0, 0, 1}, definitions),
			"fewer rows":               entriesOf(first, []byte{0, 1, 0, 0, 0, 1}[:4], definitions[:4]),
			"another element":          entriesOf(first, []byte{0, 1, 0, 0, 0}, definitions[:5]),
			"no levels":                entriesOf(first, nil, definitions),
		}) {
			_, err := decode(leaf, right)
			var damage *chunks.Error
			require.ErrorAs(t, err, &damage, name)
			require.ErrorIs(t, err, pages.ErrDamaged, name)
			require.Zero(t, m.Stats().InUse, name)
		}
		_, err = decode(right)
		require.ErrorIs(t, err, device.ErrInvalidValue)
	})
}

// The host decodes no lists and structs here.
func TestNestedOnTheHost(t *testing.T) {
	c, _ := nestedOf(t, arraytest.NewGenerator(1).Array(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}), 3), 10)
	_, err := chunks.Decode(t.Context(), devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), []chunks.Column{c}, chunks.Options{})
	require.ErrorIs(t, err, pages.ErrOther)
}
