package column

import (
	"fmt"
	"iter"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

const (
	// bufferAlignment is the alignment of buffers in their block. It is the CUDA
	// driver's alignment of allocations.
	bufferAlignment = 256
	// bufferPadding is the padding of a block's length. Arrow recommends it for every
	// buffer.
	bufferPadding = 64
)

// planner describes a transfer before it runs: a tree of nodes with the place of each
// buffer in the block, and a list of sources in ascending order. A source is a part
// of a host buffer, or a function that makes its bytes.
type planner struct {
	// cursor is the next free byte of the block.
	cursor   uint64
	overflow bool
	sources  []memory.Source

	// nodes and chunks are slabs that nodes and chunks are taken from, so that small
	// columns need no allocation each.
	nodes  []node
	chunks []chunk

	// temporary holds arrays, and their data, that were made for the transfer.
	temporary []interface{ Release() }
	// maximumOffset is the number that 32-bit offsets reach to.
	maximumOffset int64

	// unchecked skips the checks of contents. watched are the checked buffers, and
	// verdict is the result of the checks. column, name and where locate the part
	// that is being planned, for errors.
	unchecked bool
	watched   []*watched
	verdict   *verdict
	column    int
	name      func(i int) string
	where     *step
}

// node is a planned column.
type node struct {
	dataType      arrow.DataType
	length, nulls int
	extents       []extent
	children      []*node
	dictionary    *node
	known         Known

	// few holds the extents of most types without an allocation.
	few [3]extent
}

// extent is the place of a buffer in the block.
type extent struct {
	offset, bytes uint64
	absent        bool
}

func (p *planner) newNode(t arrow.DataType) *node {
	const together = 16
	if len(p.nodes) == cap(p.nodes) {
		p.nodes = make([]node, 0, together)
	}
	p.nodes = p.nodes[:len(p.nodes)+1]
	n := &p.nodes[len(p.nodes)-1]
	n.dataType, n.extents = t, n.few[:0]
	return n
}

// keep returns the chunks that were appended after the first since ones. They stay
// valid, because later appends never overwrite them.
func (p *planner) keep(since int) []chunk {
	return p.chunks[since:len(p.chunks):len(p.chunks)]
}

// begin starts the next buffer of a node.
func (p *planner) begin() (start uint64) {
	p.advance(-p.cursor % bufferAlignment)
	return p.cursor
}

// end adds the buffer that began at start to the node.
func (p *planner) end(n *node, start uint64) {
	n.extents = append(n.extents, extent{offset: start, bytes: p.cursor - start})
}

// advance leaves room. Bytes without a source become zero.
func (p *planner) advance(bytes uint64) {
	if bytes > math.MaxInt64-p.cursor {
		p.overflow = true
		return
	}
	p.cursor += bytes
}

// data plans bytes that are copied unchanged.
func (p *planner) data(bytes []byte) {
	if len(bytes) > 0 {
		p.sources = append(p.sources, memory.Source{Offset: p.cursor, Data: bytes})
		p.advance(uint64(len(bytes)))
	}
}

// fill plans bytes that are computed during the transfer.
func (p *planner) fill(bytes int, fill func(destination []byte, offset uint64)) {
	if bytes > 0 {
		p.sources = append(p.sources, memory.Source{Offset: p.cursor, Bytes: uint64(bytes), Fill: fill})
		p.advance(uint64(bytes))
	}
}

// total returns the length of the block.
func (p *planner) total() (uint64, error) {
	p.advance(-p.cursor % bufferPadding)
	if p.overflow {
		return 0, fmt.Errorf("the total length of the buffers: %w", memory.ErrOverflow)
	}
	return p.cursor, nil
}

// release releases the temporary arrays.
func (p *planner) release() {
	release.Arrow(p.temporary)
}

// plan makes a node of a type from a sequence of chunks, which may be empty.
func (p *planner) plan(t arrow.DataType, chunks []chunk) (*node, error) {
	l, err := layoutOf(t)
	if err != nil {
		return nil, err
	}
	for i := range chunks {
		if err := chunks[i].check(l); err != nil {
			return nil, inChunk(chunks, i, err)
		}
	}
	n := p.newNode(t)
	for i := range chunks {
		ok := false
		if n.length, ok = add(n.length, chunks[i].length); !ok {
			return nil, fmt.Errorf("the total length of the chunks: %w", memory.ErrOverflow)
		}
	}
	if l.HasValidity() {
		if err := p.validity(n, l, chunks); err != nil {
			return nil, err
		}
	}
	switch l.Kind {
	case layout.Null:
		n.nulls = n.length
		return n, nil
	case layout.Fixed:
		return n, p.values(n, l, chunks, 1, l.Width)
	case layout.Bits:
		return n, p.bools(n, l, chunks)
	case layout.Binary:
		return n, p.binary(n, l, chunks)
	case layout.View:
		return n, p.views(n, l, chunks)
	case layout.List:
		return n, p.list(n, l, chunks)
	case layout.ListView:
		return n, p.listView(n, l, chunks)
	case layout.FixedSizeList:
		return n, p.fixedSizeList(n, l, chunks)
	case layout.Struct:
		return n, p.parallel(n, l, chunks)
	case layout.SparseUnion:
		if err := p.typeIDs(n, l, chunks); err != nil {
			return nil, err
		}
		return n, p.parallel(n, l, chunks)
	case layout.DenseUnion:
		return n, p.denseUnion(n, l, chunks)
	case layout.Dictionary:
		return n, p.dictionary(n, l, chunks)
	default:
		return n, p.runEnds(n, l, chunks)
	}
}

// nonEmpty iterates over the chunks that have elements.
func nonEmpty(chunks []chunk) iter.Seq2[int, *chunk] {
	return func(yield func(int, *chunk) bool) {
		for i := range chunks {
			if c := &chunks[i]; c.length > 0 && !yield(i, c) {
				return
			}
		}
	}
}

// inChunk adds the chunk to an error, if there are several chunks.
func inChunk(chunks []chunk, i int, err error) error {
	if len(chunks) == 1 {
		return err
	}
	return fmt.Errorf("chunk %d: %w", i, err)
}

// child plans child i of a node.
func (p *planner) child(n *node, l layout.Layout, i int, chunks []chunk) error {
	t, name := l.Child(i)
	child, err := p.below(i, name, t, chunks)
	if err != nil {
		return inChild(i, name, err)
	}
	n.children = append(n.children, child)
	return nil
}

// below plans a child or a dictionary.
func (p *planner) below(i int, name string, t arrow.DataType, chunks []chunk) (*node, error) {
	above := p.where
	if !p.unchecked {
		p.where = &step{above: above, child: i, name: name}
	}
	planned, err := p.plan(t, chunks)
	p.where = above
	return planned, err
}

func inChild(i int, name string, err error) error {
	return fmt.Errorf("child %d (%s): %w", i, name, err)
}

// childOf takes elements of child i from every chunk and plans the child.
func (p *planner) childOf(n *node, l layout.Layout, i int, chunks []chunk, part func(c *chunk) (from, length int)) error {
	since := len(p.chunks)
	for k := range chunks {
		from, length := part(&chunks[k])
		if length == 0 {
			from = 0
		}
		taken, err := chunks[k].child(i, from, length)
		if err != nil {
			_, name := l.Child(i)
			return inChunk(chunks, k, inChild(i, name, err))
		}
		p.chunks = append(p.chunks, taken)
	}
	return p.child(n, l, i, p.keep(since))
}
