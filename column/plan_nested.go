package column

import (
	"fmt"
	"math"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// list plans lists and maps. Only the elements between the first and the last offset
// of the child are copied.
func (p *planner) list(n *node, l layout.Layout, chunks []chunk) error {
	limit := func(c *chunk) int { return c.childLen(0) }
	if err := p.offsets(n, l, chunks, limit, "elements in child 0"); err != nil {
		return err
	}
	return p.childOf(n, l, 0, chunks, func(c *chunk) (from, length int) { return c.first, c.last - c.first })
}

// listView plans list views. They may point anywhere, so the child is copied whole.
func (p *planner) listView(n *node, l layout.Layout, chunks []chunk) error {
	start := p.begin()
	behind := 0
	for i, c := range nonEmpty(chunks) {
		offsets, err := c.elements(l, 1)
		if err != nil {
			return inChunk(chunks, i, err)
		}
		sizes, err := c.elements(l, 2)
		if err != nil {
			return inChunk(chunks, i, err)
		}
		var moved rewriting
		if behind > 0 {
			moved = shifted(l.Width, uint64(behind))
		}
		p.elements(offsets, l.Width, moved, chunks, i, c.checkedListViews(l, offsets, sizes))
		if behind, err = childrenTogether(l, behind, c.childLen(0), 0); err != nil && len(chunks) > 1 {
			return inChunk(chunks, i, err)
		}
	}
	p.end(n, start)
	if err := p.values(n, l, chunks, 2, l.Width); err != nil {
		return err
	}
	return p.childOf(n, l, 0, chunks, func(c *chunk) (from, length int) { return c.wholeChild(0) })
}

// wholeChild returns the part of a child that offsets may point to.
func (c *chunk) wholeChild(i int) (from, length int) {
	if c.length == 0 {
		return 0, 0
	}
	return 0, c.childLen(i)
}

// childrenTogether adds the lengths of children that offsets refer to.
func childrenTogether(l layout.Layout, behind, length, child int) (int, error) {
	width := l
	if l.Kind == layout.DenseUnion {
		width.Width = 4
	}
	sum, ok := add(behind, max(length, 0))
	if !ok || int64(sum) > width.MaximumOffset() {
		return behind, fmt.Errorf("child %d of the chunks together has more than %d elements: upload fewer rows at a time: %w",
			child, width.MaximumOffset(), memory.ErrOverflow)
	}
	return sum, nil
}

// fixedSizeList plans lists of one size.
func (p *planner) fixedSizeList(n *node, l layout.Layout, chunks []chunk) error {
	size := l.ListSize()
	for i := range chunks {
		c := &chunks[i]
		if children := c.data.Children(); len(children) == 1 && !isNil(children[0]) {
			need, fits := multiply(c.offset+c.length, size)
			if have := children[0].Len(); c.length > 0 && (!fits || have < need) {
				return fmt.Errorf("its child has %d elements, expected %d for each of %d rows: null rows have elements too, which arrow-go's FixedSizeListBuilder.AppendValues does not append; use AppendNull: %w",
					have, size, c.offset+c.length, ErrInvalid)
			}
		}
	}
	return p.childOf(n, l, 0, chunks, func(c *chunk) (from, length int) {
		from, fits := multiply(c.offset, size)
		length, alsoFits := multiply(c.length, size)
		if !fits || !alsoFits {
			return 0, math.MaxInt // more than any child has
		}
		return from, length
	})
}

// parallel plans children that have one element for each of the parent's: those of
// structs and sparse unions. The parent's offset applies to them too.
func (p *planner) parallel(n *node, l layout.Layout, chunks []chunk) error {
	for i := range l.Children() {
		err := p.childOf(n, l, i, chunks, func(c *chunk) (from, length int) { return c.offset, c.length })
		if err != nil {
			return err
		}
	}
	return nil
}

// typeIDs plans the type ids of a union. The type ids of a dense union are checked
// together with its offsets.
func (p *planner) typeIDs(n *node, l layout.Layout, chunks []chunk) error {
	start := p.begin()
	for i, c := range nonEmpty(chunks) {
		ids, err := c.elements(l, 0)
		if err != nil {
			return inChunk(chunks, i, err)
		}
		var check contentCheck
		if l.Kind == layout.SparseUnion {
			check = c.checkedTypeIDs(l, ids, nil)
		}
		p.elements(ids, 1, nil, chunks, i, check)
	}
	p.end(n, start)
	return nil
}

// denseUnion plans dense unions. Their offsets may point anywhere, so the children
// are copied whole.
func (p *planner) denseUnion(n *node, l layout.Layout, chunks []chunk) error {
	if err := p.typeIDs(n, l, chunks); err != nil {
		return err
	}
	start := p.begin()
	codes := l.Storage.(arrow.UnionType).TypeCodes()
	var behind [256]uint32
	moved := false
	for i, c := range nonEmpty(chunks) {
		offsets, err := c.elements(l, 1)
		if err != nil {
			return inChunk(chunks, i, err)
		}
		ids, err := c.elements(l, 0)
		if err != nil {
			return inChunk(chunks, i, err)
		}
		var behindOthers rewriting
		if moved {
			now := behind
			behindOthers = unionOffsets(ids, &now)
		}
		p.elements(offsets, 4, behindOthers, chunks, i, c.checkedTypeIDs(l, ids, offsets))
		moved = true
		for child := range l.Children() {
			code := uint8(codes[child])
			sum, err := childrenTogether(l, int(behind[code]), c.childLen(child), child)
			if err != nil && len(chunks) > 1 {
				return inChunk(chunks, i, err)
			}
			behind[code] = uint32(sum)
		}
	}
	p.end(n, start)
	for i := range l.Children() {
		err := p.childOf(n, l, i, chunks, func(c *chunk) (from, length int) { return c.wholeChild(i) })
		if err != nil {
			return err
		}
	}
	return nil
}

// runEnds plans run-end encoded arrays. It copies the run ends and the values of the
// copied elements only.
func (p *planner) runEnds(n *node, l layout.Layout, chunks []chunk) error {
	if int64(n.length) > l.MaximumOffset() {
		return fmt.Errorf("%d elements are more than run ends of %d bytes can count: upload fewer rows at a time: %w",
			n.length, l.Width, memory.ErrOverflow)
	}
	t, name := l.Child(0)
	ends := p.newNode(t)
	ends.extents = append(ends.extents, extent{absent: true})
	start := p.begin()
	behind := 0
	for i, c := range nonEmpty(chunks) {
		buffer, err := c.runs(l)
		if err != nil {
			return inChunk(chunks, i, inChild(0, name, err))
		}
		buffer = buffer[c.first*l.Width : c.last*l.Width]
		final := signedAt(buffer[len(buffer)-l.Width:], l.Width)
		var within rewriting
		if behind != 0 || c.offset != 0 || final != int64(c.length) {
			within = runEndsWithin(l.Width, c.offset, c.length, behind)
		}
		p.elements(buffer, l.Width, within, chunks, i, ascendingRuns(buffer, l.Width, name))
		behind += c.length
		ends.length += c.last - c.first
	}
	p.end(ends, start)
	n.children = append(n.children, ends)
	return p.childOf(n, l, 1, chunks, func(c *chunk) (from, length int) { return c.first, c.last - c.first })
}

// runs returns the run ends of a chunk, and sets first and last to the runs of its
// elements.
func (c *chunk) runs(l layout.Layout) ([]byte, error) {
	child, err := c.child(0, 0, c.childLen(0))
	if err != nil {
		return nil, err
	}
	t, _ := l.Child(0)
	endsLayout, err := layoutOf(t)
	if err == nil {
		err = child.check(endsLayout)
	}
	if err != nil {
		return nil, err
	}
	if child.nulls > 0 {
		return nil, fmt.Errorf("it has %d nulls: %w", child.nulls, ErrInvalid)
	}
	ends, err := child.elements(endsLayout, 1)
	if err != nil {
		return nil, err
	}
	if c.first, c.last = findRuns(ends, l.Width, c.offset, c.length); c.last < 0 {
		return nil, fmt.Errorf("its %d runs end before element %d: %w", child.length, c.offset+c.length, ErrInvalid)
	}
	return ends, nil
}

// findRuns returns the first of the runs that hold some elements, of which there is
// at least one, and the end of the last; -1 if the run ends do not reach them.
func findRuns(ends []byte, width, offset, length int) (first, last int) {
	count := len(ends) / width
	first = sort.Search(count, func(i int) bool { return signedAt(ends[i*width:], width) > int64(offset) })
	last = sort.Search(count, func(i int) bool { return signedAt(ends[i*width:], width) >= int64(offset+length) })
	if last == count || last < first {
		return 0, -1
	}
	return first, last + 1
}
