package selection

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// part is a range of a column: length elements, starting at position offset of its
// buffers.
type part struct {
	data           column.Data
	offset, length int
}

func whole(c *column.Column) part {
	data := c.Data()
	return part{data, data.Offset, data.Length}
}

// child returns the part of child i with length elements from position offset.
func (p part) child(i, offset, length int) part {
	data := p.data.Children[i].Data()
	return part{data, data.Offset + offset, length}
}

// bits is a bitmap and the number of its first bit. If it has no memory all bits are
// set.
type bits struct {
	bytes column.Bytes
	at    uint64
}

// absent reports whether the bitmap has no memory.
func (b bits) absent() bool { return b.bytes.Len() == 0 }

// valid returns the validity of the elements, which is absent if no element is null.
func (p part) valid(l layout.Layout) bits {
	if !l.HasValidity() || p.data.NullCount == 0 || p.length == 0 {
		return bits{}
	}
	return p.bits(0)
}

// bits returns the bits of the elements in a buffer.
func (p part) bits(buffer int) bits {
	if p.length == 0 {
		return bits{}
	}
	return bits{p.data.Buffers[buffer], uint64(p.offset)}
}

// values returns count values of a width, starting with the first element.
func (p part) values(buffer, width, count int) (column.Bytes, error) {
	if p.length == 0 || width == 0 {
		return column.Bytes{}, nil
	}
	return p.data.Buffers[buffer].Slice(p.offset*width, (p.offset+count)*width)
}

// extent returns the number of bytes of strings or elements of lists.
func (p part) extent(l layout.Layout) int {
	if l.Kind == layout.Binary {
		return p.data.Buffers[2].Len()
	}
	return p.data.Children[0].Len()
}

// retainable is an object that is held until a result holds its own references.
type retainable interface{ Release() error }

var (
	_ retainable = (*memory.Block)(nil)
	_ retainable = (*column.Column)(nil)
)
