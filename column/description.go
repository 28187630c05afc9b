package column

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// Description is an exported form of a [Skeleton], for another process: it has all
// parts of a column except its memory and its type. The reader has the type from a
// schema.
type Description struct {
	// Length, Offset and NullCount are as in [Data].
	Length    int `json:"length"`
	Offset    int `json:"offset,omitempty"`
	NullCount int `json:"nulls"`
	// Unique reports whether no two elements are equal: see [Known].
	Unique bool `json:"unique,omitempty"`
	// Buffers, Children and Dictionary are in the order of the type's layout.
	Buffers    []Place       `json:"buffers,omitempty"`
	Children   []Description `json:"children,omitempty"`
	Dictionary *Description  `json:"dictionary,omitempty"`
}

// Place is the position of a buffer: Bytes bytes at Offset in a numbered block.
type Place struct {
	// Block is negative for a buffer that the column lacks.
	Block  int    `json:"block"`
	Offset uint64 `json:"offset,omitempty"`
	Bytes  int    `json:"bytes,omitempty"`
}

// Describe returns all parts of the column except its memory. It calls number for the
// block of every buffer, as [Column.Skeleton] does. An empty buffer is described as
// absent.
//
// # Errors
//
// A description has no row count on the device. If only the device has the number of
// rows, the error wraps [ErrRowsOnDevice]: call NumRows first. If the column has
// fewer rows than Len, the description has that length.
func (c *Column) Describe(number func(*memory.Block) int) (Description, error) {
	if err := c.Check(); err != nil {
		return Description{}, err
	}
	if _, known := c.HostRows(); !known {
		return Description{}, fmt.Errorf("column: describe %v: %w", c, ErrRowsOnDevice)
	}
	return c.describe(number), nil
}

func (c *Column) describe(number func(*memory.Block) int) Description {
	shown := c.data
	if rows, known := c.HostRows(); known {
		shown.cut(rows)
	}
	d := Description{Length: shown.Length, Offset: shown.Offset, NullCount: shown.NullCount, Unique: c.Known().Unique == Yes}
	for _, buffer := range c.data.Buffers {
		p := Place{Block: absent}
		if buffer.Len() > 0 {
			p = Place{Block: number(buffer.Block()), Offset: buffer.Offset(), Bytes: buffer.Len()}
		}
		d.Buffers = append(d.Buffers, p)
	}
	for _, child := range c.data.Children {
		d.Children = append(d.Children, child.describe(number))
	}
	if c.data.Dictionary != nil {
		dictionary := c.data.Dictionary.describe(number)
		d.Dictionary = &dictionary
	}
	return d
}

// Places is an iterator over the places of the description, of its children and of
// its dictionary. The loop may change them.
func (d *Description) Places(yield func(*Place) bool) { d.places(yield) }

func (d *Description) places(yield func(*Place) bool) bool {
	for i := range d.Buffers {
		if !yield(&d.Buffers[i]) {
			return false
		}
	}
	for i := range d.Children {
		if !d.Children[i].places(yield) {
			return false
		}
	}
	return d.Dictionary == nil || d.Dictionary.places(yield)
}

// Column makes a column of a type in blocks with the described contents. Blocks
// without a place may be nil. The column retains the blocks that it uses; the caller
// releases the column.
//
// # Errors
//
// The description is not trusted. The error wraps [ErrInvalid] if it contradicts the
// type or itself, and memory.ErrRange if it does not match the blocks, like the
// errors of [New] and memory.View.
func (d Description) Column(t arrow.DataType, blocks []*memory.Block) (*Column, error) {
	c, err := d.column(t, blocks)
	if err != nil {
		return nil, fmt.Errorf("column: rebuild from a description: %w", err)
	}
	return c, nil
}

func (d Description) column(t arrow.DataType, blocks []*memory.Block) (c *Column, err error) {
	l, err := layoutOf(t)
	if err != nil {
		return nil, err
	}
	if len(d.Children) != l.Children() || (d.Dictionary != nil) != (l.Kind == layout.Dictionary) {
		return nil, fmt.Errorf("%d children and dictionary %v do not fit %v: %w", len(d.Children), d.Dictionary != nil, t, ErrInvalid)
	}
	data := Data{Type: t, Length: d.Length, Offset: d.Offset, NullCount: d.NullCount, Manager: managerOf(blocks)}
	if d.Unique {
		data.Known.Unique = Yes
	}
	for i, p := range d.Buffers {
		buffer, err := p.in(blocks)
		if err != nil {
			return nil, fmt.Errorf("buffer %d: %w", i, err)
		}
		data.Buffers = append(data.Buffers, buffer)
	}
	defer func() {
		// The column holds its own references.
		_ = releaseAll(nil, data.Children)
		_ = data.Dictionary.Release()
	}()
	for i, child := range d.Children {
		childType, name := l.Child(i)
		childColumn, err := child.column(childType, blocks)
		if err != nil {
			return nil, fmt.Errorf("child %q: %w", name, err)
		}
		data.Children = append(data.Children, childColumn)
	}
	if d.Dictionary != nil {
		if data.Dictionary, err = d.Dictionary.column(l.Dictionary(), blocks); err != nil {
			return nil, fmt.Errorf("dictionary: %w", err)
		}
	}
	return New(data)
}

// managerOf returns the manager of some blocks, which may be nil.
func managerOf(blocks []*memory.Block) *memory.Manager {
	for _, block := range blocks {
		if block != nil {
			return block.Manager()
		}
	}
	return nil
}
