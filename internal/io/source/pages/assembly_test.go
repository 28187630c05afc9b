package pages_test

import (
	"bytes"
	"context"
	"errors"
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

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/io/source/parquetschema"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// nestedFile is a column of lists or structs in a file of one row group.
type nestedFile struct {
	tree   *pages.Nested
	leaves []pages.LeafChunk
	rows   int64
	// written is the array that was written, read what arrow-go reads.
	written, read arrow.Array
}

// nestedIn writes an array with arrow-go. An error means that arrow-go does not write or read it.
func nestedIn(t require.TestingT, values arrow.Array, properties ...parquet.WriterProperty) (f nestedFile, err error) {
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: values.DataType(), Nullable: true}}, nil)
	record := array.NewRecord(s, []arrow.Array{values}, int64(values.Len()))
	defer record.Release()
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(s, &to, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return f, err
	}
	require.NoError(t, writer.Write(record))
	require.NoError(t, writer.Close())
	data := to.Bytes()
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	arrowReader, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	table, err := arrowReader.ReadTable(context.Background())
	if err != nil {
		return f, err
	}
	f.rows, f.written = int64(values.Len()), values
	f.read, err = array.Concatenate(table.Column(0).Data().Chunks(), arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	fields, err := parquetschema.Fields(pagestest.Footer(t, data).Schema, arrowReader.Manifest.OriginSchema)
	require.NoError(t, err)
	f.tree, err = pages.NewNested(fields[0], fields[0].Type)
	require.NoError(t, err)
	f.tree.Leaves(func(leaf *pages.Nested) {
		m, column := reader.MetaData().GetRowGroups()[0].GetColumns()[leaf.Column].MetaData, reader.MetaData().Schema.Column(leaf.Column)
		start := m.GetDataPageOffset()
		if m.IsSetDictionaryPageOffset() {
			start = min(start, m.GetDictionaryPageOffset())
		}
		f.leaves = append(f.leaves, pages.LeafChunk{Data: data[start : start+m.GetTotalCompressedSize()], About: pages.Flat{
			Column:   pages.Column{Codec: parquetformat.Codec(m.GetCodec()), Values: m.GetNumValues(), MaxDefinition: column.MaxDefinitionLevel(), MaxRepetition: column.MaxRepetitionLevel()},
			Physical: parquetformat.Type(column.PhysicalType()), Width: column.TypeLength(), Type: leaf.Type,
		}})
	})
	return f, nil
}

// decode decodes all rows, some at a time.
func (f nestedFile) decode(t testing.TB, rows func() int64) (arrow.Array, error) {
	mem := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	d, err := pages.NewNestedDecoder(f.tree, f.leaves, f.rows, mem)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var parts []arrow.Array
	defer func() {
		for _, part := range parts {
			part.Release()
		}
	}()
	for done := int64(0); done < f.rows; {
		next, err := d.Next(min(rows(), f.rows-done))
		if err != nil {
			return nil, err
		}
		parts, done = append(parts, next), done+int64(next.Len())
	}
	if len(parts) == 0 {
		return array.MakeArrayOfNull(arrowmemory.DefaultAllocator, f.tree.Type, 0), nil
	}
	return array.Concatenate(parts, arrowmemory.DefaultAllocator)
}

// drawNestedType draws a type of lists, maps and structs, with required members if there are no nulls.
func drawNestedType(t *rapid.T, depth int, required bool) arrow.DataType {
	part := func() arrow.DataType {
		if depth > 0 && rapid.Bool().Draw(t, "nested") {
			return drawNestedType(t, depth-1, required)
		}
		return rapid.SampledFrom([]arrow.DataType{
			arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint16, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Float32, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
			&arrow.FixedSizeBinaryType{ByteWidth: 5},
		}).Draw(t, "type")
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return arrow.MapOf(arrow.BinaryTypes.String, part())
	case 1, 2:
		var fields []arrow.Field
		for i := range rapid.IntRange(1, 3).Draw(t, "members") {
			fields = append(fields, arrow.Field{Name: fmt.Sprint("m", i), Type: part(), Nullable: !required || rapid.Bool().Draw(t, "optional")})
		}
		return arrow.StructOf(fields...)
	}
	return arrow.ListOf(part())
}

