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

// mostRequests is the number of requests that the readers of a query send at a time. With 50 ms until an answer
// begins, 64 of 1 MiB are 1.3 GB/s.
const mostRequests = 64

// fetched is ranges of an object in memory.
type fetched struct {
	from  *objectReader
	parts []fetchedPart // in the order of the object
}

type fetchedPart struct {
	span
	bytes *arrowmemory.Buffer
}

// find returns the part that has a range, or nil.
func (f *fetched) find(bytes span) *fetchedPart {
	i := sort.Search(len(f.parts), func(i int) bool { return f.parts[i].end() > bytes.first })
	if i < len(f.parts) && f.parts[i].first <= bytes.first && bytes.end() <= f.parts[i].end() {
		return &f.parts[i]
	}
	return nil
}

// ReadAt implements [io.ReaderAt]. Ranges that were not fetched are read from the store.
func (f *fetched) ReadAt(p []byte, offset int64) (int, error) {
	if part := f.find(span{offset, int64(len(p))}); part != nil {
		return copy(p, part.bytes.Bytes()[offset-part.first:]), nil
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
func (f *fetched) fetch(ctx context.Context, ranges []span, allocator arrowmemory.Allocator, begin func() (end func())) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var fetching sync.WaitGroup
	parts := joined(ranges)
	for i, part := range parts {
		parts[i].bytes = uninitialized(allocator, int(part.rows))
		at := part.first
		for piece := range slices.Chunk(parts[i].bytes.Bytes(), fetchPiece) {
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
	f.parts = append(f.parts, parts...)
	slices.SortFunc(f.parts, func(a, b fetchedPart) int { return cmp.Compare(a.first, b.first) })
	return readError(context.Cause(ctx))
}

// joined returns the parts that have ranges, without memory.
func joined(ranges []span) (parts []fetchedPart) {
	slices.SortFunc(ranges, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	for _, bytes := range ranges {
		if last := len(parts) - 1; last >= 0 && bytes.first <= parts[last].end()+mostFetchGap {
			parts[last].rows = max(parts[last].rows, bytes.end()-parts[last].first)
		} else if bytes.rows > 0 {
			parts = append(parts, fetchedPart{span: bytes})
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
	d.checks = newChecks(d.fetched)
	if d.reader, err = d.arrowReader(d.checks, d.group.footer.size, d.group.footer.metadata); err != nil {
		return err
	}
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
func (d *groupDecoder) locationRanges() (ranges []span) {
	if d.group.spans == nil {
		return nil
	}
	for _, leaf := range slices.Concat(d.leaves...) {
		if d.group.footer.hasLocations(d.group.index, leaf) {
			chunk := d.group.footer.metadata.GetRowGroups()[d.group.index].GetColumns()[leaf]
			ranges = d.group.footer.addIndex(ranges, chunk.GetOffsetIndexOffset(), chunk.GetOffsetIndexLength())
		}
	}
	return ranges
}

// addIndex adds the range of a page index, unless the file does not have it: then reading it is an error.
func (f *footer) addIndex(ranges []span, offset int64, length int32) []span {
	if f.checkIndex(offset, length) != nil {
		return ranges
	}
	return append(ranges, span{offset, int64(length)})
}

// chunkRanges are the ranges of the columns.
func (d *groupDecoder) chunkRanges() (ranges []span, err error) {
	for i, leaves := range d.leaves {
		_, flat := d.flat(i)
		for _, leaf := range leaves {
			if !flat {
				about := d.group.footer.metadata.GetRowGroups()[d.group.index].GetColumns()[leaf].GetMetaData()
				ranges = append(ranges, span{d.group.footer.startOf(d.group.index, leaf), about.GetTotalCompressedSize()})
				continue
			}
			part, err := d.chunkPart(leaf)
			if err != nil {
				return nil, err
			}
			ranges = append(ranges, part.parts...)
		}
	}
	return ranges, nil
}

// sliceFetched sets the bytes of the columns that the device decodes to those that were fetched.
func (d *groupDecoder) sliceFetched(list []region) {
	for _, r := range list {
		for _, i := range r.columns {
			bytes := d.parts[i].parts[0]
			if part := d.fetched.find(bytes); part != nil {
				d.bytesOf[i] = arrowmemory.SliceBuffer(part.bytes, int(bytes.first-part.first), int(bytes.rows))
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
	var ranges []span
	for _, leaf := range leaves {
		chunk := g.footer.metadata.GetRowGroups()[g.index].GetColumns()[leaf]
		ranges = g.footer.addIndex(ranges, chunk.GetOffsetIndexOffset(), chunk.GetOffsetIndexLength())
		ranges = g.footer.addIndex(ranges, chunk.GetColumnIndexOffset(), chunk.GetColumnIndexLength())
	}
	f := &fetched{from: g.opened.remote}
	return f, f.fetch(g.ctx, ranges, arrowmemory.DefaultAllocator, func() func() { return func() {} })
}

// checkIndex returns the error of a page index that the file does not have.
func (f *footer) checkIndex(offset int64, length int32) error {
	if offset < 0 || length < 0 || offset > f.size || int64(length) > f.size-offset {
		return fmt.Errorf("a page index has %d bytes from byte %d on, the file %d: %w", length, offset, f.size, ErrContents)
	}
	return nil
}
