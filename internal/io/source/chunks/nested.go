package chunks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// A leaf of a column of lists and structs is decoded like a column with a row for each entry, which is null without a value. An
// element of a depth begins with each entry with a repetition level of at most the depth, if the definition level shows
// that it exists. The number of an element is that of the elements that begin before, so one scan of the levels gives the
// offsets of lists and the validity of lists and structs. Entries of empty lists and of null ones are dropped from the values.

const (
	// mostDepths is the number of lists within each other, and one, as in nested.cu.
	mostDepths = 8
	// mostLevel is the greatest definition level: a byte has one.
	mostLevel = 127
	// entryTile is the number of entries or elements of a tile.
	entryTile = 2048
)

// leafLevels are the levels of a leaf.
type leafLevels struct {
	leaf *pages.Nested
	// required reports that no element is null.
	required                 bool
	definitions, repetitions place
	// record is the number of the leaf in the list of the kernels, or -1 without levels.
	record int
	// totals is the place of the numbers of elements among those of all leaves.
	totals int
	keep   place
}

// number is that of the leaf. l may be nil.
func (l *leafLevels) number() int {
	if l == nil {
		return 0
	}
	return l.leaf.Leaf
}

// levelPage is Levels of nested.cu.
type levelPage struct {
	definitions, repetitions, marks                       place
	page, mostDefinition, mostRepetition, repetitionBytes uint32
}

// leafRecord is Leaf of nested.cu.
type leafRecord struct {
	definitions, repetitions, sums, totals, keep    place
	entries, depths, tiles, firstNode, nodeCount, _ uint32
	elements                                        [mostDepths]uint32
}

// nodeRecord is Node of nested.cu.
type nodeRecord struct {
	to, bits, valid       place
	depth, level, leaf, _ uint32
}

// nest describes the leaves of all columns for the kernels.
type nest struct {
	levelPages                       []levelPage
	nestedPages                      work // tiles have numbers of levelPages
	leaves                           []leafRecord
	nodes                            []nodeRecord
	entryTiles, depthTiles, bitTiles []tile
	// words is the number of totals of all leaves. totals is the place of them, valid that of the numbers of elements
	// of nodes that are valid.
	words         int
	totals, valid place
}

// nestedColumn is a column of lists and structs.
type nestedColumn struct {
	tree *pages.Nested
	decodedRows
	// offsets and validity are numbers of nodes.
	offsets, validity map[*pages.Nested]int
}

// undecodableLeaf returns why the kernels do not decode a leaf.
func undecodableLeaf(about pages.Flat, plan pages.Plan) error {
	if about.MaxDefinition > mostLevel || about.MaxRepetition >= mostDepths {
		return fmt.Errorf("levels up to %d and %d: %w", about.MaxDefinition, about.MaxRepetition, pages.ErrOther)
	}
	for i, p := range plan {
		if p.HasValues() && p.Encoding == pages.DeltaByteArray {
			return fmt.Errorf("page %d has values of encoding %d: %w", i, p.Encoding, pages.ErrOther)
		}
	}
	return nil
}

// nested plans a column of lists and structs.
func (p *planner) nested(index int, c *Column) (err error) {
	n := &nestedColumn{tree: c.Nested, offsets: map[*pages.Nested]int{}, validity: map[*pages.Nested]int{}}
	p.outputs[len(p.outputs)-1].nested = n
	for i := range c.Chunks {
		if c.Chunks[i].Rows > 0 {
			n.addChunk(&c.Chunks[i], c.Chunks[i].First, c.Chunks[i].All) // all rows are decoded, and then cut
		}
	}
	if n.rows > math.MaxInt32 {
		return fmt.Errorf("column %d: %d rows: %w", index, n.rows, device.ErrInvalidValue)
	}
	first := len(p.targets)
	c.Nested.Leaves(func(leaf *pages.Nested) {
		t := target{column: index, dataType: leaf.Type, levels: &leafLevels{leaf: leaf, required: !leaf.Nullable, record: -1}}
		leafChunks := make([]Chunk, len(c.Chunks))
		for i, chunk := range c.Chunks {
			if chunk.Rows == 0 {
				continue
			}
			leafChunks[i] = chunk.Leaves[leaf.Leaf]
			leafChunks[i].Rows = leafChunks[i].About.Values
		}
		if err == nil {
			err = p.target(index, &t, leafChunks)
		}
	})
	if err != nil || n.length == 0 {
		return err
	}
	for i := first; i < len(p.targets); i++ {
		if record := p.targets[i].levels.record; record >= 0 {
			p.leaves[record].firstNode = uint32(len(p.nest.nodes))
			p.addNodes(n, c.Nested, &p.targets[i])
			p.leaves[record].nodeCount = uint32(len(p.nest.nodes)) - p.leaves[record].firstNode
		}
	}
	return nil
}

