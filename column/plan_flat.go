package column

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// validity plans the validity bitmap, which is absent if no element is null.
func (p *planner) validity(n *node, l layout.Layout, chunks []chunk) error {
	for i := range chunks {
		if !p.unchecked && chunks[i].nulls > 0 {
			chunks[i].nulls = UnknownNullCount // count the nulls
		}
		if _, err := chunks[i].validity(l); err != nil {
			return inChunk(chunks, i, err)
		}
		n.nulls += chunks[i].nulls
	}
	if n.nulls == 0 {
		n.extents = append(n.extents, extent{absent: true})
		return nil
	}
	return p.bitmap(n, chunks, func(c *chunk) ([]byte, error) { return c.validity(l) })
}

// bools plans the values of booleans.
func (p *planner) bools(n *node, l layout.Layout, chunks []chunk) error {
	return p.bitmap(n, chunks, func(c *chunk) ([]byte, error) { return c.bits(l, 1) })
}

// bitmap plans one bit for each element. A chunk without bits has all of them set.
// Bits after the last one become zero.
func (p *planner) bitmap(n *node, chunks []chunk, bitsOf func(c *chunk) ([]byte, error)) error {
	start := p.begin()
	defer func() { p.end(n, start) }()
	if len(chunks) == 1 && chunks[0].length > 0 && chunks[0].offset%8 == 0 {
		c := &chunks[0]
		bits, err := bitsOf(c)
		if err == nil && bits != nil {
			p.alignedBits(bits[c.offset/8:], c.length)
		}
		if err != nil || bits != nil {
			return err
		}
	}
	runs := make(bitRuns, 0, len(chunks))
	at := 0
	for i, c := range nonEmpty(chunks) {
		bits, err := bitsOf(c)
		if err != nil {
			return inChunk(chunks, i, err)
		}
		runs = append(runs, bitRun{bits: bits, offset: c.offset, length: c.length, start: at})
		at += c.length
	}
	p.fill(bitmapBytes(at), runs.fill)
	return nil
}

// alignedBits plans bits that begin at a byte boundary. They are copied unchanged,
// except the last byte if it holds further bits.
func (p *planner) alignedBits(bits []byte, count int) {
	whole := count / 8
	if tail := count % 8; tail > 0 {
		if last := bits[whole]; last>>tail != 0 {
			p.data(bits[:whole])
			p.data([]byte{last & (1<<tail - 1)})
			return
		}
		whole++
	}
	p.data(bits[:whole])
}

// values plans buffer i, with elements of a width.
func (p *planner) values(n *node, l layout.Layout, chunks []chunk, i, width int) error {
	start := p.begin()
	for k, c := range nonEmpty(chunks) {
		values, err := c.elements(l, i)
		if err != nil {
			return inChunk(chunks, k, err)
		}
		p.data(values)
	}
	p.end(n, start)
	return nil
}

// binary plans strings and other bytes of variable length.
func (p *planner) binary(n *node, l layout.Layout, chunks []chunk) error {
	limit := func(c *chunk) int { return len(c.buffer(l, 2)) }
	if err := p.offsets(n, l, chunks, limit, "bytes in buffer 2 (data)"); err != nil {
		return err
	}
	start := p.begin()
	for i := range chunks {
		c := &chunks[i]
		p.data(c.buffer(l, 2)[c.first:c.last])
	}
	p.end(n, start)
	return nil
}

// offsets plans offsets that begin with zero, and finds the bounds of the elements of
// each chunk. It reads only the first and the last offset of each chunk, which must
// not exceed the limit, a number of elements. The others are checked during the
// transfer.
func (p *planner) offsets(n *node, l layout.Layout, chunks []chunk, limit func(c *chunk) int, elements string) error {
	last := lastWithElements(chunks)
	start := p.begin()
	behind := 0
	for i, c := range nonEmpty(chunks) {
		offsets, err := c.elements(l, 1)
		if err == nil {
			err = c.between(l, offsets, limit(c), elements)
		}
		if err != nil {
			return inChunk(chunks, i, err)
		}
		check := ascendingOffsets(offsets, l.Width)
		if i < last {
			offsets = offsets[:c.length*l.Width]
		}
		var moved rewriting
		if behind != c.first {
			moved = shifted(l.Width, uint64(behind)-uint64(c.first))
		}
		p.elements(offsets, l.Width, moved, chunks, i, check)
		sum, ok := add(behind, c.last-c.first)
		if !ok || int64(sum) > l.MaximumOffset() {
			return inChunk(chunks, i, fmt.Errorf("buffer 1 (offsets): the chunks together end beyond %d: upload fewer rows at a time or use the large variant of %v: %w",
				l.MaximumOffset(), l.Storage, memory.ErrOverflow))
		}
		behind = sum
	}
	if last < 0 {
		p.advance(uint64(l.Width)) // an array without elements has one offset too
	}
	p.end(n, start)
	return nil
}

// between returns the first and the last of some offsets.
func (c *chunk) between(l layout.Layout, offsets []byte, limit int, elements string) error {
	first, last := signedAt(offsets, l.Width), signedAt(offsets[len(offsets)-l.Width:], l.Width)
	if first < 0 || last < first || last > math.MaxInt {
		return fmt.Errorf("buffer 1 (offsets) begins with %d and ends with %d: %w", first, last, ErrInvalid)
	}
	if int(last) > limit {
		return fmt.Errorf("buffer 1 (offsets) ends with %d, but there are %d %s: %w", last, limit, elements, ErrInvalid)
	}
	c.first, c.last = int(first), int(last)
	return nil
}

// lastWithElements returns the number of the last chunk that is not empty, or -1.
func lastWithElements(chunks []chunk) int {
	last := len(chunks) - 1
	for last >= 0 && chunks[last].length == 0 {
		last--
	}
	return last
}

// views plans strings and bytes that are referred to by views. Views may point
// anywhere, so the data buffers are copied whole.
func (p *planner) views(n *node, l layout.Layout, chunks []chunk) error {
	start := p.begin()
	behind := 0
	for i, c := range nonEmpty(chunks) {
		views, err := c.elements(l, 1)
		if err != nil {
			return inChunk(chunks, i, err)
		}
		var moved rewriting
		if behind > 0 {
			moved = viewsBehind(uint32(behind))
		}
		p.elements(views, viewBytes, moved, chunks, i, c.checkedViews(l, views))
		behind += len(c.data.Buffers()) - 2
	}
	if behind > math.MaxInt32 {
		return fmt.Errorf("the chunks together have %d data buffers: %w", behind, memory.ErrOverflow)
	}
	p.end(n, start)
	for _, c := range nonEmpty(chunks) {
		for k := 2; k < len(c.data.Buffers()); k++ {
			start := p.begin()
			p.data(c.buffer(l, k))
			p.end(n, start)
		}
	}
	return nil
}
