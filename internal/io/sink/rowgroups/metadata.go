package rowgroups

import (
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// storedChunk is a column chunk in the file.
type storedChunk struct {
	*chunk
	codec parquetformat.Codec
	// begin is the offset of its first page, data that of its first data page.
	begin, data int64
	// uncompressed and compressed are the lengths of its pages with their headers.
	uncompressed, compressed int64
	places                   []pagePlace
	headers                  [][]byte
	bloomBegin               int64
	bloomLength              int
	columnIndex, offsetIndex indexPlace
}

// indexPlace is an index and its place in the file.
type indexPlace struct {
	data  []byte
	begin int64
}

// storedGroup is a row group in the file.
type storedGroup struct {
	chunks []*storedChunk
	rows   int
	begin  int64
}

// mostOrdinal is the number of a row group that the metadata hold.
const mostOrdinal = 1<<15 - 1

// appendMetadata appends the metadata of a row group.
func (g *storedGroup) appendMetadata(t *thrift.Encoder, ordinal int) {
	var uncompressed, compressed int64
	t.Objects(1, len(g.chunks), func(i int) {
		k := g.chunks[i]
		uncompressed, compressed = uncompressed+k.uncompressed, compressed+k.compressed
		t.Int64(2, 0)
		t.Object(3, func() { k.appendMetadata(t) })
		t.Int64(4, k.offsetIndex.begin)
		t.Int32(5, int64(len(k.offsetIndex.data)))
		if k.columnIndex.data != nil {
			t.Int64(6, k.columnIndex.begin)
			t.Int32(7, int64(len(k.columnIndex.data)))
		}
	})
	t.Int64(2, uncompressed)
	t.Int64(3, int64(g.rows))
	t.Int64(5, g.begin)
	t.Int64(6, compressed)
	if ordinal <= mostOrdinal {
		t.Int16(7, int64(ordinal))
	}
}

// pagePlace is the place of a data page in the file, with its header.
type pagePlace struct{ offset, length int64 }

// newStoredChunk places the pages of a column chunk in the file.
func newStoredChunk(c *groupChunk, codec parquetformat.Codec, begin int64) *storedChunk {
	k := &storedChunk{chunk: c.chunk, codec: codec, begin: begin, data: begin}
	if c.stored {
		k.codec = parquetformat.Uncompressed
	}
	bodies := c.bodies
	if k.distinct > 0 {
		k.place(pageHeader(pages.DictionaryPage, pages.Plain, k.distinct, k.dictionary, bodies[0]), k.dictionary, bodies[0])
		bodies, k.data = bodies[1:], begin+k.compressed
	}
	for i, p := range k.pages {
		at := begin + k.compressed
		k.place(pageHeader(pages.DataPage, k.encoding, p.entries, p, bodies[i]), p, bodies[i])
		k.places = append(k.places, pagePlace{at, begin + k.compressed - at})
	}
	if k.hasIndex() {
		k.columnIndex.data = k.encodeColumnIndex()
	}
	k.offsetIndex.data = k.encodeOffsetIndex()
	return k
}

// place adds a page to the lengths of the chunk.
func (k *storedChunk) place(header []byte, p page, body pageBody) {
	k.headers = append(k.headers, header)
	k.uncompressed += int64(len(header) + p.end - p.begin)
	k.compressed += int64(len(header) + len(body.data))
}

// copyPages copies the pages with their headers.
func (k *storedChunk) copyPages(to []byte, bodies []pageBody) {
	for i, body := range bodies {
		to = to[copy(to, k.headers[i]):]
		to = to[copy(to, body.data):]
	}
}

// pageHeader encodes the header of a page.
func pageHeader(kind, encoding, values int, p page, body pageBody) []byte {
	t := &thrift.Encoder{}
	t.Int32(1, int64(kind))
	t.Int32(2, int64(p.end-p.begin))
	t.Int32(3, int64(len(body.data)))
	t.Int32(4, int64(int32(body.sum)))
	if kind == pages.DictionaryPage {
		t.Object(7, func() {
			t.Int32(1, int64(values))
			t.Int32(2, int64(encoding))
			t.Flag(3, true) // sorted
		})
	} else {
		t.Object(5, func() {
			t.Int32(1, int64(values))
			t.Int32(2, int64(encoding))
			t.Int32(3, pages.RLE)
			t.Int32(4, pages.RLE)
		})
	}
	t.End()
	return t.Data
}

// encodeColumnIndex encodes the bounds and nulls of the pages.
func (k *storedChunk) encodeColumnIndex() []byte {
	t := &thrift.Encoder{}
	t.List(1, thrift.True, len(k.pages), func(i int) {
		if k.pages[i].values == 0 {
			t.Data = append(t.Data, thrift.True)
		} else {
			t.Data = append(t.Data, thrift.False)
		}
	})
	t.List(2, thrift.Binary, len(k.pages), func(i int) { t.Data = thrift.AppendBinary(t.Data, k.pages[i].bounds.low.value) })
	t.List(3, thrift.Binary, len(k.pages), func(i int) { t.Data = thrift.AppendBinary(t.Data, k.pages[i].bounds.high.value) })
	t.Int32(4, k.boundaryOrder())
	t.List(5, thrift.Int64, len(k.pages), func(i int) { t.Varint(int64(k.pages[i].entries - k.pages[i].values)) })
	t.End()
	return t.Data
}

// boundaryOrder returns how the bounds of the pages are sorted: 1 ascending, 2 descending, 0 not.
func (k *storedChunk) boundaryOrder() int64 {
	ascending, descending := true, true
	var last *page
	for i := range k.pages {
		p := &k.pages[i]
		if p.values == 0 {
			continue
		}
		if last != nil {
			low := k.leaf.order.compare(last.bounds.low.value, p.bounds.low.value)
			high := k.leaf.order.compare(last.bounds.high.value, p.bounds.high.value)
			ascending, descending = ascending && low <= 0 && high <= 0, descending && low >= 0 && high >= 0
		}
		last = p
	}
	switch {
	case ascending:
		return 1
	case descending:
		return 2
	}
	return 0
}

// encodeOffsetIndex encodes the places of the pages.
func (k *storedChunk) encodeOffsetIndex() []byte {
	t := &thrift.Encoder{}
	row := 0
	t.Objects(1, len(k.places), func(i int) {
		t.Int64(1, k.places[i].offset)
		t.Int32(2, k.places[i].length)
		t.Int64(3, int64(row))
		row += k.pages[i].rows
	})
	t.End()
	return t.Data
}

// appendStatistics appends the statistics of the chunk.
func (k *storedChunk) appendStatistics(t *thrift.Encoder) {
	t.Int64(3, int64(k.rows.count-k.rows.valid))
	if k.distinct > 0 {
		t.Int64(4, int64(k.distinct))
	}
	if !k.bounds.known() {
		return
	}
	t.Binary(5, k.bounds.high.value)
	t.Binary(6, k.bounds.low.value)
	t.Flag(7, k.bounds.high.exact)
	t.Flag(8, k.bounds.low.exact)
}

// appendMetadata appends the metadata of a column chunk to those of a row group.
func (k *storedChunk) appendMetadata(t *thrift.Encoder) {
	encodings := []int{pages.RLE, k.encoding} // of the levels, the values, the dictionary
	if k.distinct > 0 {
		encodings = append(encodings, pages.Plain)
	}
	t.Int32(1, int64(k.leaf.physical))
	t.List(2, thrift.Int32, len(encodings), func(i int) { t.Varint(int64(encodings[i])) })
	t.List(3, thrift.Binary, len(k.leaf.parts), func(i int) { t.Data = thrift.AppendBinary(t.Data, []byte(k.leaf.parts[i])) })
	t.Int32(4, int64(k.codec))
	t.Int64(5, int64(k.rows.count))
	t.Int64(6, k.uncompressed)
	t.Int64(7, k.compressed)
	t.Int64(9, k.data)
	if k.distinct > 0 {
		t.Int64(11, k.begin)
	}
	t.Object(12, func() { k.appendStatistics(t) })
	kinds := []struct{ page, encoding, count int }{{pages.DataPage, k.encoding, len(k.pages)}}
	if k.distinct > 0 {
		kinds = append(kinds, struct{ page, encoding, count int }{pages.DictionaryPage, pages.Plain, 1})
	}
	t.Objects(13, len(kinds), func(i int) {
		t.Int32(1, int64(kinds[i].page))
		t.Int32(2, int64(kinds[i].encoding))
		t.Int32(3, int64(kinds[i].count))
	})
	if k.bloomLength > 0 {
		t.Int64(14, k.bloomBegin)
		t.Int32(15, int64(k.bloomLength))
	}
}
