package chunks_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// columnOf returns a column of one chunk.
func columnOf(t testing.TB, values arrow.Array, properties ...parquet.WriterProperty) chunks.Column {
	chunk, about := pagestest.Chunk(t, values, properties...)
	return chunks.Column{Type: about.Type, Chunks: []chunks.Chunk{{About: about, Bytes: chunk, Rows: about.Values}}}
}

// mixedColumns are columns that need all kinds of memory.
func mixedColumns(t testing.TB) (columns []chunks.Column) {
	generator := arraytest.NewGenerator(3)
	for i, dataType := range pagestest.Types() {
		columns = append(columns, columnOf(t, pagestest.Fitting(generator.Array(dataType, 60)), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(i%2 == 0)))
	}
	encoded := columnOf(t, generator.Array(arrow.BinaryTypes.String, 60))
	encoded.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	return append(columns, encoded)
}

// Each allocation fails once. The error names the package, and no memory stays in use.
func TestAllocationsFail(t *testing.T) {
	testAllocationsFail(t, devicetest.EachKernel, mixedColumns(t), 6)
}

// The same with rows that are left out, of which columns are cut.
func TestAllocationsOfCutColumnsFail(t *testing.T) {
	columns := mixedColumns(t)[10:]
	for i := range columns {
		columns[i].Chunks[0].Rows = 20
		columns[i].Chunks[0].Extend(30, 20)
	}
	testAllocationsFail(t, devicetest.EachKernel, columns, 0)
}

// The same with lists and structs, some of them null and empty.
func TestAllocationsOfNestedColumnsFail(t *testing.T) {
	var columns []chunks.Column
	generator := arraytest.NewGenerator(9)
	generator.Nulls = arraytest.SomeNull
	for _, dataType := range nestedTypes()[5:11] {
		c, _ := nestedOf(t, withoutHidden(generator.Array(dataType, 30)), 1000)
		columns = append(columns, c)
	}
	testAllocationsFail(t, devicetest.WithKernels, columns, 0)
}

// testAllocationsFail fails each allocation of a call once, of which there are most on devices if it is not 0.
func testAllocationsFail(t *testing.T, each func(*testing.T, func(*testing.T, *device.Device)), columns []chunks.Column, most int) {
	each(t, func(t *testing.T, dev *device.Device) {
		fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
		m := devicetest.Manager(t, dev, memory.Options{Resource: fault})
		fault.Arm(adaptor.FaultOptions{})
		succeed := func() {
			for _, values := range decoded(t, m, columns) {
				values.Release()
			}
			require.Zero(t, m.Stats().InUse)
		}
		succeed()
		requests := fault.Requests().Seen
		if dev.Kind() == device.CUDA && most > 0 {
			require.EqualValues(t, most, requests, "the number of allocations does not depend on that of columns")
		}
		for nth := range requests {
			fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth + 1}})
			_, err := chunks.Decode(t.Context(), m, columns, chunks.Options{})
			require.ErrorIs(t, err, adaptor.ErrInjected)
			require.ErrorContains(t, err, "chunks: ")
			require.Zero(t, m.Stats().InUse, "allocation %d of %d", nth+1, requests)
		}
		fault.Arm(adaptor.FaultOptions{})
		succeed()
	})
}

// A budget that is too small, and a context that is done.
func TestMemoryAndContext(t *testing.T) {
	columns := mixedColumns(t)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{Budget: 1000})
		_, err := chunks.Decode(t.Context(), m, columns, chunks.Options{})
		require.ErrorIs(t, err, memory.ErrBudget)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = chunks.Decode(ctx, devicetest.Manager(t, dev, memory.Options{}), columns, chunks.Options{})
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Calls at the same time do not disturb each other.
func TestDecodeAtTheSameTime(t *testing.T) {
	columns := mixedColumns(t)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		want := decoded(t, m, columns)
		var work sync.WaitGroup
		results := make([][]arrow.Array, 3)
		for i := range results {
			work.Go(func() { results[i] = decoded(t, m, columns) })
		}
		work.Wait()
		for _, arrays := range results {
			for i, values := range arrays {
				require.True(t, array.Equal(want[i], values))
			}
		}
	})
}