// takeLevels takes the memory of the levels of a leaf.
func (p *planner) takeLevels(t *target) {
	l, n := t.levels, t.rows
	depths := l.leaf.Depth
	if l.leaf.Definition == 0 || n == 0 {
		return
	}
	l.definitions = p.spaces.work.take(n + 32)
	tiles := (n + entryTile - 1) / entryTile
	r := leafRecord{definitions: l.definitions, entries: uint32(n), depths: uint32(depths), tiles: uint32(tiles)}
	if depths > 0 {
		l.repetitions = p.spaces.work.take(n + 32)
		l.keep = p.spaces.bits.take(op.BitmapBytes(int(n)))
		r.repetitions, r.keep = l.repetitions, l.keep
	}
	r.sums = p.spaces.work.take(8 * tiles * uint64(depths+1))
	l.record, l.totals = len(p.leaves), p.words
	p.words += depths + 2
	for first := range tiles {
		p.entryTiles = append(p.entryTiles, tile{uint32(l.record), uint32(first * entryTile)})
	}
	for depth := range depths + 1 {
		p.depthTiles = append(p.depthTiles, tile{uint32(l.record), uint32(depth)})
	}
	p.leaves = append(p.leaves, r)
}

// addNodes adds what a leaf has the levels of: lists and structs of which it is the first leaf.
func (p *planner) addNodes(c *nestedColumn, n *pages.Nested, t *target) {
	record, entries := t.levels.record, t.rows
	r := &p.leaves[record]
	if n.Leaf >= 0 {
		return
	}
	if isList(n.Type) {
		r.elements[n.Depth+1] = uint32(n.Element) // of each leaf below
	}
	if n.First() == t.levels.leaf {
		if n.Nullable {
			c.validity[n] = len(p.nest.nodes)
			for first := uint64(0); first < entries; first += entryTile {
				p.bitTiles = append(p.bitTiles, tile{uint32(len(p.nest.nodes)), uint32(first)})
			}
			p.nest.nodes = append(p.nest.nodes, nodeRecord{
				to: p.spaces.work.take(entries + 8), bits: p.spaces.bits.take(op.BitmapBytes(int(entries))), depth: uint32(n.Depth), level: uint32(n.Definition), leaf: uint32(record),
			})
		}
		if isList(n.Type) {
			c.offsets[n] = len(p.nest.nodes)
			p.nest.nodes = append(p.nest.nodes, nodeRecord{to: p.spaces.values.take(4 * (entries + 1)), depth: uint32(n.Depth + 1), leaf: uint32(record)})
		}
	}
	for _, child := range n.Children {
		if contains(child, t.levels.leaf) {
			p.addNodes(c, child, t)
		}
	}
}

// contains reports whether a leaf is below a node.
func contains(n, leaf *pages.Nested) (below bool) {
	n.Leaves(func(l *pages.Nested) { below = below || l == leaf })
	return below
}

func isList(t arrow.DataType) bool { return t.ID() == arrow.LIST || t.ID() == arrow.MAP }

// addLevels adds the levels of a page of a leaf.
func (p *planner) addLevels(number uint32, d *page, l *leafLevels, c pages.Column, h pages.Page) {
	at := uint32(len(p.levelPages))
	levels := levelPage{definitions: l.definitions, page: number, mostDefinition: uint32(c.MaxDefinition), mostRepetition: uint32(c.MaxRepetition)}
	if c.MaxRepetition > 0 {
		levels.repetitions, levels.repetitionBytes = l.repetitions, uint32(h.RepetitionLevels)
		levels.marks = p.spaces.work.take(8 * (uint64(d.rows)/markValues + 1))
	}
	p.levelPages = append(p.levelPages, levels)
	p.nestedPages.numbers = append(p.nestedPages.numbers, number)
	d.eachTile(func(first uint32) { p.nestedPages.tiles = append(p.nestedPages.tiles, tile{at, first}) })
}

