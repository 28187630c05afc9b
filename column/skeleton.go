package column

import (
	"fmt"

	"github.com/gpuframe/gpuframe/memory"
)

// Skeleton is all of a column but its memory: types, lengths, null counts, and
// where in which block every buffer lies. It keeps nothing alive. When blocks are
// moved as they are, elsewhere and back, the column is put together from it
// again. A Skeleton is immutable.
type Skeleton struct {
	// data lacks what refers to memory.
	data       Data
	places     []place
	children   []Skeleton
	dictionary *Skeleton
}

// place is where a buffer lies: so many bytes at an offset in a numbered block.
type place struct {
	block  int
	offset uint64
	bytes  int
}

// absent is the block of a buffer that the column lacks.
const absent = -1

// Skeleton returns all of the column but its memory. It calls number for the
// block of every buffer, children's and dictionary's included, to learn the
// position that [Skeleton.Column] will find the block's successor at; blocks that
// hold several buffers are met several times.
func (c *Column) Skeleton(number func(*memory.Block) int) (Skeleton, error) {
	if err := c.Check(); err != nil {
		return Skeleton{}, err
	}
	return c.skeleton(number), nil
}

func (c *Column) skeleton(number func(*memory.Block) int) Skeleton {
	s := Skeleton{data: c.data}
	s.data.Buffers, s.data.Children, s.data.Dictionary = nil, nil, nil
	for _, buffer := range c.data.Buffers {
		p := place{block: absent}
		if block := buffer.Block(); block != nil {
			p = place{block: number(block), offset: buffer.Offset(), bytes: buffer.Len()}
		}
		s.places = append(s.places, p)
	}
	for _, child := range c.data.Children {
		s.children = append(s.children, child.skeleton(number))
	}
	if c.data.Dictionary != nil {
		dictionary := c.data.Dictionary.skeleton(number)
		s.dictionary = &dictionary
	}
	return s
}

// Column makes the column in blocks that hold, byte for byte, what the skeleton's
// did. It retains those that it uses. An error wraps memory.ErrRange where a
// block is missing or too short, and memory.ErrReleased where one was released.
// The caller releases the column.
func (s *Skeleton) Column(blocks []*memory.Block) (*Column, error) {
	data := s.data
	for i, p := range s.places {
		buffer, err := p.in(blocks)
		if err != nil {
			return nil, fmt.Errorf("column: rebuild: buffer %d: %w", i, err)
		}
		data.Buffers = append(data.Buffers, buffer)
	}
	return assemble(data, len(s.children),
		func(i int) (*Column, error) { return s.children[i].Column(blocks) },
		s.dictionary != nil, func() (*Column, error) { return s.dictionary.Column(blocks) })
}

func (p place) in(blocks []*memory.Block) (Bytes, error) {
	if p.block == absent {
		return Bytes{}, nil
	}
	if p.block < 0 || p.block >= len(blocks) {
		return Bytes{}, fmt.Errorf("it lies in block %d of %d: %w", p.block, len(blocks), memory.ErrRange)
	}
	return memory.View[uint8](blocks[p.block], p.offset, p.bytes)
}
