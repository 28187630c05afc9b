package column

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// Skeleton describes a column without its memory: types, lengths, null counts, and
// the block and position of every buffer and of the row count. It keeps no memory
// alive. When blocks were moved to other memory and back, the skeleton rebuilds the
// column. A Skeleton is immutable.
type Skeleton struct {
	// data has no references to memory.
	data       Data
	rows       *rowsPlace
	places     []Place
	children   []Skeleton
	dictionary *Skeleton
}

// absent is the block of a buffer that the column lacks.
const absent = -1

// Skeleton returns the column without its memory. It calls number for the block of
// every buffer, of the children and of the dictionary. number returns the index at
// which [Skeleton.Column] will find the block's replacement. It is called several
// times for a block with several buffers.
func (c *Column) Skeleton(number func(*memory.Block) int) (Skeleton, error) {
	if err := c.Check(); err != nil {
		return Skeleton{}, err
	}
	return c.skeleton(number, nil), nil
}

// skeleton does not describe a child's row count that comes from its parent.
func (c *Column) skeleton(number func(*memory.Block) int, parent *Column) Skeleton {
	s := Skeleton{data: c.data}
	s.data.Buffers, s.data.Children, s.data.Dictionary, s.data.Rows = nil, nil, nil, nil
	s.data.Known = c.Known()
	for _, buffer := range c.data.Buffers {
		p := Place{Block: absent}
		if block := buffer.Block(); block != nil {
			p = Place{Block: number(block), Offset: buffer.Offset(), Bytes: buffer.Len()}
		}
		s.places = append(s.places, p)
	}
	for _, child := range c.data.Children {
		s.children = append(s.children, child.skeleton(number, c))
	}
	if c.data.Dictionary != nil {
		dictionary := c.data.Dictionary.skeleton(number, nil)
		s.dictionary = &dictionary
	}
	if c.data.Rows != nil && !parent.countsChildren() {
		s.rows = c.data.Rows.place(number)
	}
	return s
}

// Column makes the column in blocks that hold the same bytes as the original ones. It
// retains the blocks that it uses. The caller releases the column.
//
// # Errors
//
// The error wraps memory.ErrRange if a block is missing or too short, and
// memory.ErrReleased if one was released.
func (s *Skeleton) Column(blocks []*memory.Block) (*Column, error) {
	if s.rows == nil {
		return s.column(blocks, nil)
	}
	rows, err := s.rows.in(blocks)
	if err != nil {
		return nil, fmt.Errorf("column: rebuild: row count: %w", err)
	}
	c, err := s.column(blocks, rows)
	return c, errors.Join(err, rows.Release()) // the column holds its own reference
}

// ColumnWithRows is [Skeleton.Column] for one of several columns that share a row
// count. The column gets the given count, or no count if rows is nil.
func (s *Skeleton) ColumnWithRows(blocks []*memory.Block, rows *RowCount) (*Column, error) {
	return s.column(blocks, rows)
}

func (s *Skeleton) column(blocks []*memory.Block, rows *RowCount) (*Column, error) {
	data := s.data
	data.Rows = rows
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

// in returns the buffer in blocks that hold the same bytes as the original ones.
func (p Place) in(blocks []*memory.Block) (Bytes, error) {
	if p.Block < 0 {
		return Bytes{}, nil
	}
	if p.Block >= len(blocks) {
		return Bytes{}, fmt.Errorf("its block is number %d, but %d blocks were passed: %w", p.Block, len(blocks), memory.ErrRange)
	}
	return memory.View[uint8](blocks[p.Block], p.Offset, p.Bytes)
}

// Buffers calls f with each buffer of the column, of its children and of its dictionary, and with the length of an
// element in it: 0 for data, and 8 for bitmaps, whose words kernels read.
func (s *Skeleton) Buffers(f func(place Place, element int)) {
	l, err := layoutOf(s.data.Type)
	for i, p := range s.places {
		if p.Block < 0 || err != nil {
			continue
		}
		element := 0
		switch b := l.Buffer(i); b {
		case layout.Validity, layout.ValueBits:
			element = 8
		default:
			element = l.ElementBytes(b)
		}
		f(p, element)
	}
	for i := range s.children {
		s.children[i].Buffers(f)
	}
	if s.dictionary != nil {
		s.dictionary.Buffers(f)
	}
}

// countsChildren reports whether the children get their row counts from the column.
func (c *Column) countsChildren() bool {
	if c == nil || c.data.Rows == nil {
		return false
	}
	l, err := layoutOf(c.data.Type)
	_, counts := perElement(l)
	return err == nil && counts
}

// rowsPlace is a row count without its memory.
type rowsPlace struct {
	// place, most and host describe the number in device memory.
	place      Place
	most, host int64
	// The count is add + times × that number. Its maximum is the capacity.
	add, times, capacity int64
}

func (r *RowCount) place(number func(*memory.Block) int) *rowsPlace {
	add, times, root := r.chain()
	device := root.device
	return &rowsPlace{
		place: Place{Block: number(device.Block()), Offset: device.Offset(), Bytes: int(device.Bytes())},
		most:  root.capacity, host: root.host.Load(), add: add, times: times, capacity: r.capacity,
	}
}

// in returns the row count in blocks that hold the same bytes as the original ones.
func (p *rowsPlace) in(blocks []*memory.Block) (*RowCount, error) {
	bytes, err := p.place.in(blocks)
	if err != nil {
		return nil, err
	}
	device, err := memory.Reinterpret[int64](bytes)
	if err != nil {
		return nil, err
	}
	root, err := NewRowCount(device, p.most)
	if err != nil {
		return nil, err
	}
	root.host.Store(p.host)
	defer root.Release() // the result holds its own reference
	return root.derive(p.add, p.times, p.capacity)
}