// withoutHidden makes lists again that are null and have elements: arrow-go writes these.
func withoutHidden(t require.TestingT, values arrow.Array) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, values.DataType())
	defer b.Release()
	text, err := values.MarshalJSON()
	require.NoError(t, err)
	require.NoError(t, b.UnmarshalJSON(text))
	return b.NewArray()
}

func textOf(t require.TestingT, values arrow.Array) string {
	text, err := values.MarshalJSON()
	require.NoError(t, err)
	return string(text)
}

func drawNestedFile(r *rapid.T) (nestedFile, error) {
	generator := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
	generator.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.SomeNull, arraytest.AllNull}).Draw(r, "nulls")
	values := withoutHidden(r, generator.Array(drawNestedType(r, 3, generator.Nulls == arraytest.NoneNull), rapid.SampledFrom([]int{1, 30, 400}).Draw(r, "rows")))
	return nestedIn(r, values,
		parquet.WithCompression(rapid.SampledFrom([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd}).Draw(r, "codec")),
		parquet.WithDataPageVersion(rapid.SampledFrom([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}).Draw(r, "version of pages")),
		parquet.WithDataPageSize(rapid.SampledFrom([]int64{50, 1000, 1 << 20}).Draw(r, "length of a page")),
		parquet.WithBatchSize(rapid.SampledFrom([]int64{100, 1024}).Draw(r, "batch")), // arrow-go never ends if a row has more values
		parquet.WithDictionaryDefault(rapid.Bool().Draw(r, "dictionary")), parquet.WithStats(false),
	)
}

// Lists, maps and structs of random files are those that were written, in any steps, and those that arrow-go reads.
func TestRandomNested(t *testing.T) {
	compared := 0
	property.Check(t, func(r *rapid.T) {
		f, err := drawNestedFile(r)
		if err != nil {
			r.Skip(err)
		}
		got, err := f.decode(t, func() int64 { return rapid.SampledFrom([]int64{1, 7, 1000}).Draw(r, "rows at a time") })
		require.NoError(r, err)
		require.Equal(r, textOf(r, f.written), textOf(r, got), "%v", f.tree.Type)
		if textOf(r, f.written) == textOf(r, f.read) { // arrow-go loses some lists of structs
			require.True(r, array.Equal(f.read, got), "%v\nwant %v\ngot  %v", f.tree.Type, f.read, got)
			compared++
		}
	})
	require.Positive(t, compared)
}

// A column chunk with other bytes gives an error or as many rows, and no memory stays in use.
func TestDamagedNested(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		f, err := drawNestedFile(r)
		if err != nil {
			r.Skip(err)
		}
		for range rapid.IntRange(1, 3).Draw(r, "changes") {
			leaf := &f.leaves[rapid.IntRange(0, len(f.leaves)-1).Draw(r, "leaf")]
			leaf.Data = bytes.Clone(leaf.Data)
			leaf.Data[rapid.IntRange(0, len(leaf.Data)-1).Draw(r, "place")] = rapid.Byte().Draw(r, "byte")
		}
		got, err := f.decode(t, func() int64 { return 50 })
		if err != nil {
			require.True(r, errors.Is(err, pages.ErrDamaged) || errors.Is(err, pages.ErrOther) || errors.Is(err, pages.ErrLong), "%v", err)
			return
		}
		require.EqualValues(r, f.rows, got.Len())
	})
}

// Rows that are longer than an array may be come in several arrays. One row that is too long is an error.
func TestLongRows(t *testing.T) {
	generator := arraytest.NewGenerator(7)
	generator.Nulls = arraytest.SomeNull
	f, err := nestedIn(t, withoutHidden(t, generator.Array(arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int64)), 300)), parquet.WithDataPageSize(500), parquet.WithBatchSize(100))
	require.NoError(t, err)
	for _, elements := range []int{3000, 100, 40} {
		reset := pages.SetMostElements(elements)
		got, err := f.decode(t, func() int64 { return 170 })
		reset()
		require.NoError(t, err, "%d elements", elements)
		require.Equal(t, textOf(t, f.written), textOf(t, got), "%d elements", elements)
	}
	defer pages.SetMostElements(2)()
	_, err = f.decode(t, func() int64 { return 170 })
	require.ErrorIs(t, err, pages.ErrLong)
}
