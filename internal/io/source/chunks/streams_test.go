package chunks_test

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// drawStream draws a stream of n numbers below a limit, in runs of any kinds and lengths. The last run may be cut behind its last
// number.
func drawStream(r *rapid.T, n, width int, limit uint32) (stream []byte, numbers []uint32) {
	mostRun := rapid.SampledFrom([]int{1, 3, 40, 1000}).Draw(r, "most in a run")
	draw := func() uint32 { return rapid.Uint32Range(0, limit-1).Draw(r, "number") }
	for len(numbers) < n {
		if rapid.Bool().Draw(r, "equal") {
			count, value := rapid.IntRange(1, mostRun).Draw(r, "equal numbers"), draw()
			stream = binary.AppendUvarint(stream, uint64(count)<<1)
			for i := range (width + 7) / 8 {
				stream = append(stream, byte(value>>(8*i)))
			}
			for range count {
				numbers = append(numbers, value)
			}
			continue
		}
		groups := rapid.IntRange(1, (mostRun+7)/8).Draw(r, "groups of eight")
		stream = binary.AppendUvarint(stream, uint64(groups)<<1|1)
		packed := make([]byte, groups*width)
		for i := range groups * 8 {
			value := draw()
			numbers = append(numbers, value)
			for bit := range width {
				packed[(i*width+bit)/8] |= byte(value>>bit&1) << ((i*width + bit) % 8)
			}
		}
		if more := len(numbers) - n; more > 0 && rapid.Bool().Draw(r, "cut") {
			packed = packed[:(groups*8-more)*width/8+min(1, (groups*8-more)*width%8)]
		}
		stream = append(stream, packed...)
	}
	return stream, numbers[:n]
}

func withLength(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// drawnLevels are the levels of a page, and the number of its rows with a value.
func drawnLevels(r *rapid.T, rows int, optional bool) (levels []byte, valid int) {
	if !optional {
		return nil, rows
	}
	limit := uint32(2)
	if rapid.IntRange(0, 3).Draw(r, "no value") == 0 {
		limit = 1
	}
	stream, numbers := drawStream(r, rows, 1, limit)
	for _, level := range numbers {
		valid += int(level)
	}
	return withLength(stream), valid
}

// requireLikeHost decodes a chunk on a device and with a decoder of package pages.
func requireLikeHost(t require.TestingT, test *testing.T, m *memory.Manager, chunk []byte, about pages.Flat, name string) {
	d, err := pages.NewDecoder(chunk, about, arrowmemory.DefaultAllocator)
	require.NoError(t, err, name)
	defer d.Close()
	want, err := d.Next(about.Values)
	require.NoError(t, err, name)
	list, err := chunks.Decode(test.Context(), m, []chunks.Column{{Type: about.Type, Chunks: []chunks.Chunk{{About: about, Bytes: chunk, Rows: about.Values}}}}, chunks.Options{})
	require.NoError(t, err, name)
	got, err := list[0].Array(test.Context())
	require.NoError(t, err, name)
	require.NoError(t, list[0].Release())
	require.True(t, array.Equal(want, got), "%s\nwant %v\ngot  %v", name, want, got)
	require.Equal(t, want.NullN(), list[0].NullCount())
}

// Streams of levels, of indices and of booleans that arrow-go does not write.
func TestRandomStreams(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			about, chunk := drawIndexPages(r, 5000)
			requireLikeHost(r, t, m, chunk, about, fmt.Sprint(about.Type))
		})
	})
}

