package chunks

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/decompress"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// decodedRows are rows of pages, of which those of spans are decoded, length together.
type decodedRows struct {
	rows, length uint64
	spans        []rowSpan
}

// rowSpan is rows from one on.
type rowSpan struct{ first, rows uint64 }

// add adds rows to those that are decoded.
func (w *decodedRows) add(first, rows uint64) {
	if last := len(w.spans) - 1; last >= 0 && w.spans[last].first+w.spans[last].rows == first {
		w.spans[last].rows += rows
	} else {
		w.spans = append(w.spans, rowSpan{first, rows})
	}
	w.length += rows
}

// addChunk adds the rows of a chunk behind the rows so far, of which more precede its first row.
func (w *decodedRows) addChunk(c *Chunk, before, rows int64) {
	shift := int64(w.rows) + before - c.First
	_ = c.each(func(first, rows int64) error {
		w.add(uint64(first+shift), uint64(rows))
		return nil
	})
	w.rows += uint64(rows)
}

// target is a column of values that is decoded, or a leaf of one of lists and structs.
type target struct {
	column   int
	dataType arrow.DataType
	// The rows of a leaf are its entries.
	decodedRows
	nullable       bool
	values, bitmap place
	// strings is the type of the strings of the column or of its dictionary, or nil.
	strings arrow.DataType
	// pages are the numbers of the pages with its rows, dictionaries those of its dictionaries, which have
	// entries values together.
	pages, dictionaries []uint32
	entries             uint64
	// planned is the number of rows of the pages that are planned.
	planned uint64
	// levels are those of a leaf.
	levels *leafLevels
}

// output is a column, of which the first target has a number. It has one, or nested has the others.
type output struct {
	first  int
	nested *nestedColumn
}

// planner describes the pages of columns for the kernels.
type planner struct {
	spaces  spaces
	pages   []page
	origins []origin
	targets []target
	// sources are the bytes of the space input, listed those of the space lists.
	sources, listed []memory.Source
	// groups are the tiles of each kernel that writes rows, indices the pages of indices.
	dictionaryTiles, tiles    tileGroups
	optional                  work // pages with levels
	indices, prefixes, deltas work
	// plainStrings are the pages of strings behind their lengths, indexedStrings those with indices or with lengths
	// apart, fixed those of values of one length that share their beginnings.
	plainStrings, indexedStrings, fixed work
	packed                              map[decompress.Codec]*packed
	outputs                             []output
	checksums
	nest
}

// work is pages that need a kernel, and their tiles.
type work struct {
	numbers []uint32
	tiles   []tile
}

func (w *work) add(number uint32, p *page) {
	w.numbers = append(w.numbers, number)
	p.eachTile(func(first uint32) { w.tiles = append(w.tiles, tile{number, first}) })
}

// origin is where a page is from: an error without a cause, and the compression.
type origin struct {
	Error
	codec decompress.Codec
}

// tileGroups are the tiles of each kernel.
type tileGroups map[string][]tile

func (g tileGroups) add(number uint32, p *page) {
	kernel := "write_converted"
	switch {
	case p.encoding == split:
		kernel = "write_split"
	case p.form == copied4 || p.form == copied8:
		kernel = "write_copied"
	}
	tiles := g[kernel]
	p.eachTile(func(first uint32) { tiles = append(tiles, tile{number, first}) })
	if len(tiles) > 0 {
		g[kernel] = tiles
	}
}

// column plans a column.
func (p *planner) column(index int, c *Column) error {
	p.outputs = append(p.outputs, output{first: len(p.targets)})
	if c.Nested != nil {
		return p.nested(index, c)
	}
	return p.target(index, &target{column: index, dataType: c.Type}, c.Chunks)
}

