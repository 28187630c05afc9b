package selection

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// takeFixedSizeLists takes the elements of fixed-size lists. The elements of a row are
// adjacent, so they move as one wide value.
func (g *gatherer) takeFixedSizeLists(target *pending, p part, l layout.Layout, s *source) (err error) {
	if target.data.Buffers, err = g.takeValidity(p, l, s); err != nil {
		return err
	}
	size := l.ListSize()
	if size > 0 && s.capacity > math.MaxInt/8/size {
		return fmt.Errorf("%d lists of %d elements: %w", s.capacity, size, memory.ErrOverflow)
	}
	element := l.Storage.(*arrow.FixedSizeListType).ElemField()
	child, err := g.takeElements(p.child(0, p.offset*size, p.length*size), s.under(element), size)
	target.children = append(target.children, child)
	return err
}

// takeElements takes, for each row of the source, size adjacent elements.
func (g *gatherer) takeElements(p part, s *source, size int) (*pending, error) {
	l, err := layoutOf(p.data.Type)
	if err != nil {
		return nil, err
	}
	target := &pending{data: column.Data{Type: s.resultType(p.data.Type), Length: s.capacity * size, NullCount: column.UnknownNullCount}}
	switch l.Kind {
	case layout.Null:
		target.data.NullCount = target.data.Length
		return target, nil
	case layout.Fixed, layout.View, layout.Dictionary:
		err = g.takeElementValues(target, p, l, s, size)
	case layout.Bits:
		if target.data.Buffers, err = g.elementValidity(p, l, s, size); err == nil {
			err = g.appendElementBits(target, p.bits(1), s, size)
		}
	case layout.FixedSizeList:
		err = g.takeElementLists(target, p, l, s, size)
	case layout.Struct:
		err = g.takeElementStructs(target, p, l, s, size)
	default:
		return g.takeListedElements(p, s, size)
	}
	if err != nil {
		return nil, err
	}
	target.knowNulls()
	return target, nil
}

// takeElementValues takes elements of a fixed width.
func (g *gatherer) takeElementValues(target *pending, p part, l layout.Layout, s *source, size int) (err error) {
	target.data.Dictionary = p.data.Dictionary
	if target.data.Buffers, err = g.elementValidity(p, l, s, size); err != nil {
		return err
	}
	if size > 0 && l.Width > math.MaxInt32/size {
		return fmt.Errorf("lists of %d elements of %d bytes: %w", size, l.Width, memory.ErrOverflow)
	}
	width := l.Width * size
	bytes, err := bytesFor(s.capacity, width)
	if err != nil {
		return err
	}
	buffers, err := g.allocate(bytes)
	if err != nil {
		return err
	}
	target.data.Buffers = append(target.data.Buffers, buffers[0])
	if l.Kind == layout.View {
		target.data.Buffers = append(target.data.Buffers, p.data.Buffers[2:]...)
	}
	values, err := p.values(1, l.Width, p.length)
	if err != nil || bytes == 0 || g.estimating() {
		return err
	}
	return g.takeUnits(buffers[0], values, width, s)
}

// takeUnits takes values of a width without their validity.
func (g *gatherer) takeUnits(out, values column.Bytes, width int, s *source) error {
	if g.call.OnHost() || !direct(width, values, out) {
		return g.takeWide(out, values, width, s)
	}
	return g.takeDirect(out, column.Bytes{}, values, bits{}, width, 0, s)
}

// takeElementLists takes elements that are fixed-size lists.
func (g *gatherer) takeElementLists(target *pending, p part, l layout.Layout, s *source, size int) (err error) {
	if target.data.Buffers, err = g.elementValidity(p, l, s, size); err != nil {
		return err
	}
	inner := l.ListSize()
	if inner > 0 && target.data.Length > math.MaxInt/8/inner || size > 0 && inner > math.MaxInt32/size {
		return fmt.Errorf("%d lists of %d elements: %w", target.data.Length, inner, memory.ErrOverflow)
	}
	element := l.Storage.(*arrow.FixedSizeListType).ElemField()
	child, err := g.takeElements(p.child(0, p.offset*inner, p.length*inner), s.under(element), size*inner)
	target.children = append(target.children, child)
	return err
}

// takeElementStructs takes elements that are structs.
func (g *gatherer) takeElementStructs(target *pending, p part, l layout.Layout, s *source, size int) (err error) {
	if target.data.Buffers, err = g.elementValidity(p, l, s, size); err != nil {
		return err
	}
	fields := l.Storage.(*arrow.StructType)
	for i := range p.data.Children {
		child, err := g.takeElements(p.child(i, p.offset, p.length), s.under(fields.Field(i)), size)
		if err != nil {
			return err
		}
		target.children = append(target.children, child)
	}
	return nil
}

// elementValidity takes the validity of elements. Elements of null rows lie under a
// null and need no bit. Indices of dictionaries do need one, because the dictionary may
// have no value to refer to.
func (g *gatherer) elementValidity(p part, l layout.Layout, s *source, size int) ([]column.Bytes, error) {
	valid := p.valid(l)
	target := &pending{data: column.Data{Length: s.capacity * size}}
	if valid.absent() && !(s.nulls && l.Kind == layout.Dictionary) {
		return []column.Bytes{{}}, nil
	}
	err := g.appendElementBits(target, valid, s, size)
	return target.data.Buffers, err
}

// appendElementBits appends a buffer with size bits per row.
func (g *gatherer) appendElementBits(target *pending, from bits, s *source, size int) error {
	buffers, err := g.allocate(bitmapBytes(target.data.Length))
	if err != nil {
		return err
	}
	target.data.Buffers = append(target.data.Buffers, buffers[0])
	if target.data.Length == 0 || g.estimating() {
		return nil
	}
	if g.call.OnHost() {
		return s.takeElementBitsOnHost(buffers[0], from, uint64(size))
	}
	return launch(g.call, takeFile, "take_wide_bits", target.data.Length, rowsEach,
		s.anyArguments(buffers[0], from.bytes, from.at, uint32(size))...)
}

// takeListedElements takes elements without a fixed width, by their indices.
func (g *gatherer) takeListedElements(p part, s *source, size int) (*pending, error) {
	elements := &source{order: listed64, limit: uint64(p.length), capacity: s.capacity * size, once: s.once, exact: s.exact, nulls: s.nulls}
	var err error
	if elements.rows, err = g.counted(count{rows: s.rows, capacity: s.capacity, size: uint64(size), most: uint64(elements.capacity)}); err != nil {
		return nil, err
	}
	if g.estimating() && elements.rows.Len() == 0 { // the rows of lists get a count later
		if _, err := g.scratch(countBytes); err != nil {
			return nil, err
		}
	}
	buffers, err := g.scratch(8 * uint64(elements.capacity))
	if err != nil {
		return nil, err
	}
	elements.indices = buffers[0]
	if elements.capacity > 0 && !g.estimating() {
		if g.call.OnHost() {
			err = s.expandFixedOnHost(elements.indices, uint64(size))
		} else {
			err = launch(g.call, takeFile, "expand_fixed", elements.capacity, 4,
				s.anyArguments(elements.indices, uint32(size))...)
		}
		if err != nil {
			return nil, err
		}
	}
	return g.take(p, elements, true)
}