// placeNested takes the memory of the numbers of elements.
func (p *planner) placeNested() {
	if len(p.leaves) == 0 {
		return
	}
	p.nest.totals = p.spaces.work.take(8 * uint64(p.words))
	p.valid = p.spaces.bits.take(8 * uint64(len(p.nest.nodes)))
	for i := range p.targets {
		if l := p.targets[i].levels; l != nil && l.record >= 0 {
			p.leaves[l.record].totals = p.nest.totals + place(8*l.totals)
		}
	}
	for i := range p.nest.nodes {
		p.nest.nodes[i].valid = p.valid + place(8*i)
	}
}

// resolve replaces places by addresses.
func (n *nest) resolve(s *spaces) {
	for i := range n.levelPages {
		s.resolve(&n.levelPages[i].definitions, &n.levelPages[i].repetitions, &n.levelPages[i].marks)
	}
	for i := range n.leaves {
		l := &n.leaves[i]
		s.resolve(&l.definitions, &l.repetitions, &l.sums, &l.totals, &l.keep)
	}
	for i := range n.nodes {
		s.resolve(&n.nodes[i].to, &n.nodes[i].bits, &n.nodes[i].valid)
	}
}

// tables returns the lists of pages, leaves and nodes.
func (n *nest) tables() []*table {
	if len(n.levelPages) == 0 {
		return nil
	}
	return []*table{{bytes: address.BytesOf(n.levelPages)}, {bytes: address.BytesOf(n.leaves)}, {bytes: address.BytesOf(n.nodes)}}
}

// kernels returns the kernels that decode levels of lists and structs.
func (n *nest) kernels(tables []*table) (lists []list) {
	if len(tables) == 0 {
		return nil
	}
	levels, leaves, all := tables[:1], tables[1:2], tables[1:3]
	add := func(entry string, threads uint32, tiles []tile, tables []*table) {
		if len(tiles) > 0 {
			lists = append(lists, list{launch{file: "nested", entry: entry, threads: threads, blocks: len(tiles), tables: tables}, address.BytesOf(tiles)})
		}
	}
	lists = append(lists, list{launch{file: "nested", entry: "find_nested", threads: 256, blocks: len(n.levelPages)}, address.BytesOf(n.levelPages)})
	add("write_nested", 64, n.nestedPages.tiles, levels)
	lists = append(lists, step{"levels", "scan_levels", 256, &n.nestedPages, false}.list()...)
	add("count_elements", 256, n.entryTiles, leaves)
	add("scan_elements", 256, n.depthTiles, leaves)
	add("write_elements", 256, n.entryTiles, all)
	add("pack_validity", 256, n.bitTiles, all)
	return lists
}

// elements are the numbers of elements of leaves, and those of nodes that are valid.
type elements struct{ totals, valid []uint64 }

// nestedElements copies them to the host, and returns the error of the first entry with damage.
func (b *Batch) nestedElements(ctx context.Context, call *op.Call) (e elements, err error) {
	if len(b.leaves) == 0 {
		return e, nil
	}
	e = elements{totals: make([]uint64, b.words), valid: make([]uint64, len(b.nest.nodes))}
	totals, err := part(b.work, b.nest.totals, 8*uint64(b.words))
	if err != nil {
		return e, err
	}
	if err := totals.Download(ctx, call.Stream, address.BytesOf(e.totals)); err != nil {
		return e, err
	}
	if len(e.valid) > 0 {
		valid, err := b.region(b.valid, 8*uint64(len(e.valid)))
		if err != nil {
			return e, err
		}
		if err := valid.Download(ctx, call.Stream, address.BytesOf(e.valid)); err != nil {
			return e, err
		}
	}
	for i := range b.targets {
		t := &b.targets[i]
		if t.levels == nil || t.levels.record < 0 {
			continue
		}
		if entry := e.totals[t.levels.totals+t.levels.leaf.Depth+1]; entry != none {
			return e, b.entryError(t, entry)
		}
	}
	return e, nil
}

// entryError is the error of an entry that continues a list which does not go on.
func (b *Batch) entryError(t *target, entry uint64) error {
	at := slices.IndexFunc(t.pages, func(number uint32) bool { return entry < b.pages[number].row+uint64(b.pages[number].rows) })
	damage := b.origins[t.pages[max(at, 0)]].Error
	damage.Err = fmt.Errorf("repetition levels of a list that does not go on: %w", pages.ErrDamaged)
	return &damage
}