// target plans a column of values.
func (p *planner) target(index int, t *target, chunks []Chunk) error {
	var list []selected
	for i := range chunks {
		chunk := chunks[i]
		if chunk.Rows == 0 {
			continue
		}
		chunk.About.Type = t.dataType
		s, err := pagesOf(&chunk, t.levels != nil)
		if err != nil {
			return t.located(err, index, i)
		}
		t.addChunk(&chunk, s.before, s.rows)
		t.nullable = t.nullable || chunk.About.MaxDefinition > 0
		s.index = i
		list = append(list, s)
	}
	if t.rows > math.MaxInt32 && t.levels != nil {
		return fmt.Errorf("column %d: leaf %d has %d entries: %w", index, t.levels.number(), t.rows, ErrLong)
	}
	if t.rows > math.MaxInt32 {
		return fmt.Errorf("column %d: %d rows: %w", index, t.rows, device.ErrInvalidValue)
	}
	if len(list) > 0 {
		conversion, _ := formOf(list[0].About)
		if conversion == text {
			t.strings = t.dataType
		} else if conversion == code {
			t.strings = t.dataType.(*arrow.DictionaryType).ValueType
		}
		t.nullable = t.nullable || conversion == instant
		if t.nullable {
			t.bitmap = p.spaces.bits.take(op.BitmapBytes(int(t.rows)))
		}
		if conversion == boolean {
			t.values = p.spaces.bits.take(op.BitmapBytes(int(t.rows)))
		} else if conversion != text {
			t.values = p.spaces.values.take(t.rows * conversion.columnBytes())
		}
	}
	if t.levels != nil {
		p.takeLevels(t)
	}
	for _, s := range list {
		if err := p.chunk(index, t, s); err != nil {
			return t.located(err, index, s.index)
		}
	}
	p.targets = append(p.targets, *t)
	return nil
}

// chunk plans the selected pages of a chunk.
func (p *planner) chunk(column int, t *target, s selected) error {
	dictionary := uint32(none)
	if s.dictionary >= 0 && s.indexed() {
		body := p.uploadPages(s, s.dictionary, s.dictionary)
		var err error
		if dictionary, err = p.dictionary(t, s, body); err != nil {
			return &Error{Page: s.dictionary, Err: err}
		}
		p.check(s.plan[s.dictionary], body, dictionary)
		p.origin(column, t, s, s.dictionary)
		if t.entries > math.MaxInt32 {
			return fmt.Errorf("dictionaries of %d values: %w", t.entries, ErrLong)
		}
	}
	first := s.plan[s.pages[0]].At
	bytes := p.uploadPages(s, s.pages[0], s.pages[len(s.pages)-1])
	shared := p.shared(s)
	for _, i := range s.pages {
		body := bytes + place(s.plan[i].At-first)
		if err := p.page(t, s, s.plan[i], body, dictionary, &shared); err != nil {
			return &Error{Page: i, Err: err}
		}
		p.check(s.plan[i], body, uint32(len(p.pages)-1))
		for len(p.origins) < len(p.pages) {
			p.origin(column, t, s, i)
		}
	}
	return nil
}

// origin notes the origin of the page that was planned last.
func (p *planner) origin(column int, t *target, s selected, page int) {
	p.origins = append(p.origins, origin{Error{Column: column, Chunk: s.index, Leaf: t.levels.number(), Page: page, nested: t.levels != nil}, codecs[s.plan[page].Codec(s.About.Column)].Codec})
}

// upload notes a list that is copied to the device.
func (p *planner) upload(list []byte) place {
	at := p.spaces.lists.take(uint64(len(list)))
	p.listed = append(p.listed, memory.Source{Offset: at.offset(), Data: list})
	return at
}

// uploadPages uploads the pages from one to another.
func (p *planner) uploadPages(s selected, first, last int) place {
	end := s.plan[last].At + s.plan[last].Compressed
	bytes := s.Bytes[s.plan[first].At:end]
	at := p.spaces.input.append(uint64(len(bytes)))
	p.sources = append(p.sources, memory.Source{Offset: at.offset(), Data: bytes})
	return at
}

