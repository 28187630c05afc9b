package source

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// A page index has the bounds of the pages of column chunks (column index) and their places and rows (offset index).
// Conditions leave out rows by the bounds. The rows that are left are spans, common to all columns, and of each column
// the pages are read that have rows of them: they are a column chunk with fewer rows, which all decoders know.

// pageIndices is false if page indices are not used.
var pageIndices = true // tests change it

// span is rows from one on.
type span struct{ first, rows int64 }

func (s span) end() int64 { return s.first + s.rows }

// indexedColumn is the page index of a column chunk.
type indexedColumn struct {
	locations []pages.Location
	ranges    []prune.Range
}

// page returns the number of the page with a row.
func (c *indexedColumn) page(row int64) int { return pageOf(c.locations, row) }

// pageOf returns the number of the last page that begins at a row or before it.
func pageOf(list []pages.Location, row int64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].Row > row }) - 1
}

// excludePages sets the spans of row groups that may have a row which meets the conditions, and possible to false for
// those that have no span. It returns how many these are.
func (s *parquetFiles) excludePages(ctx context.Context, schema *arrow.Schema, groups []rowGroup, where []expr.Expr, counters *Counters, possible []bool) (int64, error) {
	columns := columnsOf(where)
	if len(columns) == 0 || !pageIndices {
		return 0, nil
	}
	indexed := make([]indexedGroup, len(groups))
	err := s.inParallel(ctx, len(groups), func(i int) (err error) {
		indexed[i].rowGroup = groups[i]
		if !possible[i] {
			return nil
		}
		if indexed[i].columns, err = s.pageIndices(ctx, groups[i], columns, counters); err != nil {
			return s.fail(groups[i].file, groups[i].index, damaged(err))
		}
		indexed[i].begin()
		return nil
	})
	if err != nil {
		return 0, err
	}
	var excluded atomic.Int64
	// To compile the conditions takes as long as to evaluate them for a hundred pages.
	step := 1 + len(groups)/runtime.GOMAXPROCS(0)
	err = concurrently(ctx, (len(groups)+step-1)/step, runtime.GOMAXPROCS(0), func(n int) error {
		first := n * step
		spans, err := s.possibleSpans(ctx, schema, indexed[first:min(first+step, len(groups))], where)
		for k, list := range spans {
			i := first + k
			if len(indexed[i].begins) == 0 {
				continue
			}
			if len(list) == 0 {
				possible[i] = false
				excluded.Add(1)
			} else if rows := rowsOf(list); rows < groups[i].rows {
				groups[i].spans, groups[i].rows = list, rows
			}
		}
		return err
	})
	return excluded.Load(), err
}

