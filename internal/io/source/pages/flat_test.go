package pages_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// flatChunk returns an array as a column chunk of a file, with its description.
func flatChunk(t testing.TB, values arrow.Array, properties ...parquet.WriterProperty) (chunk []byte, about pages.Flat) {
	t.Helper()
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: values.DataType(), Nullable: values.NullN() > 0}}, nil), []arrow.Array{values}, int64(values.Len()))
	defer record.Release()
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(record.Schema(), &to, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties())
	require.NoError(t, err)
	require.NoError(t, writer.Write(record))
	require.NoError(t, writer.Close())
	reader, err := file.NewParquetReader(bytes.NewReader(to.Bytes()))
	require.NoError(t, err)
	m, column := reader.MetaData().GetRowGroups()[0].GetColumns()[0].MetaData, reader.MetaData().Schema.Column(0)
	start := m.GetDataPageOffset()
	if m.IsSetDictionaryPageOffset() {
		start = min(start, m.GetDictionaryPageOffset())
	}
	return to.Bytes()[start : start+m.GetTotalCompressedSize()], pages.Flat{
		Column:   pages.Column{Codec: compress.Compression(m.GetCodec()), Values: m.GetNumValues(), MaxDefinition: column.MaxDefinitionLevel()},
		Physical: column.PhysicalType(), Width: column.TypeLength(), Type: values.DataType(),
	}
}

// decoded decodes all rows of a column chunk, some at a time.
func decoded(t testing.TB, chunk []byte, about pages.Flat, rows int64) (arrow.Array, error) {
	t.Helper()
	memory := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
	defer memory.AssertSize(t, 0)
	d, err := pages.NewDecoder(chunk, about, memory)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var made []arrow.Array
	defer func() {
		for _, each := range made {
			each.Release()
		}
	}()
	for done := int64(0); done < about.Values; {
		next, err := d.Next(min(rows, about.Values-done))
		if err != nil {
			return nil, err
		}
		made = append(made, next)
		done += int64(next.Len())
	}
	if about.Type.ID() == arrow.DICTIONARY {
		// Concatenate would keep the memory of a dictionary: other arrays have as many rows.
		for _, each := range made {
			for i := range each.Len() {
				_ = each.ValueStr(i)
			}
		}
		return array.NewNull(int(about.Values)), nil
	}
	return array.Concatenate(made, arrowmemory.DefaultAllocator)
}

func flatTypes() []arrow.DataType {
	return []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Timestamp_us,
		&arrow.Decimal128Type{Precision: 8, Scale: 2}, &arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 3},
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary,
	}
}

// fitting returns decimals within their precision, and other arrays as they are: arrow-go writes
// the last bytes of a decimal that its type does not have.
func fitting(values arrow.Array) arrow.Array {
	decimals, is := values.(*array.Decimal128)
	if !is || decimals.DataType().(*arrow.Decimal128Type).Precision > 18 {
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

// The decoder returns what was written, of each type it knows, in any steps.
func TestDecoder(t *testing.T) {
	generator := arraytest.NewGenerator(11)
	for _, of := range flatTypes() {
		for _, nulls := range []arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull} {
			generator.Nulls = nulls
			values := fitting(generator.Array(of, 700))
			for _, integer := range []bool{false, true} {
				chunk, about := flatChunk(t, values, parquet.WithStoreDecimalAsInteger(integer), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDataPageSize(400), parquet.WithBatchSize(90))
				require.True(t, about.Decodable(), "%v", of)
				for _, rows := range []int64{1, 7, 64, 700} {
					got, err := decoded(t, chunk, about, rows)
					require.NoError(t, err, "%v", of)
					require.True(t, array.Equal(values, got), "%v, %d rows at a time", of, rows)
				}
			}
		}
	}
}

// Strings of a dictionary are read as its indices on request, if it has all of them.
func TestDecoderOfDictionaries(t *testing.T) {
	generator := arraytest.NewGenerator(5)
	for _, of := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.Binary} {
		for _, nulls := range []arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull} {
			generator.Nulls = nulls
			values := generator.Array(of, 500)
			chunk, about := flatChunk(t, values, parquet.WithDataPageSize(300), parquet.WithBatchSize(50))
			about.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: of}
			require.True(t, about.Decodable())
			memory := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
			d, err := pages.NewDecoder(chunk, about, memory)
			require.NoError(t, err)
			for row := 0; row < values.Len(); {
				got, err := d.Next(120)
				require.NoError(t, err)
				require.True(t, arrow.TypeEqual(about.Type, got.DataType()))
				for i := range got.Len() {
					require.Equal(t, values.IsNull(row), got.IsNull(i))
					if !got.IsNull(i) {
						require.Equal(t, values.ValueStr(row), got.ValueStr(i))
					}
					row++
				}
				got.Release()
			}
			d.Close()
			memory.AssertSize(t, 0)
		}
	}
	generator.Nulls = arraytest.NoneNull
	chunk, about := flatChunk(t, generator.Array(arrow.BinaryTypes.String, 50), parquet.WithDictionaryDefault(false))
	about.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	_, err := pages.NewDecoder(chunk, about, arrowmemory.DefaultAllocator)
	require.ErrorIs(t, err, pages.ErrOther)
}

