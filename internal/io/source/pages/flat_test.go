package pages_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
)

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

// The decoder returns what was written, of each type it knows, in any steps.
func TestDecoder(t *testing.T) {
	generator := arraytest.NewGenerator(11)
	for _, dataType := range pagestest.Types() {
		for _, nulls := range []arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull} {
			generator.Nulls = nulls
			values := pagestest.Fitting(generator.Array(dataType, 700))
			for _, integer := range []bool{false, true} {
				chunk, about := pagestest.Chunk(t, values, parquet.WithStoreDecimalAsInteger(integer), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDataPageSize(400), parquet.WithBatchSize(90))
				require.True(t, about.Decodable(), "%v", dataType)
				for _, rows := range []int64{1, 7, 64, 700} {
					got, err := decoded(t, chunk, about, rows)
					require.NoError(t, err, "%v", dataType)
					require.True(t, array.Equal(values, got), "%v, %d rows at a time", dataType, rows)
				}
			}
		}
	}
}

// Strings of a dictionary are read as its indices on request.
func TestDecoderOfDictionaries(t *testing.T) {
	generator := arraytest.NewGenerator(5)
	for _, dataType := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.Binary} {
		for _, nulls := range []arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull} {
			generator.Nulls = nulls
			values := generator.Array(dataType, 500)
			requireDictionary(t, values)
			requireDictionary(t, values, parquet.WithDictionaryDefault(false))
			requireDictionary(t, values, parquet.WithDictionaryPageSizeLimit(300))
		}
	}
}

// requireDictionary decodes a column of strings as a dictionary. Strings that the file's dictionary lacks are added to it.
func requireDictionary(t *testing.T, values arrow.Array, properties ...parquet.WriterProperty) {
	t.Helper()
	chunk, about := pagestest.Chunk(t, values, append(properties, parquet.WithDataPageSize(300), parquet.WithBatchSize(50))...)
	about.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: values.DataType()}
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

// Encodings, lists and types that it does not know are reported before any memory is used.
func TestDecoderOfOthers(t *testing.T) {
	generator := arraytest.NewGenerator(3)
	values := generator.Array(arrow.PrimitiveTypes.Int64, 100)
	chunk, about := pagestest.Chunk(t, values, parquet.WithDictionaryDefault(false))
	about.Type = arrow.BinaryTypes.LargeString
	require.False(t, about.Decodable())
	_, err := pages.NewDecoder(chunk, about, arrowmemory.DefaultAllocator)
	require.ErrorIs(t, err, pages.ErrOther)
	_, about = pagestest.Chunk(t, values)
	require.True(t, about.Decodable())
	about.MaxRepetition = 1
	require.False(t, about.Decodable())
	about.MaxRepetition, about.Codec = 0, parquetformat.LZO
	require.False(t, about.Decodable())
}

// FuzzDecoder: any bytes give an error or as many rows as there are, no panic, and no memory
// stays in use.
func FuzzDecoder(f *testing.F) {
	generator := arraytest.NewGenerator(17)
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd}
	var abouts []pages.Flat
	var chunks [][]byte
	for i, dataType := range pagestest.Types() {
		generator.Nulls = []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull}[i%2]
		values := pagestest.Fitting(generator.Array(dataType, 300))
		for n, codec := range codecs {
			chunk, about := pagestest.Chunk(f, values, parquet.WithCompression(codec), parquet.WithDictionaryDefault((i+n)%3 > 0), parquet.WithDataPageSize(500), parquet.WithBatchSize(100),
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
	if strings, ok := a.(array.BinaryLike); ok {
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
