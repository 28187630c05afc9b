package source

import (
	"io"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// filterLacks reports whether the Bloom filter of a column chunk has none of the values.
func (g *groupValues) filterLacks(m member) bool {
	leaf, t, ok := g.leaf(m.column)
	if !ok {
		return false
	}
	chunk := g.footer.about(g.index, leaf)
	if !chunk.HasBloom {
		return false
	}
	plain, ok := g.plainLiterals(m, leaf, t)
	if !ok {
		return false
	}
	if g.open() != nil {
		return false
	}
	var from io.ReaderAt = g.opened
	if g.fetched != nil {
		from = g.fetched
	}
	filter, err := pages.NewBloom(from, chunk.Bloom, g.footer.size)
	if err != nil {
		return false
	}
	for _, value := range plain {
		if has, err := filter.Has(xxhash.Sum64(value)); has || err != nil {
			return false
		}
	}
	return true
}

// mostFetchedFilter is the length of a filter at most that is requested as a whole: an answer begins later than the rest of it
// has arrived. Of a longer one the head is requested, and then the blocks of the values.
const mostFetchedFilter = 1 << 20

// filterRange returns where the Bloom filter of a column chunk may be: up to the next part of the file that its footer names, because
// many writers do not note the length of filters.
func (g *groupValues) filterRange(leaf int) (byteRange, bool) {
	chunk := g.footer.about(g.index, leaf)
	begin := chunk.Bloom
	if !chunk.HasBloom || begin < 0 || begin >= g.footer.size {
		return byteRange{}, false
	}
	end := g.footer.nextPart(begin)
	if end-begin > mostFetchedFilter {
		end = min(begin+pages.MostFilterHeader, g.footer.size)
	}
	return byteRange{begin, max(end-begin, min(pages.MostFilterHeader, g.footer.size-begin))}, true
}

// nextPart returns the offset of the first part of the file behind an offset: a column chunk, a filter or an index of another one, or the
// end of the file.
func (f *footer) nextPart(offset int64) int64 {
	f.partsOnce.Do(func() {
		for _, group := range f.metadata.Groups {
			for i := range group.Chunks {
				chunk := &group.Chunks[i]
				f.parts = append(f.parts, chunk.Start(), chunk.Bloom, chunk.ColumnIndex.Offset, chunk.OffsetIndex.Offset)
			}
		}
		slices.Sort(f.parts)
	})
	if i := sort.Search(len(f.parts), func(i int) bool { return f.parts[i] > offset }); i < len(f.parts) {
		return min(f.parts[i], f.size)
	}
	return f.size
}