// plainBytes describes the bytes of a page without compression, of which body has those in the file.
func (p *planner) plainBytes(d *page, s selected, h pages.Page, body place) error {
	if h.Uncompressed > math.MaxInt32 || h.Values > math.MaxInt32 {
		return fmt.Errorf("a page of %d values in %d bytes: %w", h.Values, h.Uncompressed, pages.ErrDamaged)
	}
	d.rows, d.length = uint32(h.Values), uint32(h.Uncompressed-h.Levels)
	d.levels, d.levelBytes = body, none
	if h.Kind == pages.DataPage2 {
		d.levelBytes = uint32(h.Levels)
	}
	d.bytes = body + place(h.Levels)
	if c := h.Codec(s.About.Column); c != parquetformat.Uncompressed {
		number, plain, err := p.decompressed(h, d.bytes, c)
		d.packed, d.bytes = place(number), plain
		return err
	}
	if h.Compressed != h.Uncompressed {
		return fmt.Errorf("the page has %d bytes, %d by its header: %w", h.Compressed, h.Uncompressed, pages.ErrDamaged)
	}
	return nil
}

// dictionary plans the page of a dictionary.
func (p *planner) dictionary(t *target, s selected, body place) (number uint32, err error) {
	h := s.plan[s.dictionary]
	if h.Encoding != pages.Plain && h.Encoding != pages.PlainDictionary {
		return 0, fmt.Errorf("a dictionary of encoding %d: %w", h.Encoding, pages.ErrDamaged)
	}
	conversion, _ := formOf(s.About)
	least := int64(4) // the length of a string
	if bytes := conversion.fileBytes(s.About); bytes > 0 {
		least = bytes
	}
	if h.Values > int64(h.Uncompressed)/least {
		return 0, fmt.Errorf("a dictionary of %d values in %d bytes: %w", h.Values, h.Uncompressed, pages.ErrDamaged)
	}
	d := page{form: conversion, width: widthOf(s.About), dictionary: none, base: uint32(t.entries)}
	if err := p.plainBytes(&d, s, h, body); err != nil {
		return 0, err
	}
	number = uint32(len(p.pages))
	if conversion == text || conversion == code {
		d.form = text
		p.plainStrings.add(number, &d)
		d.places = p.spaces.work.take(4 * (uint64(d.rows) + 1))
	} else {
		d.to = p.spaces.work.take(uint64(d.rows) * conversion.columnBytes())
		p.dictionaryTiles.add(number, &d)
	}
	t.entries += uint64(d.rows)
	p.pages = append(p.pages, d)
	t.dictionaries = append(t.dictionaries, number)
	return number, nil
}

