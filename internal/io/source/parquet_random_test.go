package source_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/gpuframe/gpuframe/compression/brotli"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// repeated returns rows of an array with few values: in runs, at random, or each value once.
func repeated(t *rapid.T, generator *arraytest.Generator, of arrow.DataType, rows int) arrow.Array {
	distinct := rapid.SampledFrom([]int{1, 2, 20, 300, rows}).Draw(t, "distinct values")
	longest := rapid.SampledFrom([]int{1, 3, 100}).Draw(t, "longest run")
	values := generator.Array(of, max(1, distinct))
	defer values.Release()
	parts := []arrow.Array{array.NewSlice(values, 0, 0)}
	for left := rows; left > 0; {
		at := int64(generator.IntN(values.Len()))
		one := array.NewSlice(values, at, at+1)
		for range min(left, 1+generator.IntN(longest)) {
			parts = append(parts, one)
			left--
		}
	}
	made, err := array.Concatenate(parts, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	return made
}

// randomParquet returns a file of random columns, encodings, pages and row groups.
func randomParquet(t *rapid.T) []byte {
	types := append(variedTypes(), arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		&arrow.Decimal128Type{Precision: 15, Scale: 2}, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Timestamp_ns, arrow.FixedWidthTypes.Timestamp_ms, arrow.BinaryTypes.Binary,
		&arrow.Decimal256Type{Precision: 76, Scale: 2}, arrow.ListOf(&arrow.Decimal256Type{Precision: 76, Scale: 1}), arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int32), arrow.FixedWidthTypes.Float16,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, arrow.ListOf(arrow.FixedWidthTypes.Timestamp_us))
	generator := arraytest.NewGenerator(rapid.Uint64().Draw(t, "seed"))
	rows := rapid.SampledFrom([]int{1, 9, 500, 3000}).Draw(t, "rows")
	var fields []arrow.Field
	var columns []arrow.Array
	for i := range rapid.IntRange(1, 5).Draw(t, "columns") {
		of := rapid.SampledFrom(types).Draw(t, "type")
		generator.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull}).Draw(t, "nulls")
		if arrow.IsNested(of.ID()) || of.ID() == arrow.DICTIONARY {
			generator.Nulls = arraytest.NoneNull // arrow-go writes no null list that has elements, and no dictionary with nulls
		}
		values := repeated(t, generator, of, rows)
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: of, Nullable: values.NullN() > 0 || arrow.IsNested(of.ID()) || rapid.Bool().Draw(t, "nullable")})
		columns = append(columns, values)
	}
	record := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
	defer record.Release()
	properties := []parquet.WriterProperty{
		parquet.WithCompression(rapid.SampledFrom([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip, compress.Codecs.Brotli}).Draw(t, "codec")),
		parquet.WithDataPageVersion(rapid.SampledFrom([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}).Draw(t, "version of pages")),
		parquet.WithVersion(rapid.SampledFrom([]parquet.Version{parquet.V1_0, parquet.V2_LATEST}).Draw(t, "version")),
		parquet.WithDataPageSize(rapid.SampledFrom([]int64{50, 1000, 1 << 20}).Draw(t, "length of a page")),
		parquet.WithBatchSize(rapid.SampledFrom([]int64{10, 200, 1024}).Draw(t, "batch")),
		parquet.WithDictionaryDefault(rapid.Bool().Draw(t, "dictionary")),
		parquet.WithDictionaryPageSizeLimit(rapid.SampledFrom([]int64{100, 1 << 20}).Draw(t, "length of a dictionary")),
		parquet.WithStoreDecimalAsInteger(rapid.Bool().Draw(t, "decimals as integers")),
		parquet.WithMaxRowGroupLength(rapid.SampledFrom([]int64{7, 700, 1 << 20}).Draw(t, "rows of a row group")),
	}
	for i, f := range fields {
		if f.Type.ID() == arrow.BOOL && rapid.Bool().Draw(t, "runs of booleans") {
			properties = append(properties, parquet.WithEncodingFor(fields[i].Name, parquet.Encodings.RLE))
		}
	}
	var options []pqarrow.WriterOption
	if rapid.Bool().Draw(t, "stored schema") {
		options = append(options, pqarrow.WithStoreSchema())
	}
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(record.Schema(), &to, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties(options...))
	if err != nil {
		t.Skip(err) // not every combination can be written
	}
	if err := writeByArrow(writer, record); err != nil {
		t.Skip(err)
	}
	require.NoError(t, writer.Close())
	return to.Bytes()
}

// writeByArrow writes a record. arrow-go panics for some dictionaries, such as those that begin within their bytes.
func writeByArrow(writer *pqarrow.FileWriter, record arrow.Record) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("arrow-go: %v", reason)
		}
	}()
	return writer.WriteBuffered(record)
}

// readByArrow reads the columns of a file with arrow-go, each as one array.
func readByArrow(t require.TestingT, data []byte) (columns []arrow.Array) {
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	arrowReader, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	table, err := arrowReader.ReadTable(context.Background())
	require.NoError(t, err)
	for i := range int(table.NumCols()) {
		columns = append(columns, whole(t, table.Column(i).Data().Chunks()))
	}
	return columns
}

// whole concatenates arrays.
func whole(t require.TestingT, parts []arrow.Array) arrow.Array {
	all, err := array.Concatenate(parts, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	return all
}

// requireReadLikeArrow compares the columns of a file with those that arrow-go reads.
func requireReadLikeArrow(t testing.TB, r require.TestingT, m *memory.Manager, data []byte, request source.Request) {
	s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
	require.NoError(r, err)
	records := read(t, s, m, request)
	for c, want := range readByArrow(r, data) {
		var parts []arrow.Array
		for _, record := range records {
			parts = append(parts, record.Column(c))
		}
		got := whole(r, parts)
		if _, encoded := want.DataType().(*arrow.DictionaryType); encoded { // of other values in another order
			requireSameValues(r, want, got)
			continue
		}
		require.True(r, array.ApproxEqual(want, got, array.WithNaNsEqual(true), array.WithAbsTolerance(0)), "column %d of %v", c, want.DataType())
	}
}

// requireSameValues compares the texts of values.
func requireSameValues(t require.TestingT, want, got arrow.Array) {
	require.Equal(t, want.Len(), got.Len())
	require.Equal(t, want.DataType(), got.DataType())
	for row := range want.Len() {
		require.Equal(t, want.ValueStr(row), got.ValueStr(row))
	}
}

// The arrays of random files are those that arrow-go reads.
func TestRandomParquetIsReadLikeArrow(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(r *rapid.T) {
		requireReadLikeArrow(t, r, m, randomParquet(r), source.Request{BatchRows: rapid.SampledFrom([]int64{0, 1, 33, 1000}).Draw(r, "rows of a table")})
	})
}

// Files of other writers are read like arrow-go reads them.
func TestFilesOfOthersAreReadLikeArrow(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	names, err := filepath.Glob("testdata/*.parquet")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		requireReadLikeArrow(t, t, m, data, source.Request{})
	}
}

// Columns that are neither lists nor structs have a decoder of their own.
func TestFlatColumns(t *testing.T) {
	types := variedTypes()
	data := variedParquet(t, types)
	s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	flat, err := source.Flat(t.Context(), s)
	require.NoError(t, err)
	for i, of := range types {
		assert.Equal(t, !arrow.IsNested(of.ID()), flat[i], "%v", of)
	}
}