// Encodings, lists and types that only arrow-go decodes are reported before any memory is used.
func TestDecoderOfOthers(t *testing.T) {
	generator := arraytest.NewGenerator(3)
	values := generator.Array(arrow.PrimitiveTypes.Int64, 100)
	chunk, about := flatChunk(t, values, parquet.WithDictionaryDefault(false))
	about.Type = arrow.BinaryTypes.LargeString
	require.False(t, about.Decodable())
	_, err := pages.NewDecoder(chunk, about, arrowmemory.DefaultAllocator)
	require.ErrorIs(t, err, pages.ErrOther)
	_, about = flatChunk(t, values)
	require.True(t, about.Decodable())
	about.MaxRepetition = 1
	require.False(t, about.Decodable())
	about.MaxRepetition, about.Codec = 0, compress.Codecs.Lzo
	require.False(t, about.Decodable())
}

// FuzzDecoder: any bytes give an error or as many rows as there are, no panic, and no memory
// stays in use.
func FuzzDecoder(f *testing.F) {
	generator := arraytest.NewGenerator(17)
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd}
	var abouts []pages.Flat
	var chunks [][]byte
	for i, of := range flatTypes() {
		generator.Nulls = []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull}[i%2]
		values := fitting(generator.Array(of, 300))
		for n, codec := range codecs {
			chunk, about := flatChunk(f, values, parquet.WithCompression(codec), parquet.WithDictionaryDefault((i+n)%3 > 0), parquet.WithDataPageSize(500), parquet.WithBatchSize(100),
				parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[n%2]))
			f.Add(chunk, byte(len(abouts)), uint16(130))
			abouts, chunks = append(abouts, about), append(chunks, chunk)
		}
	}
	for i, about := range abouts {
		if about.Type.ID() == arrow.STRING {
			about.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: about.Type}
			f.Add(chunks[i], byte(len(abouts)), uint16(70))
			abouts = append(abouts, about)
		}
	}
	f.Fuzz(func(t *testing.T, chunk []byte, about byte, rows uint16) {
		flat := abouts[int(about)%len(abouts)]
		got, err := decoded(t, chunk, flat, 1+int64(rows))
		if err == nil {
			require.EqualValues(t, flat.Values, got.Len())
			require.NoError(t, valid(got))
		}
	})
}

// valid checks the offsets of strings.
func valid(a arrow.Array) error {
	if strings, is := a.(array.BinaryLike); is {
		last := int64(0)
		for i := range a.Len() {
			begin := strings.ValueOffset64(i)
			if begin < last {
				return pages.ErrDamaged
			}
			last = begin
		}
	}
	return nil
}
