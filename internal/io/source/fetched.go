package source

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// A row group of an object in a store is fetched before it is decoded: all its ranges that the query needs, by requests at the
// same time, into the memory from which a device copies. Decoders then read memory.

var ( // tests change them
	// mostFetchGap is the number of bytes between two ranges that one request reads: a connection that has 50 to 100 MB/s
	// takes 1 to 2 ms for them, an answer tens of them.
	mostFetchGap int64 = 128 << 10
	// fetchPiece is the length of a request at most: longer ranges are divided, because stores limit the rate of a
	// connection.
	fetchPiece = 4 << 20
)

// mostRequests is the number of requests for row groups that the readers of a query send at a time, and of the files of
// which a source reads footers or page indices at a time. Texts have as many blocks in advance at most. With 50 ms
// until an answer begins, 64 requests of 1 MiB are 1.3 GB/s.
const mostRequests = 64

// fetched is ranges of an object in memory.
type fetched struct {
	from  *objectReader
	parts []fetchedPart // in the order of the object
}

type fetchedPart struct {
	byteRange
	bytes *arrowmemory.Buffer
}

// byteRange is a range of bytes of an object.
type byteRange struct{ offset, length int64 }

func (r byteRange) end() int64 { return r.offset + r.length }

// find returns the part that has a range, or nil.
func (f *fetched) find(bytes byteRange) *fetchedPart {
	i := sort.Search(len(f.parts), func(i int) bool { return f.parts[i].end() > bytes.offset })
	if i < len(f.parts) && f.parts[i].offset <= bytes.offset && bytes.end() <= f.parts[i].end() {
		return &f.parts[i]
	}
	return nil
}

// ReadAt implements [io.ReaderAt]. Ranges that were not fetched are read from the store.
func (f *fetched) ReadAt(p []byte, offset int64) (int, error) {
	if part := f.find(byteRange{offset, int64(len(p))}); part != nil {
		return copy(p, part.bytes.Bytes()[offset-part.offset:]), nil
	}
	n, err := f.from.ReadAt(p, offset)
	return n, readError(err)
}

func (f *fetched) release() {
	for _, part := range f.parts {
		part.bytes.Release()
	}
	f.parts = nil
}

// fetch adds ranges, those that are near each other together. begin waits until a request may be sent, and returns what ends it.
func (f *fetched) fetch(query context.Context, ranges []byteRange, allocator arrowmemory.Allocator, begin func() (end func())) error {
	ctx, stop := context.WithCancelCause(query)
	defer stop(nil)
	var fetching sync.WaitGroup
	parts := joined(ranges)
	for i := 0; i < len(parts) && ctx.Err() == nil; i++ {
		parts[i].bytes = uninitialized(allocator, int(parts[i].length))
		at := parts[i].offset
		for piece := range slices.Chunk(parts[i].bytes.Bytes(), fetchPiece) {
			if ctx.Err() != nil {
				break // without a wait for the turns of requests that would not be sent
			}
			offset := at
			at += int64(len(piece))
			end := begin()
			fetching.Go(func() {
				defer end()
				err := context.Cause(ctx)
				if err == nil {
					err = f.from.read(ctx, piece, offset)
				}
				if err != nil {
					stop(err) // the first error ends the others
				}
			})
		}
	}
	fetching.Wait()
	for _, part := range parts {
		if part.bytes != nil {
			f.parts = append(f.parts, part)
		}
	}
	slices.SortFunc(f.parts, func(a, b fetchedPart) int { return cmp.Compare(a.offset, b.offset) })
	if err := cancel.Error(query); err != nil {
		return readError(err)
	}
	return readError(context.Cause(ctx))
}

// noTurn does not wait: the context limits the requests, see [requestLimit].
func noTurn() (end func()) { return func() {} }

// joined returns the parts that have ranges, without memory.
func joined(ranges []byteRange) (parts []fetchedPart) {
	slices.SortFunc(ranges, func(a, b byteRange) int { return cmp.Compare(a.offset, b.offset) })
	for _, bytes := range ranges {
		if last := len(parts) - 1; last >= 0 && bytes.offset <= parts[last].end()+mostFetchGap {
			parts[last].length = max(parts[last].length, bytes.end()-parts[last].offset)
		} else if bytes.length > 0 {
			parts = append(parts, fetchedPart{byteRange: bytes})
		}
	}
	return parts
}

