package pack

import (
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// A column is moved with the parts of its buffers that its elements use. bitmapRows is the
// number of rows that a part begins at a multiple of, so that bitmaps begin at a byte.
const bitmapRows = 8

// alignment is that of buffers in a block, as column.FromArrays aligns them.
const alignment = 256

// slackElements is the number of elements that the memory of a column may have beyond those
// that it uses before it counts as a slice.
const slackElements = 256

// Region is a part of a buffer and its position in the block of the copy.
type Region struct {
	Source column.Bytes
	At     uint64
}

// Shape is a column without its memory.
type Shape struct {
	// Data has no buffers, children or dictionary.
	Data column.Data
	// Of is the column, borrowed.
	Of *column.Column
	// Regions has the number of the region of each buffer, or Absent.
	Regions    []int
	Children   []*Shape
	Dictionary *column.Column
	// Whole is set if the elements are all those of the column.
	Whole bool
}

// Absent is the region of a buffer without bytes.
const Absent = -1

// Plan lists the regions of one block. The zero value is an empty plan.
type Plan struct {
	Regions []Region
	// Bytes is the size of the block.
	Bytes uint64
	// Sliced is set if a string or list of the column uses a part of its data only.
	Sliced bool
}

// add adds a part of a buffer.
func (p *Plan) add(source column.Bytes, from, to int) (int, error) {
	from, to = min(from, source.Len()), min(to, source.Len())
	if from >= to {
		return Absent, nil
	}
	part, err := source.Slice(from, to)
	if err != nil {
		return Absent, err
	}
	p.Regions = append(p.Regions, Region{Source: part, At: p.Bytes})
	p.Bytes += (part.Bytes() + alignment - 1) / alignment * alignment
	return len(p.Regions) - 1, nil
}

// All plans to move all elements of a column. Its dictionary is not part of the plan.
//
// # Errors
//
// The error wraps column.ErrInvalid if the type has no layout.
func (p *Plan) All(c *column.Column) (*Shape, error) {
	data := c.Data()
	return p.crop(c, data.Offset, data.Offset+data.Length, false)
}

// crop plans to move the elements from a position of the buffers to another one. inWhole is set
// below a child that is moved as a whole.
func (p *Plan) crop(c *column.Column, from, to int, inWhole bool) (*Shape, error) {
	data := c.Data()
	l, err := layout.Of(data.Type)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, column.ErrInvalid)
	}
	s := &Shape{Data: data, Of: c, Whole: from == data.Offset && to == data.Offset+data.Length}
	first := from / bitmapRows * bitmapRows
	s.Data.Buffers, s.Data.Children, s.Data.Dictionary, s.Data.Rows, s.Data.Manager = nil, nil, nil, nil, nil
	s.Data.Offset, s.Data.Length = from-first, to-from
	switch {
	case s.Whole || data.NullCount == 0:
	case data.NullCount == data.Length:
		s.Data.NullCount = s.Data.Length
	default:
		s.Data.NullCount = column.UnknownNullCount
	}
	switch l.Kind {
	case layout.Null:
		s.Data.Offset, s.Data.NullCount = 0, s.Data.Length
	case layout.RunEnds:
		s.Data.Offset = from // the ends of the runs count all elements
	}
	for i, buffer := range data.Buffers {
		number, err := p.buffer(l, i, buffer, data, first, to, inWhole)
		if err != nil {
			return nil, err
		}
		s.Regions = append(s.Regions, number)
	}
	for i := range data.Children {
		child := data.Children[i]
		start, end, whole := childRange(l, child.Data(), first, to)
		shape, err := p.crop(child, start, end, inWhole || whole)
		if err != nil {
			return nil, err
		}
		s.Children = append(s.Children, shape)
	}
	s.Dictionary = data.Dictionary
	return s, nil
}

// childRange returns the positions of a child's elements that belong to a range of its
// parent. whole is set if the elements that offsets refer to are not known: then they are all.
func childRange(l layout.Layout, child column.Data, first, to int) (start, end int, whole bool) {
	switch l.Kind {
	case layout.Struct, layout.SparseUnion:
		return child.Offset + first, child.Offset + to, false
	case layout.FixedSizeList:
		return child.Offset + first*l.ListSize(), child.Offset + to*l.ListSize(), false
	}
	return child.Offset, child.Offset + child.Length, true
}

// buffer plans the part of a buffer for the elements from first to the one before to.
func (p *Plan) buffer(l layout.Layout, i int, buffer column.Bytes, data column.Data, first, to int, inWhole bool) (int, error) {
	switch role := l.Buffer(i); role {
	case layout.Validity:
		if data.NullCount == 0 || first == to {
			return Absent, nil
		}
		return p.add(buffer, first/8, (to+7)/8)
	case layout.ValueBits:
		return p.add(buffer, first/8, (to+7)/8)
	case layout.Data:
		return p.add(buffer, 0, buffer.Len())
	case layout.Offsets:
		elements := buffer.Len()/max(l.Width, 1) - 1
		if !inWhole && (first > 0 || elements-to > slackElements) {
			p.Sliced = true
		}
		return p.add(buffer, first*l.Width, (to+1)*l.Width)
	default:
		width := l.ElementBytes(role)
		return p.add(buffer, first*width, to*width)
	}
}
