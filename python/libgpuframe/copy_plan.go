//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// copyPlan collects the parts of buffers that a copy of columns needs.
type copyPlan struct {
	parts []column.Bytes
	known map[column.Bytes]int
}

// copyNode is a column that will be made from copied parts.
type copyNode struct {
	data column.Data
	// parts are the numbers of the plan's parts that become the buffers. noPart stands
	// for a buffer that the column lacks.
	parts      []int
	children   []*copyNode
	dictionary *copyNode
}

// noPart is the number of a buffer that the column lacks.
const noPart = -1

// add plans a copy of length elements of a column, beginning at element first. A buffer
// with a fixed number of bits for each element is reduced to the copied elements, rounded
// down to a multiple of eight so that no bits are shifted. Other buffers are copied
// whole.
func (p *copyPlan) add(c *column.Column, first, length int) *copyNode {
	d := c.Data()
	n := &copyNode{data: column.Data{Type: d.Type, Length: length, NullCount: nullsWithin(d, length)}}
	from, to := d.Offset+first, d.Offset+first+length
	n.data.Offset = from
	l, _ := layout.Of(d.Type) // a column's type has one
	widths, cut := elementBits(l)
	low, high := 0, 0
	if cut {
		n.data.Offset = 0
		if length > 0 {
			n.data.Offset = from % 8
			low, high = from-from%8, to
		}
	}
	for i, region := range d.Buffers {
		n.parts = append(n.parts, p.part(region, cut, low, high, widths[min(i, len(widths)-1)]))
	}
	for _, child := range d.Children {
		n.children = append(n.children, p.child(l, child, cut, low, high))
	}
	if d.Dictionary != nil {
		n.dictionary = p.add(d.Dictionary, 0, d.Dictionary.Len())
	}
	return n
}

func (p *copyPlan) child(l layout.Layout, child *column.Column, cut bool, low, high int) *copyNode {
	if cut {
		switch l.Kind {
		case layout.Struct:
			return p.add(child, low, high-low)
		case layout.FixedSizeList:
			return p.add(child, low*l.ListSize(), (high-low)*l.ListSize())
		}
	}
	return p.add(child, 0, child.Len())
}

// part adds a buffer, or its elements [low, high), and returns the part's number. A width
// of zero marks a buffer that is copied whole.
func (p *copyPlan) part(region column.Bytes, cut bool, low, high, width int) int {
	if region.Len() == 0 {
		return noPart
	}
	if cut && width > 0 {
		shown, err := region.Slice(low*width/8, min((high*width+7)/8, region.Len()))
		if err == nil {
			region = shown
		}
		if region.Len() == 0 {
			return noPart
		}
	}
	if number, ok := p.known[region]; ok {
		return number
	}
	if p.known == nil {
		p.known = map[column.Bytes]int{}
	}
	p.parts = append(p.parts, region)
	p.known[region] = len(p.parts) - 1
	return len(p.parts) - 1
}

// nullsWithin returns the null count of length elements of a column.
func nullsWithin(d column.Data, length int) int {
	switch {
	case length == d.Length || d.NullCount == 0:
		return d.NullCount
	case d.NullCount == d.Length:
		return length
	}
	return column.UnknownNullCount
}

// elementBits returns the bits of an element in each buffer, zero for buffers without a
// fixed width, and whether the buffers may be reduced to some elements. The last width
// applies to all further buffers.
func elementBits(l layout.Layout) (widths []int, cut bool) {
	switch l.Kind {
	case layout.Struct, layout.FixedSizeList:
		return []int{1}, true
	case layout.Bits:
		return []int{1, 1}, true
	case layout.Fixed, layout.Dictionary:
		return []int{1, 8 * l.Width}, true
	}
	return []int{0}, false
}