// A batch decodes again into the memory of its columns.
func TestBatch(t *testing.T) {
	columns := mixedColumns(t)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		want := decoded(t, m, columns)
		b, err := chunks.Copy(t.Context(), m, columns, chunks.Options{})
		require.NoError(t, err)
		for range 2 {
			list, err := b.Decode(t.Context())
			require.NoError(t, err)
			for i, c := range list {
				values, err := c.Array(t.Context())
				require.NoError(t, err)
				require.True(t, array.Equal(want[i], values))
				require.NoError(t, c.Release())
			}
		}
		require.NoError(t, b.Release())
	})
}

// Strings of more bytes than offsets reach to are an error that names the column.
func TestLongStrings(t *testing.T) {
	builder := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	for i := range 100 {
		builder.Append(strings.Repeat("x", i))
	}
	values := builder.NewArray()
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for _, dictionary := range []bool{false, true} {
			column := columnOf(t, values, parquet.WithDictionaryDefault(dictionary))
			column.Chunks = append(column.Chunks, column.Chunks[0])
			large := chunks.Column{Type: arrow.BinaryTypes.LargeString, Chunks: column.Chunks}
			require.Equal(t, 200, decoded(t, m, []chunks.Column{large})[0].Len())
			_, err := chunks.Decode(strategy.WithMaximumOffset(t.Context(), 99*100-1), m, []chunks.Column{column}, chunks.Options{})
			require.ErrorIs(t, err, chunks.ErrLong)
			require.ErrorContains(t, err, "column 0")
			list, err := chunks.Decode(strategy.WithMaximumOffset(t.Context(), 99*100), m, []chunks.Column{column}, chunks.Options{})
			require.NoError(t, err)
			require.NoError(t, list[0].Release())
		}
	})
}

// Any rows may be left out, and no more are decoded than a chunk has.
func TestRowsOfChunks(t *testing.T) {
	values := arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int32, 10)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for name, c := range map[string]struct {
			rows [][2]int64
			ok   bool
			gaps []chunks.Gap // of the first chunk
		}{
			"all":     {[][2]int64{{0, 10}, {0, 10}}, true, nil},
			"ends":    {[][2]int64{{4, 6}, {0, 10}, {0, 3}}, true, nil},
			"empty":   {[][2]int64{{0, 0}, {2, 8}, {3, 0}, {0, 5}, {7, 0}}, true, nil},
			"no rows": {[][2]int64{{3, 0}}, true, nil}, "no chunks": {nil, true, nil},
			"an end": {[][2]int64{{0, 9}, {0, 10}}, true, nil}, "a beginning": {[][2]int64{{0, 10}, {1, 9}}, true, nil},
			"gaps": {[][2]int64{{1, 8}, {3, 2}}, true, []chunks.Gap{{1, 1}, {3, 2}, {5, 0}, {8, 1}}}, "no row": {[][2]int64{{1, 8}}, true, []chunks.Gap{{1, 8}}},
			"negative": {[][2]int64{{-1, 3}}, false, nil}, "too many": {[][2]int64{{5, 6}}, false, nil}, "negative rows": {[][2]int64{{5, -1}}, false, nil},
			"a gap before": {[][2]int64{{2, 6}}, false, []chunks.Gap{{1, 2}}}, "a gap behind": {[][2]int64{{2, 6}}, false, []chunks.Gap{{7, 2}}},
			"gaps that overlap": {[][2]int64{{2, 6}}, false, []chunks.Gap{{3, 2}, {4, 1}}}, "a negative gap": {[][2]int64{{2, 6}}, false, []chunks.Gap{{3, -1}}},
		} {
			whole := columnOf(t, values)
			column := chunks.Column{Type: whole.Type}
			var want []arrow.Array
			for i, rows := range c.rows {
				chunk := whole.Chunks[0]
				chunk.First, chunk.Rows = rows[0], rows[1]
				if i == 0 {
					chunk.Gaps = c.gaps
				}
				column.Chunks = append(column.Chunks, chunk)
				if c.ok {
					want = append(want, rowsOf(values, chunk)...)
				}
			}
			if !c.ok {
				_, err := chunks.Decode(t.Context(), m, []chunks.Column{column}, chunks.Options{})
				require.ErrorIs(t, err, device.ErrInvalidValue, name)
				continue
			}
			got := decoded(t, m, []chunks.Column{column})[0]
			if len(want) == 0 {
				require.Zero(t, got.Len())
				continue
			}
			all, err := array.Concatenate(want, arrowmemory.DefaultAllocator)
			require.NoError(t, err)
			require.True(t, array.Equal(all, got), name)
		}
	})
}

