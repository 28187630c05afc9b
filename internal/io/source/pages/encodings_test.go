package pages_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// Delta encodings of arrow-go, with nulls and in any steps.
func TestDecoderOfDeltas(t *testing.T) {
	generator := arraytest.NewGenerator(23)
	for _, c := range []struct {
		of        arrow.DataType
		encodings []parquet.Encoding
	}{
		{arrow.PrimitiveTypes.Int32, []parquet.Encoding{parquet.Encodings.DeltaBinaryPacked}},
		{arrow.PrimitiveTypes.Int64, []parquet.Encoding{parquet.Encodings.DeltaBinaryPacked}},
		{arrow.FixedWidthTypes.Timestamp_us, []parquet.Encoding{parquet.Encodings.DeltaBinaryPacked}},
		{arrow.BinaryTypes.String, []parquet.Encoding{parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray}},
	} {
		for _, encoding := range c.encodings {
			for _, nulls := range []arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull} {
				generator.Nulls = nulls
				values := generator.Array(c.of, 700)
				chunk, about := pagestest.Chunk(t, values, parquet.WithDictionaryDefault(false), parquet.WithEncoding(encoding), parquet.WithDataPageSize(900), parquet.WithBatchSize(90), parquet.WithCompression(compress.Codecs.Snappy))
				for _, rows := range []int64{1, 7, 700} {
					got, err := decoded(t, chunk, about, rows)
					require.NoError(t, err, "%v in %v", c.of, encoding)
					require.True(t, array.Equal(values, got), "%v in %v, %d rows at a time", c.of, encoding, rows)
				}
			}
		}
	}
}

// Pages of nulls have delta encodings without values and, of texts, without sizes.
func TestDecoderOfDeltasOfNulls(t *testing.T) {
	numbers, texts := array.NewInt64Builder(arrowmemory.DefaultAllocator), array.NewStringBuilder(arrowmemory.DefaultAllocator)
	for i := range 400 {
		if i/100%2 == 1 {
			numbers.AppendNull()
			texts.AppendNull()
		} else {
			numbers.Append(int64(i * i))
			texts.Append(fmt.Sprint(i))
		}
	}
	text := texts.NewArray()
	for encoding, values := range map[parquet.Encoding]arrow.Array{
		parquet.Encodings.DeltaBinaryPacked: numbers.NewArray(), parquet.Encodings.DeltaLengthByteArray: text, parquet.Encodings.DeltaByteArray: text,
	} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, batch := range []int64{1, 3, 100} {
				chunk, about := pagestest.Chunk(t, values, parquet.WithDictionaryDefault(false), parquet.WithEncoding(encoding), parquet.WithDataPageVersion(version),
					parquet.WithDataPageSize(10), parquet.WithBatchSize(batch))
				got, err := decoded(t, chunk, about, 150)
				require.NoError(t, err)
				require.True(t, array.Equal(values, got))
			}
		}
	}
}

// The first text of a page shares its beginning with the last one of the page before, as arrow-go
// writes it.
func TestDecoderOfSharedBeginnings(t *testing.T) {
	builder := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	for i := range 500 {
		builder.Append(fmt.Sprintf("%x", i*i))
	}
	values := builder.NewArray()
	chunk, about := pagestest.Chunk(t, values, parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaByteArray), parquet.WithDataPageSize(100), parquet.WithBatchSize(10))
	got, err := decoded(t, chunk, about, 500)
	require.NoError(t, err)
	require.True(t, array.Equal(values, got))
}

func TestDecoderOfSplitBytes(t *testing.T) {
	generator := arraytest.NewGenerator(29)
	generator.Nulls = arraytest.NoneNull
	for dataType, physical := range map[arrow.DataType]parquetformat.Type{
		arrow.PrimitiveTypes.Float32: parquetformat.Float, arrow.PrimitiveTypes.Float64: parquetformat.Double,
		arrow.PrimitiveTypes.Int32: parquetformat.Int32, arrow.PrimitiveTypes.Int64: parquetformat.Int64,
	} {
		values := generator.Array(dataType, 100)
		width := dataType.(arrow.FixedWidthDataType).Bytes()
		plain := values.Data().Buffers()[1].Bytes()[values.Data().Offset()*width:][:100*width]
		split := make([]byte, len(plain))
		for i, b := range plain {
			split[i%width*100+i/width] = b
		}
		about := pages.Flat{Column: pages.Column{Values: 100}, Physical: physical, Type: dataType}
		got, err := decoded(t, pagestest.Page{Body: split, Values: 100, Uncompressed: int64(len(split)), Encoding: pages.ByteStreamSplit}.Bytes(), about, 33)
		require.NoError(t, err)
		require.True(t, array.Equal(values, got), "%v", dataType)
		_, err = decoded(t, pagestest.Page{Body: split[1:], Values: 100, Uncompressed: int64(len(split) - 1), Encoding: pages.ByteStreamSplit}.Bytes(), about, 33)
		require.ErrorIs(t, err, pages.ErrDamaged)
	}
}