// drawIndexPages draws a chunk of indices, or of booleans in runs.
func drawIndexPages(r *rapid.T, most int) (about pages.Flat, chunk []byte) {
	about = pages.Flat{Physical: parquetformat.Int64, Type: arrow.PrimitiveTypes.Int64}
	optional := rapid.Bool().Draw(r, "optional")
	if optional {
		about.MaxDefinition = 1
	}
	booleans := rapid.Bool().Draw(r, "booleans")
	width, entries := 1, uint32(2)
	if booleans {
		about.Physical, about.Type = parquetformat.Boolean, arrow.FixedWidthTypes.Boolean
	} else {
		width = rapid.IntRange(0, 12).Draw(r, "width")
		entries = rapid.Uint32Range(1, 1<<width).Draw(r, "entries")
		var dictionary []byte
		if rapid.Bool().Draw(r, "strings") {
			about.Physical, about.Type = parquetformat.ByteArray, arrow.BinaryTypes.String
		}
		for i := range entries {
			if about.Physical == parquetformat.ByteArray {
				dictionary = append(dictionary, withLength([]byte(fmt.Sprint(1000 + i*i))[:i%4])...)
			} else {
				dictionary = binary.LittleEndian.AppendUint64(dictionary, uint64(i)<<40|uint64(i))
			}
		}
		chunk = pagestest.Page{Dictionary: true, Body: dictionary, Values: int(entries), Uncompressed: int64(len(dictionary))}.Bytes()
	}
	for range rapid.IntRange(1, 4).Draw(r, "pages") {
		rows := rapid.IntRange(1, most).Draw(r, "rows")
		body, valid := drawnLevels(r, rows, optional)
		stream, _ := drawStream(r, valid, width, entries)
		encoding := pages.RLEDictionary
		if booleans {
			body, encoding = append(body, withLength(stream)...), pages.RLE
		} else {
			body = append(append(body, byte(width)), stream...)
		}
		chunk = append(chunk, pagestest.Page{Body: body, Values: rows, Uncompressed: int64(len(body)), Encoding: encoding}.Bytes()...)
		about.Values += int64(rows)
	}
	return about, chunk
}

// Differences in blocks of any sizes and widths.
func TestRandomDeltas(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			about, chunk := drawDeltaPages(r, 9000)
			requireLikeHost(r, t, m, chunk, about, fmt.Sprint(about.Type))
		})
	})
}

// drawDeltaPages draws a chunk of differences.
func drawDeltaPages(r *rapid.T, most int) (about pages.Flat, chunk []byte) {
	about = pages.Flat{Physical: parquetformat.Int64, Type: arrow.PrimitiveTypes.Int64}
	if rapid.Bool().Draw(r, "32 bits") {
		about.Physical, about.Type = parquetformat.Int32, rapid.SampledFrom([]arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint8, &arrow.Decimal128Type{Precision: 9}}).Draw(r, "type")
	}
	optional := rapid.Bool().Draw(r, "optional")
	if optional {
		about.MaxDefinition = 1
	}
	for range rapid.IntRange(1, 3).Draw(r, "pages") {
		rows := rapid.IntRange(1, most).Draw(r, "rows")
		body, valid := drawnLevels(r, rows, optional)
		if valid > 0 {
			body = append(body, drawDeltas(r, valid)...)
		}
		chunk = append(chunk, pagestest.Page{Body: body, Values: rows, Uncompressed: int64(len(body)), Encoding: pages.DeltaBinaryPacked}.Bytes()...)
		about.Values += int64(rows)
	}
	return about, chunk
}

// drawDeltas draws n values as differences.
func drawDeltas(r *rapid.T, n int) (stream []byte) {
	parts := rapid.SampledFrom([]int{1, 4, 3, 100}).Draw(r, "parts")
	size := rapid.SampledFrom([]int{8, 32, 40, 256, 8192}).Draw(r, "values of a part")
	stream = binary.AppendUvarint(stream, uint64(parts*size))
	stream = binary.AppendUvarint(stream, uint64(parts))
	stream = binary.AppendUvarint(stream, uint64(n))
	stream = binary.AppendVarint(stream, rapid.Int64().Draw(r, "first"))
	for left := n - 1; left > 0; {
		stream = binary.AppendVarint(stream, rapid.Int64().Draw(r, "least"))
		widths := make([]byte, parts)
		for i := range widths {
			widths[i] = byte(rapid.IntRange(0, 64).Draw(r, "width"))
		}
		stream = append(stream, widths...)
		for _, width := range widths {
			if left <= 0 {
				break
			}
			seed := rapid.Uint64().Draw(r, "bits")
			for range size * int(width) / 8 {
				seed = seed*6364136223846793005 + 1442695040888963407
				stream = append(stream, byte(seed>>56))
			}
			left -= size
		}
	}
	return stream
}