// hidesData reports whether a column shows only a part of the data that its offsets refer
// to.
func hidesData(d column.Data) bool {
	l, _ := layout.Of(d.Type) // a column's type has one
	const padding = 64        // the padding of buffers
	if (l.Kind == layout.Binary || l.Kind == layout.List) && (d.Offset > 0 || d.Buffers[1].Len() >= (d.Length+1)*l.Width+padding) {
		return true
	}
	for _, child := range d.Children {
		if hidesData(child.Data()) {
			return true
		}
	}
	return false
}

// copiedParts are the parts of a plan in new memory.
type copiedParts struct {
	block *memory.Block
	views []column.Bytes
}

func (r copiedParts) release() {
	if r.block != nil {
		_ = r.block.Release() // the columns hold separate references
	}
}

// partAlignment is the alignment of copied parts, the same as in package column.
const partAlignment = 256

// run copies all parts into one block of a manager, in stream order. Parts that are
// adjacent in memory are one copy.
func (p *copyPlan) run(m *memory.Manager) (copied copiedParts, err error) {
	spans, places, total := p.layout()
	if total == 0 {
		return copied, nil
	}
	if copied.block, err = m.Allocate(total, memory.AllocateOptions{Tag: copyTag}); err != nil {
		return copied, err
	}
	defer func() {
		if err != nil {
			copied.release()
		}
	}()
	for _, s := range spans {
		if err := s.copy(copied.block, m); err != nil {
			return copied, err
		}
	}
	for i, place := range places {
		view, err := memory.View[uint8](copied.block, place, p.parts[i].Len())
		if err != nil {
			return copied, err
		}
		copied.views = append(copied.views, view)
	}
	return copied, nil
}

// copySpan is one copy: bytes of a block and their destination.
type copySpan struct {
	source     *memory.Block
	begin, end uint64
	to         uint64
}

func (s copySpan) copy(block *memory.Block, m *memory.Manager) error {
	source, err := memory.View[uint8](s.source, s.begin, int(s.end-s.begin))
	if err != nil {
		return err
	}
	target, err := memory.View[uint8](block, s.to, source.Len())
	if err != nil {
		return err
	}
	if err := s.source.OrderBefore(m.Stream()); err != nil {
		return err
	}
	return target.CopyFrom(m.Stream(), source)
}

// layout returns the copies, the place of each part, and the total bytes.
func (p *copyPlan) layout() (spans []copySpan, places []uint64, total uint64) {
	const furthest = 4096 // copying a gap of this size costs less than a separate copy
	for _, part := range p.parts {
		begin := uint64(part.Pointer() - part.Block().Pointer())
		end := begin + part.Bytes()
		if len(spans) > 0 {
			last := &spans[len(spans)-1]
			gap := begin - last.end
			if last.source == part.Block() && begin >= last.end && gap < furthest && (begin-last.begin)%partAlignment == 0 {
				last.end = end
				places = append(places, last.to+begin-last.begin)
				total = last.to + end - last.begin
				continue
			}
		}
		to := (total + partAlignment - 1) / partAlignment * partAlignment
		spans = append(spans, copySpan{source: part.Block(), begin: begin, end: end, to: to})
		places = append(places, to)
		total = to + part.Bytes()
	}
	return spans, places, (total + 63) / 64 * 64
}

// column makes the column of a node. The caller releases it.
func (n *copyNode) column(parts copiedParts, m *memory.Manager) (*column.Column, error) {
	data := n.data
	data.Manager = m
	data.Buffers = make([]column.Bytes, len(n.parts))
	for i, number := range n.parts {
		if number != noPart {
			data.Buffers[i] = parts.views[number]
		}
	}
	defer func() { releaseColumns(data.Children) }()
	for _, each := range n.children {
		child, err := each.column(parts, m)
		if err != nil {
			return nil, err
		}
		data.Children = append(data.Children, child)
	}
	if n.dictionary != nil {
		dictionary, err := n.dictionary.column(parts, m)
		if err != nil {
			return nil, err
		}
		defer dictionary.Release()
		data.Dictionary = dictionary
	}
	return column.New(data)
}