// Each kind of damage is an error with its column, chunk and page.
func TestDamage(t *testing.T) {
	integers := pages.Flat{Physical: parquetformat.Int64, Type: arrow.PrimitiveTypes.Int64}
	texts := pages.Flat{Physical: parquetformat.ByteArray, Type: arrow.BinaryTypes.String}
	fixed := pages.Flat{Physical: parquetformat.FixedLenByteArray, Width: 2, Type: arrow.FixedWidthTypes.Float16}
	optional := integers
	optional.MaxDefinition = 1
	dictionary := pagestest.Page{Dictionary: true, Body: make([]byte, 16), Values: 2, Uncompressed: 16}.Bytes()
	page := func(encoding, values int, body ...byte) []byte {
		return pagestest.Page{Body: body, Values: values, Uncompressed: int64(len(body)), Encoding: encoding}.Bytes()
	}
	sum := pagestest.Page{Body: make([]byte, 8), Values: 1, Uncompressed: 8, Checksum: true, Wrong: true}.Bytes()
	snappy := integers
	snappy.Codec = parquetformat.Snappy
	cases := map[string]struct {
		about pages.Flat
		page  []byte
		text  string
	}{
		"values":         {integers, page(pages.Plain, 2, make([]byte, 15)...), ""},
		"levels":         {optional, page(pages.Plain, 1, 9, 0, 0, 0, 2, 1), ""},
		"level":          {optional, page(pages.Plain, 1, 2, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0), "level"},
		"no levels":      {optional, page(pages.Plain, 1, 1, 0, 0), ""},
		"few levels":     {optional, page(pages.Plain, 5, 2, 0, 0, 0, 2, 0), ""},
		"index":          {integers, page(pages.RLEDictionary, 1, 2, 2, 2), "index"},
		"width":          {integers, page(pages.RLEDictionary, 1, 33, 2, 0, 0, 0, 0, 0), "bits"},
		"no indices":     {integers, page(pages.RLEDictionary, 1), ""},
		"indices":        {integers, page(pages.RLEDictionary, 9, 1, 2, 0), ""},
		"string":         {texts, page(pages.Plain, 1, 2, 0, 0, 0, 'a'), ""},
		"strings":        {texts, page(pages.Plain, 2, 1, 0, 0, 0, 'a'), ""},
		"lengths":        {texts, page(pages.DeltaLengthByteArray, 1, 128, 1, 4, 1, 6, 'a'), ""},
		"length":         {texts, page(pages.DeltaLengthByteArray, 1, 128, 1, 4, 1, 1, 'a'), ""},
		"beginning":      {texts, page(pages.DeltaByteArray, 1, 128, 1, 4, 1, 2, 128, 1, 4, 1, 2, 'a'), "shares"},
		"beginnings":     {texts, page(pages.DeltaByteArray, 2, 128, 1, 4, 2, 0, 4, 2, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0, 128, 1, 4, 2, 2, 0, 0, 0, 0, 0, 'a', 'b'), "shares"},
		"more bytes":     {texts, page(pages.DeltaByteArray, 1, 128, 1, 4, 1, 0, 128, 1, 4, 1, 4, 'a'), "length"},
		"a fixed length": {fixed, page(pages.DeltaByteArray, 1, 128, 1, 4, 1, 0, 128, 1, 4, 1, 2, 'a'), "length"},
		"one stream":     {texts, page(pages.DeltaByteArray, 1, 128, 1, 4, 1, 0), ""},
		"blocks":         {integers, page(pages.DeltaBinaryPacked, 2, 0, 4, 2, 0, 0), "delta"},
		"few deltas":     {integers, page(pages.DeltaBinaryPacked, 2, 128, 1, 4, 1, 0), "delta"},
		"cut deltas":     {integers, page(pages.DeltaBinaryPacked, 2, 128, 1, 4, 2, 0, 0, 8, 0, 0, 0), ""},
		"a wide delta":   {integers, page(pages.DeltaBinaryPacked, 2, 128, 1, 4, 2, 0, 0, 65, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), "bits"},
		"split":          {integers, page(pages.ByteStreamSplit, 1, make([]byte, 9)...), ""},
		"checksum":       {integers, sum, "checksum"},
		"compression":    {snappy, pagestest.Page{Body: []byte{8, 0xff, 1}, Values: 1, Uncompressed: 8}.Bytes(), ""},
		"a large claim":  {snappy, pagestest.Page{Body: []byte{8, 0xff, 1}, Values: 1, Uncompressed: 1 << 30}.Bytes(), ""},
		"another length": {integers, pagestest.Page{Body: make([]byte, 8), Values: 1, Uncompressed: 9}.Bytes(), ""},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := guarded(t, dev)
		good := columnOf(t, arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int64, 10))
		for name, c := range cases {
			plan, err := pages.NewPlan(c.page, pages.Column{Values: 1})
			require.NoError(t, err)
			c.about.Values = plan[0].Values
			first := 0
			if plan[0].Indexed() {
				c.page = append(bytes.Clone(dictionary), c.page...)
				first = 1
			}
			before := c.about
			before.Values = 0
			column := chunks.Column{Type: c.about.Type, Chunks: []chunks.Chunk{{About: before}, {About: c.about, Bytes: c.page, Rows: c.about.Values}}}
			_, err = chunks.Decode(t.Context(), m, []chunks.Column{good, column}, chunks.Options{})
			require.ErrorIs(t, err, pages.ErrDamaged, name)
			var damage *chunks.Error
			require.ErrorAs(t, err, &damage, name)
			require.Equal(t, [2]int{1, 1}, [2]int{damage.Column, damage.Chunk}, name)
			if dev.Kind() != device.Host {
				require.Equal(t, first, damage.Page, name)
				require.ErrorContains(t, err, c.text, name)
				require.ErrorContains(t, err, fmt.Sprintf("column 1, chunk 1, page %d: ", first))
			}
		}
	})
}

