package chunks_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// guarded returns a manager that finds writes beyond the memory of an allocation.
func guarded(t *testing.T, dev *device.Device) *memory.Manager {
	guard := adaptor.NewGuard(memory.NewDriverResource(dev), adaptor.GuardOptions{RedZone: 256})
	return devicetest.Manager(t, dev, memory.Options{Resource: guard})
}

// decodeDamaged decodes a column that may be damaged, between two that are not: it gives an error about the column, or as
// many rows as there are, and the others as they are.
func decodeDamaged(ctx context.Context, t require.TestingT, m *memory.Manager, c chunks.Column, other randomColumn) {
	list, err := chunks.Decode(ctx, m, []chunks.Column{other.Column, c, other.Column}, chunks.Options{})
	if err != nil {
		require.True(t, errors.Is(err, pages.ErrDamaged) || errors.Is(err, pages.ErrOther) || errors.Is(err, chunks.ErrLong), "%v", err)
		var damage *chunks.Error
		if errors.As(err, &damage) {
			require.Equal(t, 1, damage.Column)
		}
		return
	}
	rows := int64(0)
	for _, chunk := range c.Chunks {
		rows += chunk.Rows
		for _, g := range chunk.Gaps {
			rows -= g.Rows
		}
	}
	require.EqualValues(t, rows, list[1].Len())
	for i, c := range list {
		got, err := c.Array(ctx) // which checks offsets and indices
		require.NoError(t, err)
		require.NoError(t, c.Release())
		if i != 1 {
			require.True(t, array.Equal(other.want, got))
		}
	}
}

// changed returns a chunk with other bytes, or its beginning.
func changed(r *rapid.T, chunk []byte) []byte {
	chunk = bytes.Clone(chunk)
	if rapid.IntRange(0, 9).Draw(r, "kind") == 0 {
		return chunk[:rapid.IntRange(0, len(chunk)).Draw(r, "length")]
	}
	if len(chunk) > 0 {
		at := rapid.IntRange(0, len(chunk)-1).Draw(r, "at")
		chunk[at] = rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff})).Draw(r, "byte")
	}
	return chunk
}

// Chunks with other bytes, and beginnings of chunks.
func TestDamagedChunks(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := guarded(t, dev)
		property.Check(t, func(r *rapid.T) {
			other, c := drawColumn(t, r, 100), drawColumn(t, r, 300)
			if c.Type.ID() == arrow.STRING && rapid.Bool().Draw(r, "dictionary") {
				c.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: c.Type}
			}
			for range rapid.IntRange(1, 4).Draw(r, "changes") {
				chunk := &c.Chunks[rapid.IntRange(0, len(c.Chunks)-1).Draw(r, "chunk")]
				chunk.Bytes = changed(r, chunk.Bytes)
			}
			decodeDamaged(t.Context(), r, m, c.Column, other)
		})
	})
}

// Streams that arrow-go does not write, with other bytes.
func TestDamagedStreams(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := guarded(t, dev)
		property.Check(t, func(r *rapid.T) {
			draw := rapid.SampledFrom([]func(*rapid.T, int) (pages.Flat, []byte){drawDeltaPages, drawIndexPages, drawSharedPages}).Draw(r, "encoding")
			about, chunk := draw(r, 300)
			for range rapid.IntRange(1, 3).Draw(r, "changes") {
				chunk = changed(r, chunk)
			}
			c := chunks.Column{Type: about.Type, Chunks: []chunks.Chunk{{About: about, Bytes: chunk, Rows: about.Values}}}
			decodeDamaged(t.Context(), r, m, c, drawColumn(t, r, 20))
		})
	})
}

// FuzzDecode: any bytes give an error or as many rows as there are, on the emulator.
func FuzzDecode(f *testing.F) {
	generator := arraytest.NewGenerator(17)
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy}
	var abouts []pages.Flat
	for i, dataType := range pagestest.Types() {
		generator.Nulls = []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull}[i%2]
		values := pagestest.Fitting(generator.Array(dataType, 100))
		for n, codec := range codecs {
			chunk, about := pagestest.Chunk(f, values, parquet.WithCompression(codec), parquet.WithDictionaryDefault((i+n)%3 > 0), parquet.WithDataPageSize(500), parquet.WithBatchSize(50),
				parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[n%2]))
			f.Add(chunk, byte(len(abouts)))
			abouts = append(abouts, about)
		}
	}
	for _, encoding := range []parquet.Encoding{parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray, parquet.Encodings.DeltaBinaryPacked} {
		dataType := arrow.DataType(arrow.BinaryTypes.String)
		if encoding == parquet.Encodings.DeltaBinaryPacked {
			dataType = arrow.PrimitiveTypes.Int64
		}
		chunk, about := pagestest.Chunk(f, generator.Array(dataType, 100), parquet.WithDictionaryDefault(false), parquet.WithEncoding(encoding), parquet.WithDataPageSize(300), parquet.WithBatchSize(50))
		f.Add(chunk, byte(len(abouts)))
		abouts = append(abouts, about)
	}
	f.Fuzz(func(t *testing.T, chunk []byte, about byte) {
		flat := abouts[int(about)%len(abouts)]
		m := guarded(t, kerneltest.Open(t))
		other := randomColumn{want: arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int64, 40)}
		bytes, description := pagestest.Chunk(t, other.want)
		other.Column = chunks.Column{Type: arrow.PrimitiveTypes.Int64, Chunks: []chunks.Chunk{{About: description, Bytes: bytes, Rows: 40}}}
		decodeDamaged(t.Context(), t, m, chunks.Column{Type: flat.Type, Chunks: []chunks.Chunk{{About: flat, Bytes: chunk, Rows: flat.Values}}}, other)
	})
}