// assembly makes a column of its leaves.
type assembly struct {
	batch *Batch
	*nestedColumn
	index, first int // of the column, of its first target
	outcomes     []outcome
	strings      stringColumns
	elements     elements
}

// column makes the column.
func (a *assembly) column(ctx context.Context) (*column.Column, error) {
	if a.length == 0 {
		return emptyColumn(a.batch.manager, a.tree.Type)
	}
	whole, err := a.node(ctx, a.tree, a.rows)
	if err != nil || a.length == a.rows {
		return whole, err
	}
	cut, err := a.batch.cut(ctx, whole, a.spans)
	return release.OnError(cut, err, whole.Release())
}

// leaf is the target of a leaf.
func (a *assembly) leaf(n *pages.Nested) *target { return &a.batch.targets[a.first+n.Leaf] }

// total is the number of the elements of a depth in a leaf.
func (a *assembly) total(leaf *pages.Nested, depth int) uint64 {
	t := a.leaf(leaf)
	if t.levels.record < 0 {
		return t.rows
	}
	return a.elements.totals[t.levels.totals+depth]
}

// node makes a part of the column, which has a number of elements that the parts around it give.
func (a *assembly) node(ctx context.Context, n *pages.Nested, length uint64) (c *column.Column, err error) {
	first := n.First()
	if total := a.total(first, n.Depth); total != length {
		return nil, &Error{Column: a.index, Leaf: first.Leaf, nested: true, Err: fmt.Errorf("the levels are of %d elements or rows, there are %d: %w", total, length, pages.ErrDamaged)}
	}
	if length == 0 {
		return emptyColumn(a.batch.manager, n.Type)
	}
	if n.Leaf >= 0 {
		return a.values(ctx, n, length)
	}
	data := column.Data{Type: n.Type, Length: int(length), Manager: a.batch.manager, Buffers: make([]column.Bytes, 1, 2)}
	if number, ok := a.validity[n]; ok {
		if data.NullCount = int(length - a.elements.valid[number]); data.NullCount > 0 {
			if data.Buffers[0], err = a.batch.region(a.batch.nest.nodes[number].bits, op.BitmapBytes(int(length))); err != nil {
				return nil, err
			}
		}
	}
	if isList(n.Type) {
		offsets, err := a.batch.region(a.batch.nest.nodes[a.offsets[n]].to, 4*(length+1))
		if err != nil {
			return nil, err
		}
		data.Buffers = append(data.Buffers, offsets)
		length = a.total(first, n.Depth+1)
	}
	defer func() { c, err = release.OnError(c, err, release.All(data.Children)) }()
	for _, child := range n.Children {
		part, err := a.node(ctx, child, length)
		if err != nil {
			return nil, err
		}
		data.Children = append(data.Children, part)
	}
	return column.New(data)
}

// values makes the values of a leaf: those of entries that are elements.
func (a *assembly) values(ctx context.Context, n *pages.Nested, length uint64) (*column.Column, error) {
	t := a.leaf(n)
	all, err := a.batch.result(ctx, t, a.outcomes, a.strings[a.first+n.Leaf])
	if err != nil || length == t.rows {
		return all, err
	}
	part, err := a.kept(ctx, t, all, length)
	return release.OnError(part, err, all.Release())
}

// kept returns the values of the entries that a leaf keeps.
func (a *assembly) kept(ctx context.Context, t *target, all *column.Column, length uint64) (c *column.Column, err error) {
	b := a.batch
	bits, err := b.region(t.levels.keep, op.BitmapBytes(int(t.rows)))
	if err != nil {
		return nil, err
	}
	mask, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: int(t.rows), Manager: b.manager, Buffers: []column.Bytes{{}, bits}})
	if err != nil {
		return nil, err
	}
	defer func() { c, err = release.OnError(c, err, mask.Release()) }()
	table, err := selection.FilterColumn(ctx, all, mask, kernels.Options{Manager: b.manager, Stream: b.options.Stream, Tag: b.options.Tag})
	if err != nil {
		return nil, err
	}
	c, err = table.Column(0).SliceCapacity(0, int(length))
	return c, errors.Join(err, table.Release())
}

var _ = [1]struct{}{}[unsafe.Sizeof(leafRecord{})-96] // as nested.cu has it