// deltasOf encodes values as differences.
func deltasOf(r *rapid.T, values []int64) (stream []byte) {
	const parts = 4
	size := rapid.SampledFrom([]int{8, 32, 64}).Draw(r, "values of a part")
	stream = binary.AppendUvarint(stream, uint64(parts*size))
	stream = binary.AppendUvarint(stream, parts)
	stream = binary.AppendUvarint(stream, uint64(len(values)))
	stream = binary.AppendVarint(stream, values[0])
	var differences []int64
	for i, value := range values[1:] {
		differences = append(differences, value-values[i])
	}
	for block := range slices.Chunk(differences, parts*size) {
		least := slices.Min(block)
		stream = binary.AppendVarint(stream, least)
		widths := len(stream)
		stream = append(stream, make([]byte, parts)...)
		part := 0
		for each := range slices.Chunk(block, size) {
			width := bits.Len64(uint64(slices.Max(each) - least))
			stream[widths+part] = byte(width)
			packed := make([]byte, size*width/8)
			for i, difference := range each {
				for bit := range width {
					packed[(i*width+bit)/8] |= byte((difference-least)>>bit&1) << ((i*width + bit) % 8)
				}
			}
			stream, part = append(stream, packed...), part+1
		}
	}
	return stream
}

// drawSharedPages draws a chunk of strings that share their beginnings, of which the first one of a page may share that of the last one
// before.
func drawSharedPages(r *rapid.T, most int) (about pages.Flat, chunk []byte) {
	about = rapid.SampledFrom([]pages.Flat{
		{Physical: parquetformat.ByteArray, Type: arrow.BinaryTypes.Binary}, {Physical: parquetformat.ByteArray, Type: arrow.BinaryTypes.LargeBinary},
		{Physical: parquetformat.FixedLenByteArray, Width: 5, Type: &arrow.Decimal128Type{Precision: 11}},
		{Physical: parquetformat.FixedLenByteArray, Width: 4, Type: &arrow.FixedSizeBinaryType{ByteWidth: 4}},
		{Physical: parquetformat.FixedLenByteArray, Width: 16, Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}},
	}).Draw(r, "type")
	optional, continues := rapid.Bool().Draw(r, "optional"), rapid.Bool().Draw(r, "continues")
	if optional {
		about.MaxDefinition = 1
	}
	seed := rapid.Uint64().Draw(r, "strings")
	next := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed >> 33 % uint64(n))
	}
	longest, least := rapid.SampledFrom([]int{1, 9, 40, 300}).Draw(r, "most of a string's own bytes"), rapid.SampledFrom([]int{0, 3, 20}).Draw(r, "least shared")
	last := 0
	mostPages := 4
	if about.Width > 0 {
		mostPages = 1 // others are decoded on the host
	}
	for range rapid.IntRange(1, mostPages).Draw(r, "pages") {
		rows := rapid.IntRange(1, most).Draw(r, "rows")
		body, valid := drawnLevels(r, rows, optional)
		if !continues {
			last = 0
		}
		var shared, own []int64
		var bytes []byte
		for range valid {
			n := next(min(last, least+40) + 1)
			if last >= least && next(20) > 0 {
				n = max(n, least)
			}
			length := next(longest + 1)
			if about.Width > 0 {
				n = min(n, about.Width)
				length = about.Width - n
			}
			shared, own, last = append(shared, int64(n)), append(own, int64(length)), n+length
			for range length {
				bytes = append(bytes, byte(next(256)))
			}
		}
		if valid > 0 {
			body = append(append(append(body, deltasOf(r, shared)...), deltasOf(r, own)...), bytes...)
		}
		chunk = append(chunk, pagestest.Page{Body: body, Values: rows, Uncompressed: int64(len(body)), Encoding: pages.DeltaByteArray}.Bytes()...)
		about.Values += int64(rows)
	}
	return about, chunk
}

// Strings that share their beginnings.
func TestSharedBeginnings(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			about, chunk := drawSharedPages(r, 1500)
			requireLikeHost(r, t, m, chunk, about, fmt.Sprint(about.Type))
		})
	})
}