// page plans a data page.
func (p *planner) page(t *target, s selected, h pages.Page, body place, dictionary uint32, shared *sharedStrings) error {
	conversion, _ := formOf(s.About)
	kind, _ := encodingOf(h, s.About, conversion)
	d := page{to: t.values, bitmap: t.bitmap, row: t.planned, form: conversion, encoding: kind, width: widthOf(s.About), dictionary: none}
	if err := p.plainBytes(&d, s, h, body); err != nil {
		return err
	}
	rows := uint64(d.rows)
	if s.About.MaxDefinition > 0 {
		d.optional = 1
		p.takeRanks(&d)
	}
	if d.optional != 0 || kind != plain && kind != split {
		d.marks = p.spaces.work.take(headBytes + 8*(rows/markValues+1)) // of levels, then of values
	}
	number := uint32(len(p.pages))
	if kind == deltaStrings {
		p.addPrefixes(d, shared)
		number, d.dictionary = number+1, number
	}
	switch {
	case t.levels != nil && d.optional != 0:
		d.optional = 2
		p.addLevels(number, &d, t.levels, s.About.Column, h)
	case d.optional != 0:
		p.optional.add(number, &d)
	}
	switch kind {
	case indexed:
		d.dictionary = dictionary
		if dictionary != none {
			d.base = p.pages[dictionary].base
		}
		if conversion == text {
			d.dense = p.spaces.work.take(4 * rows)
		}
		p.indices.add(number, &d)
	case delta, deltaLengths, deltaStrings:
		if kind != delta { // lengths
			d.dense = p.spaces.work.take(4 * rows)
		} else if d.optional != 0 || conversion != copied4 && conversion != copied8 {
			d.dense = p.spaces.work.take(uint64(conversion.fileBytes(s.About)) * rows)
		}
		d.sums = p.spaces.work.take(8 * (rows/markValues + 1))
		p.deltas.add(number, &d)
	case rle:
		p.indices.add(number, &d)
	}
	if conversion == text {
		d.places = p.spaces.work.take(4 * (rows + 1))
		if kind != plain {
			if d.sums == 0 {
				d.sums = p.spaces.work.take(8 * (rows/markValues + 1))
			}
			p.indexedStrings.add(number, &d)
		} else {
			p.plainStrings.add(number, &d)
		}
	} else if kind != indexed && kind != rle && (kind != delta || d.dense != 0) {
		if kind == deltaStrings {
			d.places = p.spaces.work.take(uint64(conversion.fileBytes(s.About)) * rows)
			p.fixed.add(number, &d)
		}
		p.tiles.add(number, &d)
	}
	p.pages = append(p.pages, d)
	t.pages = append(t.pages, number)
	t.planned += rows
	return nil
}

// takeRanks takes the memory for the numbers of rows with a value before others.
func (p *planner) takeRanks(d *page) {
	rows := uint64(d.rows)
	d.ranks = p.spaces.work.take(4 * (rows/32 + 2))
	d.counts = p.spaces.work.take(8 * (rows/countedRows + 2))
}

// sharedStrings is the memory of the strings of a chunk that share their beginnings: page.cuh has its parts as those of a page of
// prefixes.
type sharedStrings struct {
	prefixes, sources, links, sums place
	strings                        uint64 // of the pages so far, each a multiple of markValues
	page                           uint32 // the last one
}

// wholeMarks is the number of values of all marks of a page.
func wholeMarks(rows int64) uint64 { return (uint64(rows) + markValues - 1) / markValues * markValues }

// shared takes that memory.
func (p *planner) shared(s selected) (m sharedStrings) {
	strings := uint64(0)
	for _, i := range s.pages {
		if h := s.plan[i]; h.Encoding == pages.DeltaByteArray {
			strings += wholeMarks(h.Values)
		}
	}
	if strings > 0 {
		work := &p.spaces.work
		m = sharedStrings{prefixes: work.take(4 * strings), sources: work.take(8 * strings), links: work.take(4 * strings), sums: work.take(8 * strings / markValues)}
	}
	m.page = none
	return m
}

// addPrefixes adds the page of the prefixes of a page of strings, which is the next one.
func (p *planner) addPrefixes(d page, m *sharedStrings) {
	number, first := uint32(len(p.pages)), place(m.strings)
	d.encoding, d.dictionary, d.before, d.base = deltaPrefixes, number+1, m.page, uint32(m.strings)
	d.dense, d.to, d.places, d.sums = m.prefixes+4*first, m.sources+8*first, m.links+4*first, m.sums+8*first/markValues
	if d.optional != 0 {
		p.takeRanks(&d)
		p.optional.add(number, &d)
	}
	p.prefixes.add(number, &d)
	p.indexedStrings.add(number, &d)
	p.pages = append(p.pages, d)
	m.strings += wholeMarks(int64(d.rows))
	m.page = number
}

// located adds the place to an error about a page.
func (t *target) located(err error, column, chunk int) error {
	if damage, ok := err.(*Error); ok {
		damage.Column, damage.Chunk, damage.Leaf, damage.nested = column, chunk, t.levels.number(), t.levels != nil
		return damage
	}
	return fmt.Errorf("column %d, chunk %d: %w", column, chunk, err)
}
