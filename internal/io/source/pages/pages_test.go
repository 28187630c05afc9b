package pages_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/gpuframe/gpuframe/compression/brotli"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// written returns a file with one column chunk of nullable integers, and its column chunk.
func written(t testing.TB, values []int64, levels []int16, properties ...parquet.WriterProperty) (data, chunk []byte, about pages.Column) {
	t.Helper()
	node := schema.NewInt64Node("n", parquet.Repetitions.Optional, -1)
	root, err := schema.NewGroupNode("root", parquet.Repetitions.Required, schema.FieldList{node}, -1)
	require.NoError(t, err)
	var to bytes.Buffer
	writer := file.NewParquetWriter(&to, root, file.WithWriterProps(parquet.NewWriterProperties(properties...)))
	column, err := writer.AppendRowGroup().NextColumn()
	require.NoError(t, err)
	_, err = column.(*file.Int64ColumnChunkWriter).WriteBatch(values, levels, nil)
	require.NoError(t, err)
	require.NoError(t, column.Close())
	require.NoError(t, writer.Close())
	reader, err := file.NewParquetReader(bytes.NewReader(to.Bytes()))
	require.NoError(t, err)
	m := reader.MetaData().GetRowGroups()[0].GetColumns()[0].MetaData
	start := m.GetDataPageOffset()
	if m.IsSetDictionaryPageOffset() {
		start = min(start, m.GetDictionaryPageOffset())
	}
	about = pages.Column{Codec: parquetformat.Codec(m.GetCodec()), Values: m.GetNumValues(), MaxDefinition: 1}
	return to.Bytes(), to.Bytes()[start : start+m.GetTotalCompressedSize()], about
}

// few are values with repetitions and nulls.
func few(n, distinct int) (values []int64, levels []int16) {
	random := rand.New(rand.NewPCG(1, 2))
	for range n {
		if random.IntN(5) == 0 {
			levels = append(levels, 0)
			continue
		}
		levels = append(levels, 1)
		values = append(values, random.Int64N(int64(distinct)))
	}
	return values, levels
}

// check decodes a column chunk of integers.
func check(t testing.TB, chunk []byte, about pages.Column) error {
	_, err := decoded(t, chunk, pages.Flat{Column: about, Physical: parquetformat.Int64, Type: arrow.PrimitiveTypes.Int64}, about.Values)
	return err
}

// A decoder reads what arrow-go writes: each version of pages, encoding and compression.
func TestDecoderOfFiles(t *testing.T) {
	values, levels := few(5000, 900)
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, encoding := range []parquet.Encoding{parquet.Encodings.RLEDict, parquet.Encodings.Plain, parquet.Encodings.DeltaBinaryPacked} {
				properties := []parquet.WriterProperty{parquet.WithCompression(codec), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(3000), parquet.WithDictionaryDefault(false)}
				if encoding == parquet.Encodings.RLEDict {
					properties = append(properties, parquet.WithDictionaryDefault(true))
				} else {
					properties = append(properties, parquet.WithEncoding(encoding))
				}
				data, chunk, about := written(t, values, levels, properties...)
				require.NoError(t, check(t, chunk, about), "%v %v %v", codec, version, encoding)
				tail, err := parquetformat.ReadTail(bytes.NewReader(data), int64(len(data)))
				require.NoError(t, err)
				_, err = parquetformat.Read(tail)
				require.NoError(t, err)
			}
		}
	}
}

// Each claim that would take memory is found.
func TestDecoderFindsClaims(t *testing.T) {
	values, levels := few(200, 20)
	_, chunk, about := written(t, values, levels)
	dictionary, err := pages.Read(chunk)
	require.NoError(t, err)
	assert.Equal(t, pages.DictionaryPage, dictionary.Kind)
	at := dictionary.Length + dictionary.Compressed
	data, err := pages.Read(chunk[at:])
	require.NoError(t, err)
	assert.EqualValues(t, 200, data.Values)
	begin := at + data.Length
	width := begin + 4 + int(chunk[begin]) // after the levels
	assert.EqualValues(t, 5, chunk[width], "20 values need 5 bits")
	damaged := func(at int, value byte) []byte {
		chunk := bytes.Clone(chunk)
		chunk[at] = value
		return chunk
	}
	require.ErrorContains(t, check(t, damaged(width, 31), about), "of a dictionary of 20 values")
	require.ErrorContains(t, check(t, damaged(width, 33), about), "33 bits")
	require.ErrorContains(t, check(t, damaged(begin+1, 0xff), about), "levels of")
	require.ErrorIs(t, check(t, chunk[:len(chunk)-1], about), pages.ErrDamaged)
	snappy := about
	snappy.Codec = parquetformat.Snappy
	require.ErrorIs(t, check(t, chunk, snappy), pages.ErrDamaged)

	_, chunk, about = written(t, values, levels, parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaBinaryPacked))
	data, err = pages.Read(chunk)
	require.NoError(t, err)
	begin = data.Length
	block := begin + 4 + int(chunk[begin])
	assert.Equal(t, []byte{128, 1}, chunk[block:block+2], "blocks of 128")
	copy(chunk[block:], []byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	require.ErrorContains(t, check(t, chunk, about), "delta encoding")
}

// FuzzCheck: any bytes give an error or none.
func FuzzCheck(f *testing.F) {
	values, levels := few(300, 30)
	for i, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd} {
		_, chunk, _ := written(f, values, levels, parquet.WithCompression(codec))
		f.Add(chunk, byte(i))
	}
	bloom, err := os.ReadFile("../testdata/bloom-duckdb-1.4.4.parquet")
	require.NoError(f, err)
	f.Add(bloom[3864-16:], byte(16))
	f.Fuzz(func(t *testing.T, data []byte, codec byte) {
		codecs := []parquetformat.Codec{parquetformat.Uncompressed, parquetformat.Snappy, parquetformat.Zstd, parquetformat.Gzip}
		about := pages.Column{Codec: codecs[int(codec)%len(codecs)], Values: 300, MaxDefinition: 1, MaxRepetition: int16(codec) & 1}
		_ = pages.Dictionary(data, about, int(codec)%9, func([]byte) error { return nil })
		filter, err := pages.NewBloom(bytes.NewReader(data), int64(codec), int64(len(data)))
		if err != nil {
			return
		}
		if _, err := filter.Has(uint64(codec) * 0x9e3779b97f4a7c15); err != nil {
			t.Fatal(err) // the filter lies in the data
		}
	})
}