// Chunks that the kernels do not decode are known before.
func TestUndecodable(t *testing.T) {
	generator := arraytest.NewGenerator(2)
	generator.Nulls = arraytest.NoneNull
	plain := parquet.WithDictionaryDefault(false)
	about := pages.Flat{Physical: parquetformat.FixedLenByteArray, Width: 2, Type: arrow.FixedWidthTypes.Float16}
	about.Values = 2
	body := []byte{128, 1, 4, 1, 0, 128, 1, 4, 1, 4, 'a', 'b'}
	shared := pagestest.Page{Body: body, Values: 1, Uncompressed: int64(len(body)), Encoding: pages.DeltaByteArray}.Bytes()
	for name, c := range map[string]chunks.Column{
		"brotli": columnOf(t, generator.Array(arrow.PrimitiveTypes.Int32, 50), plain, parquet.WithCompression(compress.Codecs.Brotli)),
		"views":  {Type: arrow.BinaryTypes.StringView, Chunks: columnOf(t, generator.Array(arrow.BinaryTypes.String, 50)).Chunks},
		"no dictionary": {
			Type:   &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
			Chunks: columnOf(t, generator.Array(arrow.BinaryTypes.String, 50), plain).Chunks,
		},
		"values of one length that share beginnings in several pages": {
			Type: arrow.FixedWidthTypes.Float16, Chunks: []chunks.Chunk{{About: about, Bytes: append(shared, shared...), Rows: 2}},
		},
	} {
		about := c.Chunks[0].About
		about.Type = c.Type
		plan, err := pages.NewPlan(c.Chunks[0].Bytes, about.Column)
		require.NoError(t, err)
		require.False(t, chunks.Decodable(about, plan), name)
		devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
			_, err := chunks.Decode(t.Context(), devicetest.Manager(t, dev, memory.Options{}), []chunks.Column{c}, chunks.Options{})
			require.ErrorIs(t, err, pages.ErrOther, name)
		})
	}
}