// columnsOf returns the columns that conditions read.
func columnsOf(where []expr.Expr) (columns []string) {
	for _, condition := range where {
		columns = append(columns, condition.Columns()...)
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

func rowsOf(spans []span) (rows int64) {
	for _, s := range spans {
		rows += s.rows
	}
	return rows
}

// indexedGroup is a row group with the page indices of columns.
type indexedGroup struct {
	rowGroup
	columns map[string]*indexedColumn
	// begins are the beginnings of pages. Between two of them each column has one page.
	begins []int64
}

// begin sets the beginnings.
func (g *indexedGroup) begin() {
	for _, c := range g.columns {
		for _, l := range c.locations {
			g.begins = append(g.begins, l.Row)
		}
	}
	slices.Sort(g.begins)
	g.begins = slices.Compact(g.begins)
	if last := len(g.begins) - 1; last >= 0 && g.begins[last] == g.rows {
		g.begins = g.begins[:last] // of pages without rows
	}
}

// possibleSpans returns the rows of row groups that can meet conditions.
func (s *parquetFiles) possibleSpans(ctx context.Context, schema *arrow.Schema, groups []indexedGroup, where []expr.Expr) ([][]span, error) {
	type place struct {
		group *indexedGroup
		row   int64
	}
	var places []place
	for i := range groups {
		for _, row := range groups[i].begins {
			places = append(places, place{&groups[i], row})
		}
	}
	possible, err := prune.Possible(ctx, schema, where, len(places), func(part int, column string) prune.Range {
		g := places[part].group
		if c := g.columns[column]; c != nil {
			return c.ranges[c.page(places[part].row)]
		}
		return s.statistics(g.file, g.footer, g.index, column)
	})
	if err != nil {
		return nil, err
	}
	spans := make([][]span, len(groups))
	for i := range groups {
		begins := groups[i].begins
		spans[i] = groups[i].spansOf(possible[:len(begins)])
		possible = possible[len(begins):]
	}
	return spans, nil
}

// spansOf returns the rows behind the beginnings that are possible.
func (g *indexedGroup) spansOf(possible []bool) (spans []span) {
	for i, first := range g.begins {
		end := g.rows
		if i+1 < len(g.begins) {
			end = g.begins[i+1]
		}
		if !possible[i] {
			continue
		}
		if last := len(spans) - 1; last >= 0 && spans[last].end() == first {
			spans[last].rows += end - first
		} else {
			spans = append(spans, span{first, end - first})
		}
	}
	return spans
}

// pageIndices reads the page indices of columns of a row group, as far as it has them.
func (s *parquetFiles) pageIndices(ctx context.Context, group rowGroup, columns []string, counters *Counters) (map[string]*indexedColumn, error) {
	indices := map[string]*indexedColumn{}
	g := groupValues{rowGroup: group, ctx: ctx, counters: counters}
	defer g.close()
	var leaves []int
	for _, column := range columns {
		if leaf, _, ok := g.indexed(s, column); !ok {
			continue
		} else if kept := group.footer.indices.get(group.index, leaf); kept != nil {
			indices[column] = kept
		} else {
			leaves = append(leaves, leaf)
		}
	}
	if len(leaves) == 0 {
		return indices, nil
	}
	from, err := g.indexReader(leaves)
	if err != nil {
		return nil, err
	}
	for _, column := range columns {
		leaf, t, ok := g.indexed(s, column)
		if !ok || indices[column] != nil {
			continue
		}
		c, err := group.footer.indexOf(from, group.index, leaf, t)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", column, err)
		}
		group.footer.indices.keep(group.index, leaf, c)
		indices[column] = c
	}
	return indices, nil
}

// indexed returns the leaf of a column with a page index in the row group.
func (g *groupValues) indexed(s *parquetFiles, column string) (leaf int, t arrow.DataType, ok bool) {
	if s.isPartition(column) || g.rows == 0 {
		return 0, nil, false
	}
	leaf, t, ok = g.leaf(column)
	return leaf, t, ok && g.footer.hasPageIndex(g.index, leaf)
}

// keptIndices are page indices that were read. The zero value is empty. It is safe for concurrent use.
type keptIndices struct {
	mu      sync.Mutex
	columns map[chunkPlace]*indexedColumn
	pages   int
}

// chunkPlace is the place of a column chunk in a file.
type chunkPlace struct{ rowGroup, leaf int }

// mostKeptPages is the number of pages of a file that the kept indices have: about 20 MiB.
const mostKeptPages = 128 << 10

func (k *keptIndices) get(rowGroup, leaf int) *indexedColumn {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.columns[chunkPlace{rowGroup, leaf}]
}

func (k *keptIndices) keep(rowGroup, leaf int, c *indexedColumn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pages += len(c.locations); k.pages > mostKeptPages {
		k.columns, k.pages = nil, len(c.locations)
	}
	if k.columns == nil {
		k.columns = map[chunkPlace]*indexedColumn{}
	}
	k.columns[chunkPlace{rowGroup, leaf}] = c
}

// hasPageIndex reports whether a column chunk has a column index and an offset index.
func (f *footer) hasPageIndex(rowGroup, leaf int) bool {
	chunk := f.about(rowGroup, leaf)
	return chunk.ColumnIndex.IsKnown() && f.hasLocations(rowGroup, leaf)
}

// hasLocations reports whether a column chunk has an offset index.
func (f *footer) hasLocations(rowGroup, leaf int) bool {
	chunk := f.about(rowGroup, leaf)
	return chunk.OffsetIndex.IsKnown() && !chunk.IsEncrypted
}

// indexOf reads the page index of a column chunk of a type.
func (f *footer) indexOf(from io.ReaderAt, rowGroup, leaf int, t arrow.DataType) (*indexedColumn, error) {
	chunk, column := f.about(rowGroup, leaf), f.column(leaf)
	locations, err := f.locations(from, rowGroup, leaf)
	if err != nil {
		return nil, err
	}
	data, err := f.indexBytes(from, chunk.ColumnIndex)
	if err != nil {
		return nil, err
	}
	bounds, err := pages.ColumnIndex(data)
	if err != nil {
		return nil, err
	}
	if len(bounds) != len(locations) {
		return nil, fmt.Errorf("the column index has %d pages, the offset index %d: %w", len(bounds), len(locations), ErrContents)
	}
	c := &indexedColumn{locations: locations, ranges: make([]prune.Range, len(bounds))}
	for i, b := range bounds {
		r, rows := &c.ranges[i], c.rows(i, chunk.Values)
		*r = prune.Unknown
		if rows == 0 && !b.Null {
			return nil, fmt.Errorf("page %d has values by the column index, and no row by the offset index: %w", i, ErrContents)
		}
		if b.Nulls <= rows && b.Nulls >= 0 {
			r.Nulls, r.Valid = b.Nulls, rows-b.Nulls
		}
		if b.Null && (b.Nulls < 0 || b.Nulls == rows) {
			r.Nulls, r.Valid = rows, 0
		} else if !b.Null && column.Ordered {
			r.Low, r.High = f.decodeBounds(b.Low, b.High, column, t)
		}
		if (r.Valid == 0) != b.Null {
			*r = prune.Unknown // the index contradicts itself
		}
	}
	return c, nil
}

// rows returns the number of rows of a page of a column chunk.
func (c *indexedColumn) rows(page int, all int64) int64 {
	if page+1 < len(c.locations) {
		all = c.locations[page+1].Row
	}
	return all - c.locations[page].Row
}

// locations reads the offset index of a column chunk that is no part of a list.
func (f *footer) locations(from io.ReaderAt, rowGroup, leaf int) ([]pages.Location, error) {
	chunk := f.about(rowGroup, leaf)
	data, err := f.indexBytes(from, chunk.OffsetIndex)
	if err != nil {
		return nil, err
	}
	begin := chunk.Start()
	return pages.OffsetIndex(data, begin, begin+chunk.Compressed, chunk.Values)
}

// indexBytes reads an index.
func (f *footer) indexBytes(from io.ReaderAt, index parquetformat.Place) ([]byte, error) {
	if err := f.checkIndex(index); err != nil {
		return nil, err
	}
	data := make([]byte, index.Length)
	return data, readPart(from, data, index.Offset)
}

// chunkPart is the bytes of a column chunk that are read: the dictionary and the pages with rows of spans.
type chunkPart struct {
	begin  int64 // place of the column chunk in the file
	parts  []span
	length int64 // of all parts
	// pages are those that are read, by their places in the file and their rows in the row group. places are their places
	// and rows in the bytes that are read. rows is the number of rows. Both lists are nil for a whole column chunk.
	pages, places []pages.Location
	rows          int64
	// skipped is the number of pages that are left out.
	skipped int
}

// chunkPart returns the bytes of a column chunk that have to be read.
func (d *groupDecoder) chunkPart(leaf int) (p *chunkPart, err error) {
	f, index := d.group.footer, d.group.index
	chunk := f.about(index, leaf)
	p = &chunkPart{begin: f.startOf(index, leaf), length: chunk.Compressed, rows: d.group.all()}
	// A string may share its beginning with one of the page before.
	if d.group.spans == nil || !f.hasLocations(index, leaf) || f.encoded(index, leaf, pages.DeltaByteArray) {
		p.parts = []span{{p.begin, p.length}}
		return p, nil
	}
	locations, err := f.locations(d.from, index, leaf)
	if err != nil {
		return nil, err
	}
	p.choose(locations, d.group)
	p.skipped = len(locations) - len(p.pages)
	return p, nil
}

// count counts what was read of a column chunk, if the row group has spans: otherwise its bytes are counted before.
func (d *groupDecoder) count(p *chunkPart) {
	if d.group.spans != nil {
		d.counters.FileBytes.Add(p.length)
		d.counters.Pages.Add(int64(len(p.pages)))
		d.counters.SkippedPages.Add(int64(p.skipped))
	}
}

// choose chooses the pages with rows of the spans of a row group.
func (p *chunkPart) choose(locations []pages.Location, group rowGroup) {
	p.length, p.rows = 0, 0
	p.add(span{p.begin, locations[0].Offset - p.begin}) // the dictionary
	spans := group.spans
	for i, l := range locations {
		end := group.all()
		if i+1 < len(locations) {
			end = locations[i+1].Row
		}
		for len(spans) > 0 && spans[0].end() <= l.Row {
			spans = spans[1:]
		}
		if end == l.Row || len(spans) == 0 || spans[0].first >= end {
			continue
		}
		p.pages = append(p.pages, l)
		p.places = append(p.places, pages.Location{Offset: p.length, Length: l.Length, Row: p.rows})
		p.add(span{l.Offset, l.Length})
		p.rows += end - l.Row
	}
}

// add adds bytes of the file.
func (p *chunkPart) add(bytes span) {
	p.length += bytes.rows
	if last := len(p.parts) - 1; last >= 0 && p.parts[last].end() == bytes.first {
		p.parts[last].rows += bytes.rows
	} else if bytes.rows > 0 {
		p.parts = append(p.parts, bytes)
	}
}

// read reads the bytes.
func (p *chunkPart) read(from io.ReaderAt, to []byte) error {
	for _, part := range p.parts {
		if err := readPart(from, to[:part.rows], part.first); err != nil {
			return err
		}
		to = to[part.rows:]
	}
	return nil
}

// check compares the pages with the plan of the bytes.
func (p *chunkPart) check(plan pages.Plan) error {
	if p.pages == nil {
		return nil
	}
	k := 0
	for _, page := range plan {
		if !page.HasValues() {
			continue
		}
		if k == len(p.places) {
			return fmt.Errorf("there are more than %d pages: %w", k, errIndex)
		}
		l, end := p.places[k], p.rows
		if k+1 < len(p.places) {
			end = p.places[k+1].Row
		}
		header := int64(page.At - page.Length)
		if header != l.Offset || int64(page.Length+page.Compressed) != l.Length || page.Values != end-l.Row || page.Encoding == pages.DeltaByteArray {
			return fmt.Errorf("the page at byte %d of the file has %d bytes and %d values of encoding %d, %d bytes and %d rows by its index: %w",
				p.pages[k].Offset, page.Length+page.Compressed, page.Values, page.Encoding, l.Length, end-l.Row, errIndex)
		}
		k++
	}
	if k < len(p.places) {
		return fmt.Errorf("%d of %d pages have all rows: %w", k, len(p.places), errIndex)
	}
	return nil
}

// errIndex reports a page index that disagrees with pages.
var errIndex = fmt.Errorf("the page index does not describe the pages: %w", ErrContents)

// place returns the number of a row of the row group among those that are read.
func (p *chunkPart) place(row int64) int64 {
	if p.pages == nil {
		return row
	}
	k := pageOf(p.pages, row)
	return p.places[k].Row + row - p.pages[k].Row
}