// Timestamps of 96 bits are null where 64 bits do not hold them.
func TestInt96(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			about := pages.Flat{Physical: parquetformat.Int96, Type: rapid.SampledFrom([]arrow.DataType{
				arrow.FixedWidthTypes.Timestamp_ms, arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Timestamp_ns,
			}).Draw(r, "type")}
			optional, indexed := rapid.Bool().Draw(r, "optional"), rapid.Bool().Draw(r, "dictionary")
			if optional {
				about.MaxDefinition = 1
			}
			instants := func(n int) (body []byte) {
				const epoch, day = 2440588, int64(86_400_000_000_000)
				for range n {
					nano := rapid.OneOf(rapid.Int64Range(0, day-1), rapid.Int64Range(-day, 2*day), rapid.Int64()).Draw(r, "nanosecond")
					date := rapid.OneOf(rapid.Int32(), rapid.Int32Range(epoch-106752, epoch+106752)).Draw(r, "day")
					body = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(body, uint64(nano)), uint32(date))
				}
				return body
			}
			var chunk []byte
			if indexed {
				body := instants(20)
				chunk = pagestest.Page{Dictionary: true, Body: body, Values: 20, Uncompressed: int64(len(body))}.Bytes()
			}
			for range rapid.IntRange(1, 3).Draw(r, "pages") {
				rows := rapid.IntRange(1, 90).Draw(r, "rows")
				body, valid := drawnLevels(r, rows, optional)
				encoding := pages.Plain
				if indexed {
					stream, _ := drawStream(r, valid, 5, 20)
					body, encoding = append(append(body, 5), stream...), pages.RLEDictionary
				} else {
					body = append(body, instants(valid)...)
				}
				chunk = append(chunk, pagestest.Page{Body: body, Values: rows, Uncompressed: int64(len(body)), Encoding: encoding}.Bytes()...)
				about.Values += int64(rows)
			}
			requireLikeHost(r, t, m, chunk, about, fmt.Sprint(about.Type, optional, indexed))
		})
	})
}

// Values with bytes that are apart.
func TestSplitBytes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			about := rapid.SampledFrom([]pages.Flat{
				{Physical: parquetformat.Float, Type: arrow.PrimitiveTypes.Float32}, {Physical: parquetformat.Double, Type: arrow.PrimitiveTypes.Float64},
				{Physical: parquetformat.Int32, Type: arrow.PrimitiveTypes.Int16}, {Physical: parquetformat.Int64, Type: arrow.PrimitiveTypes.Uint64},
				{Physical: parquetformat.FixedLenByteArray, Width: 5, Type: &arrow.Decimal128Type{Precision: 11}},
				{Physical: parquetformat.FixedLenByteArray, Width: 16, Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}},
				{Physical: parquetformat.FixedLenByteArray, Width: 2, Type: arrow.FixedWidthTypes.Float16},
			}).Draw(r, "type")
			optional := rapid.Bool().Draw(r, "optional")
			if optional {
				about.MaxDefinition = 1
			}
			width := map[parquetformat.Type]int{parquetformat.Float: 4, parquetformat.Int32: 4, parquetformat.FixedLenByteArray: about.Width}[about.Physical]
			if width == 0 {
				width = 8
			}
			about.Values = int64(rapid.IntRange(1, 300).Draw(r, "rows"))
			body, valid := drawnLevels(r, int(about.Values), optional)
			for range valid * width {
				body = append(body, rapid.ByteMax(0x3f).Draw(r, "byte"))
			}
			chunk := pagestest.Page{Body: body, Values: int(about.Values), Uncompressed: int64(len(body)), Encoding: pages.ByteStreamSplit}.Bytes()
			requireLikeHost(r, t, m, chunk, about, fmt.Sprint(about.Type, optional))
		})
	})
}

// Plain strings, in which lengths, zeros and other bytes look like lengths.
func TestPlainStrings(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			about := pages.Flat{Physical: parquetformat.ByteArray, Type: arrow.BinaryTypes.Binary}
			most := rapid.SampledFrom([]int{0, 2, 30, 300, 3000}).Draw(r, "longest")
			alphabet := rapid.SampledFrom([]string{"abc", "\x00", "\x00\x01", "\x01\x00\x00\x00", "\x00\x01\x02\x10\xff"}).Draw(r, "alphabet")
			seed := rapid.Uint64().Draw(r, "bytes")
			next := func(n int) int {
				seed = seed*6364136223846793005 + 1442695040888963407
				return int(seed >> 33 % uint64(n))
			}
			var chunk []byte
			for range rapid.IntRange(1, 3).Draw(r, "pages") {
				rows := rapid.IntRange(1, 3000).Draw(r, "rows")
				if most > 100 {
					rows = min(rows, 20000/most+1)
				}
				body, alike := []byte(nil), rapid.Bool().Draw(r, "equal lengths")
				for range rows {
					length := most
					if !alike {
						length = next(most + 1)
					}
					value := make([]byte, length)
					for i := range value {
						value[i] = alphabet[next(len(alphabet))]
					}
					body = append(body, withLength(value)...)
				}
				chunk = append(chunk, pagestest.Page{Body: body, Values: rows, Uncompressed: int64(len(body))}.Bytes()...)
				about.Values += int64(rows)
			}
			requireLikeHost(r, t, m, chunk, about, fmt.Sprintf("%q up to %d", alphabet, most))
		})
	})
}
