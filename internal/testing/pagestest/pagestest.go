// Package pagestest writes column chunks for tests of their decoders.
package pagestest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	_ "github.com/gpuframe/gpuframe/internal/io/lz4blocks" // files are read by arrow-go too
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// Chunk returns an array as a column chunk of a file that arrow-go writes, with its description.
func Chunk(t testing.TB, values arrow.Array, properties ...parquet.WriterProperty) (chunk []byte, about pages.Flat) {
	t.Helper()
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: values.DataType(), Nullable: values.NullN() > 0}}, nil), []arrow.Array{values}, int64(values.Len()))
	defer record.Release()
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(record.Schema(), &to, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties())
	require.NoError(t, err)
	require.NoError(t, writer.Write(record))
	require.NoError(t, writer.Close())
	return First(t, to.Bytes(), values.DataType())
}

// First returns the first column chunk of a file, with its description as a column of a type.
func First(t testing.TB, data []byte, dataType arrow.DataType) (chunk []byte, about pages.Flat) {
	t.Helper()
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	m, column := reader.MetaData().GetRowGroups()[0].GetColumns()[0].MetaData, reader.MetaData().Schema.Column(0)
	start := m.GetDataPageOffset()
	if m.IsSetDictionaryPageOffset() {
		start = min(start, m.GetDictionaryPageOffset())
	}
	return data[start : start+m.GetTotalCompressedSize()], pages.Flat{
		Column:   pages.Column{Codec: parquetformat.Codec(m.GetCodec()), Values: m.GetNumValues(), MaxDefinition: column.MaxDefinitionLevel()},
		Physical: parquetformat.Type(column.PhysicalType()), Width: column.TypeLength(), Type: dataType,
	}
}

// Footer returns what the footer of a file says.
func Footer(t require.TestingT, data []byte) *parquetformat.File {
	tail, err := parquetformat.ReadTail(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	f, err := parquetformat.Read(tail)
	require.NoError(t, err)
	return f
}

// Types returns types that a [pages.Decoder] knows.
func Types() []arrow.DataType {
	return []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Timestamp_us,
		&arrow.Decimal128Type{Precision: 8, Scale: 2}, &arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 3},
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString, arrow.FixedWidthTypes.Float16,
		&arrow.FixedSizeBinaryType{ByteWidth: 4}, &arrow.FixedSizeBinaryType{ByteWidth: 8}, &arrow.FixedSizeBinaryType{ByteWidth: 16},
	}
}

// Fitting returns decimals within their precision, and other arrays as they are: arrow-go writes
// the last bytes of a decimal that its type does not have.
func Fitting(values arrow.Array) arrow.Array {
	decimals, ok := values.(*array.Decimal128)
	if !ok || decimals.DataType().(*arrow.Decimal128Type).Precision > 18 {
		return values
	}
	b := array.NewDecimal128Builder(arrowmemory.DefaultAllocator, decimals.DataType().(*arrow.Decimal128Type))
	for i := range decimals.Len() {
		if decimals.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(decimal128.FromI64(decimals.Value(i).HighBits() % 100_000_000))
		}
	}
	return b.NewArray()
}

// Page is a page with a header of thrift's compact protocol: a DataPage, or a dictionary.
type Page struct {
	Dictionary   bool
	Body         []byte
	Values       int
	Uncompressed int64
	Encoding     int
	// Levels is the encoding of the levels. Zero is that of runs.
	Levels int
	// Checksum gives the page a checksum, which is not right if Wrong is set.
	Checksum, Wrong bool
}

// Bytes returns the page with its header.
func (p Page) Bytes() []byte {
	signed := func(v int64) []byte { return binary.AppendVarint(nil, v) }
	kind, encodings, about := pages.DataPage, []int{p.Encoding, cmp.Or(p.Levels, pages.RLE), cmp.Or(p.Levels, pages.RLE)}, byte(0x2c) // field 5, behind field 3
	if p.Dictionary {
		kind, encodings, about = pages.DictionaryPage, encodings[:1], 0x4c
	}
	head := append([]byte{0x15}, signed(int64(kind))...)
	head = append(append(head, 0x15), signed(p.Uncompressed)...)
	head = append(append(head, 0x15), signed(int64(len(p.Body)))...)
	if p.Checksum {
		sum := crc32.ChecksumIEEE(p.Body)
		if p.Wrong {
			sum++
		}
		head = append(append(head, 0x15), signed(int64(int32(sum)))...)
		about -= 0x10
	}
	head = append(append(head, about, 0x15), signed(int64(p.Values))...)
	for _, encoding := range encodings {
		head = append(append(head, 0x15), signed(int64(encoding))...)
	}
	return append(append(head, 0, 0), p.Body...)
}