// A chunk with a plan is decoded by it.
func TestPlannedChunk(t *testing.T) {
	values := arraytest.NewGenerator(4).Array(arrow.BinaryTypes.String, 80)
	column := columnOf(t, values, parquet.WithDataPageSize(100), parquet.WithBatchSize(10))
	chunk := &column.Chunks[0]
	var err error
	chunk.Plan, err = pages.NewPlan(chunk.Bytes, chunk.About.Column)
	require.NoError(t, err)
	require.Greater(t, len(chunk.Plan), 3)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		got := decoded(t, devicetest.Manager(t, dev, memory.Options{}), []chunks.Column{column})[0]
		require.True(t, array.Equal(values, got))
	})
}

// Work on another stream is complete, or ordered before other uses of the columns.
func TestDecodeOnStream(t *testing.T) {
	columns := mixedColumns(t)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		want := decoded(t, m, columns)
		stream, err := dev.NewStream()
		require.NoError(t, err)
		defer func() { require.NoError(t, stream.Close()) }()
		list, err := chunks.Decode(t.Context(), m, columns, chunks.Options{Stream: stream})
		require.NoError(t, err)
		for i, c := range list {
			for block := range c.Blocks {
				require.Same(t, stream, block.Stream())
			}
			values, err := c.Array(t.Context())
			require.NoError(t, err)
			require.True(t, array.Equal(want[i], values))
			require.NoError(t, c.Release())
		}
	})
}

// Repetitions of a long string in one page may be longer than offsets reach to.
func TestLongPage(t *testing.T) {
	const rows, length = 2100, 1 << 20
	dictionary, indices := withLength(make([]byte, length)), binary.AppendUvarint([]byte{1}, rows<<1)
	indices = append(indices, 0)
	chunk := pagestest.Page{Dictionary: true, Body: dictionary, Values: 1, Uncompressed: int64(len(dictionary))}.Bytes()
	chunk = append(chunk, pagestest.Page{Body: indices, Values: rows, Uncompressed: int64(len(indices)), Encoding: pages.RLEDictionary}.Bytes()...)
	about := pages.Flat{Column: pages.Column{Values: rows}, Physical: parquetformat.ByteArray, Type: arrow.BinaryTypes.String}
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		column := chunks.Column{Type: about.Type, Chunks: []chunks.Chunk{{About: about, Bytes: chunk, Rows: rows}}}
		_, err := chunks.Decode(t.Context(), devicetest.Manager(t, dev, memory.Options{}), []chunks.Column{column}, chunks.Options{})
		require.ErrorIs(t, err, chunks.ErrLong)
		require.False(t, errors.As(err, new(*chunks.Error)))
	})
}