// LZ4 as blocks, as Hadoop's blocks with their lengths, and as a frame.
func TestDecoderOfLZ4(t *testing.T) {
	plain := make([]byte, 0, 8*1000)
	for i := range 1000 {
		plain = binary.LittleEndian.AppendUint64(plain, uint64(i/7))
	}
	block := func(data []byte) []byte {
		to := make([]byte, lz4.CompressBlockBound(len(data)))
		n, err := lz4.CompressBlock(data, to, nil)
		require.NoError(t, err)
		return to[:n]
	}
	hadoop := func(parts ...[]byte) (all []byte) {
		for _, part := range parts {
			packed := block(part)
			all = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(all, uint32(len(part))), uint32(len(packed)))
			all = append(all, packed...)
		}
		return all
	}
	var frame bytes.Buffer
	writer := lz4.NewWriter(&frame)
	_, err := writer.Write(plain)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	for name, c := range map[string]struct {
		codec parquetformat.Codec
		body  []byte
	}{
		"raw": {parquetformat.LZ4Raw, block(plain)}, "block": {parquetformat.LZ4, block(plain)}, "frame": {parquetformat.LZ4, frame.Bytes()},
		"Hadoop": {parquetformat.LZ4, hadoop(plain)}, "Hadoop, two blocks": {parquetformat.LZ4, hadoop(plain[:3000], plain[3000:])},
	} {
		about := pages.Flat{Column: pages.Column{Values: 1000, Codec: c.codec}, Physical: parquetformat.Int64, Type: arrow.PrimitiveTypes.Int64}
		require.True(t, about.Decodable(), name)
		data := pagestest.Page{Body: c.body, Values: 1000, Uncompressed: int64(len(plain))}.Bytes()
		got, err := decoded(t, data, about, 1000)
		require.NoError(t, err, name)
		require.Equal(t, plain, got.Data().Buffers()[1].Bytes(), name)
		_, err = decoded(t, pagestest.Page{Body: c.body[:len(c.body)/2], Values: 1000, Uncompressed: int64(len(plain))}.Bytes(), about, 1000)
		require.ErrorIs(t, err, pages.ErrDamaged, name)
		_, err = decoded(t, pagestest.Page{Body: c.body, Values: 1000, Uncompressed: 1 << 40}.Bytes(), about, 1000)
		require.Error(t, err, name)
	}
}

func TestChecksumsOfPages(t *testing.T) {
	about := pages.Flat{Column: pages.Column{Values: 2}, Physical: parquetformat.Int32, Type: arrow.PrimitiveTypes.Int32}
	body := []byte{1, 0, 0, 0, 2, 0, 0, 0}
	right := pagestest.Page{Body: body, Values: 2, Uncompressed: 8, Checksum: true}
	_, err := decoded(t, right.Bytes(), about, 2)
	require.NoError(t, err)
	right.Wrong = true
	_, err = decoded(t, right.Bytes(), about, 2)
	require.ErrorIs(t, err, pages.ErrDamaged)
	require.ErrorContains(t, err, "the checksum of a page is")
}

// Timestamps of 96 bits are exact in each unit, rounded down, or null.
func TestDecoderOfInt96(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		of := rapid.SampledFrom([]*arrow.TimestampType{{Unit: arrow.Millisecond}, {Unit: arrow.Microsecond}, {Unit: arrow.Nanosecond}}).Draw(r, "type")
		var body []byte
		var want []*big.Int
		const epoch, dayLength = 2440588, int64(86_400_000_000_000)
		for range rapid.IntRange(1, 40).Draw(r, "values") {
			day := rapid.OneOf(rapid.Int32(), rapid.Int32Range(epoch-106752, epoch+106752), rapid.Just(int32(5373484))).Draw(r, "day")
			nano := rapid.OneOf(rapid.Int64Range(0, dayLength-1), rapid.Int64Range(-dayLength, 2*dayLength)).Draw(r, "nanosecond")
			body = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(body, uint64(nano)), uint32(day))
			all := new(big.Int).Mul(big.NewInt(int64(day)-epoch), big.NewInt(dayLength))
			all.Add(all, big.NewInt(nano))
			want = append(want, all.Div(all, big.NewInt(1e9/exprtree.UnitOf(of)))) // Euclidean: down
		}
		about := pages.Flat{Column: pages.Column{Values: int64(len(want))}, Physical: parquetformat.Int96, Type: of}
		data := pagestest.Page{Body: body, Values: len(want), Uncompressed: int64(len(body))}.Bytes()
		got, err := decodedIn(r, data, about, rapid.Int64Range(1, 40).Draw(r, "rows at a time"))
		require.NoError(r, err)
		for i, value := range want {
			fits := value.IsInt64() && value.Int64() != math.MinInt64
			require.Equal(r, fits, got.IsValid(i), "%v", value)
			if fits {
				require.Equal(r, value.Int64(), int64(got.(*array.Timestamp).Value(i)))
			}
		}
	})
}

// decodedIn is decoded without a check of memory.
func decodedIn(t require.TestingT, chunk []byte, about pages.Flat, rows int64) (arrow.Array, error) {
	d, err := pages.NewDecoder(chunk, about, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	defer d.Close()
	var parts []arrow.Array
	for done := int64(0); done < about.Values; {
		next, err := d.Next(min(rows, about.Values-done))
		if err != nil {
			return nil, err
		}
		parts = append(parts, next)
		done += int64(next.Len())
	}
	return array.Concatenate(parts, arrowmemory.DefaultAllocator)
}