// fetchGroup fetches the row group, if its file is an object of a store.
func (d *groupDecoder) fetchGroup(ctx context.Context, from *opened) (err error) {
	if from.remote == nil {
		return nil
	}
	d.fetched = &fetched{from: from.remote}
	d.from = d.fetched
	begin := func() (end func()) {
		d.processors.beginRequest(d.part)
		return d.processors.endRequest
	}
	if err := d.fetched.fetch(ctx, d.locationRanges(), arrowmemory.DefaultAllocator, begin); err != nil {
		return err
	}
	ranges, err := d.chunkRanges()
	if err != nil {
		return err
	}
	return d.fetched.fetch(ctx, ranges, d.allocator, begin)
}

// locationRanges are the offset indices of the columns, if the row group has spans.
func (d *groupDecoder) locationRanges() (ranges []byteRange) {
	if d.group.spans == nil {
		return nil
	}
	for _, leaf := range slices.Concat(d.leaves...) {
		if d.group.footer.hasLocations(d.group.index, leaf) {
			chunk := d.group.footer.about(d.group.index, leaf)
			ranges = d.group.footer.addIndex(ranges, chunk.OffsetIndex)
		}
	}
	return ranges
}

// addIndex adds the range of a page index, unless the file does not have it: then reading it is an error.
func (f *footer) addIndex(ranges []byteRange, index parquetformat.Place) []byteRange {
	if f.checkIndex(index) != nil {
		return ranges
	}
	return append(ranges, byteRange{index.Offset, int64(index.Length)})
}

// chunkRanges are the ranges of the columns.
func (d *groupDecoder) chunkRanges() (ranges []byteRange, err error) {
	for i, leaves := range d.leaves {
		_, flat := d.flat(i)
		for _, leaf := range leaves {
			if !flat {
				about := d.group.footer.about(d.group.index, leaf)
				ranges = append(ranges, byteRange{d.group.footer.startOf(d.group.index, leaf), about.Compressed})
				continue
			}
			part, err := d.chunkPart(leaf)
			if err != nil {
				return nil, err
			}
			for _, bytes := range part.parts {
				ranges = append(ranges, byteRange{bytes.first, bytes.rows})
			}
		}
	}
	return ranges, nil
}

// sliceFetched sets the bytes of the columns that the device decodes to those that were fetched.
func (d *groupDecoder) sliceFetched(list []region) {
	for _, r := range list {
		for _, i := range r.columns {
			bytes := byteRange{d.parts[i].parts[0].first, d.parts[i].parts[0].rows}
			if part := d.fetched.find(bytes); part != nil {
				d.bytesOf[i] = arrowmemory.SliceBuffer(part.bytes, int(bytes.offset-part.offset), int(bytes.length))
			}
		}
	}
}

// indexReader returns what page indices of columns of a row group are read from. Those of an object are fetched together.
func (g *groupValues) indexReader(leaves []int) (io.ReaderAt, error) {
	if err := g.open(); err != nil {
		return nil, err
	}
	if g.opened.remote == nil {
		return g.opened, nil
	}
	var ranges []byteRange
	for _, leaf := range leaves {
		chunk := g.footer.about(g.index, leaf)
		ranges = g.footer.addIndex(ranges, chunk.OffsetIndex)
		ranges = g.footer.addIndex(ranges, chunk.ColumnIndex)
	}
	f := &fetched{from: g.opened.remote}
	return f, f.fetch(g.ctx, ranges, arrowmemory.DefaultAllocator, noTurn)
}

// checkIndex returns the error of a page index that the file does not have.
func (f *footer) checkIndex(index parquetformat.Place) error {
	offset, length := index.Offset, index.Length
	if offset < 0 || length < 0 || offset > f.size || int64(length) > f.size-offset {
		return fmt.Errorf("a page index has %d bytes from byte %d on, the file %d: %w", length, offset, f.size, ErrContents)
	}
	return nil
}
