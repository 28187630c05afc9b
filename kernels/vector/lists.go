package vector

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// lists is a column of vectors, or one vector that all rows have, in the form that kernels take.
type lists struct {
	// offsets begins with the offset of the first list. It is empty for lists of a fixed size, and sizes for all but list
	// views.
	offsets, sizes memory.Slice[uint8]
	// width is the size of an offset, zero for lists of a fixed size. These begin at element first, and have size elements
	// each.
	width, first, size int
	// valid is the bitmap, empty if no list is null. bit is the first row's.
	valid memory.Slice[uint8]
	bit   int
	// rows is the number of rows or, if counted has memory, their maximum.
	rows    int
	counted memory.Slice[int64]
	// values are the elements, of which there are extent.
	values, valuesValid memory.Slice[uint8]
	valuesBit, extent   int
	number              number
	// constant is set if all rows have the first list. Then block holds its memory.
	constant bool
	block    *memory.Block
}

// listsOf returns a column as lists of numbers.
func listsOf(call *op.Call, c *column.Column) (l lists, err error) {
	var ok bool
	if l.number, ok = numberOf(c.Type()); !ok {
		return l, fmt.Errorf("%v is no list of integers or floats of 32 or 64 bits: %w", c.Type(), device.ErrNotSupported)
	}
	format, err := layout.Of(c.Type())
	if err != nil {
		return l, err
	}
	if l.rows, l.counted, err = c.Extent(call.Context()); err != nil || c.Len() == 0 {
		return l, err
	}
	if op.Nullable(c) {
		if l.valid, l.bit, err = c.Validity(); err != nil {
			return l, err
		}
	}
	if err := l.elements(call, c.Child(0)); err != nil {
		return l, err
	}
	if format.Kind == layout.FixedSizeList {
		l.first, l.size = c.Offset(), int(format.Storage.(*arrow.FixedSizeListType).Len())
		return l, nil
	}
	l.width = format.Width
	more := 1
	if format.Kind == layout.ListView {
		more = 0
		if l.sizes, err = c.Buffer(2).Slice(c.Offset()*l.width, (c.Offset()+c.Len())*l.width); err != nil {
			return l, err
		}
	}
	l.offsets, err = c.Buffer(1).Slice(c.Offset()*l.width, (c.Offset()+c.Len()+more)*l.width)
	return l, err
}

func (l *lists) elements(call *op.Call, c *column.Column) error {
	if l.extent = c.Len(); l.extent == 0 {
		return nil
	}
	view, err := call.View(c)
	if err != nil {
		return err
	}
	l.values, l.valuesValid, l.valuesBit = view.Values, view.Valid, view.Bit
	return nil
}

func (l *lists) layout() listsLayout {
	constant := uint32(0)
	if l.constant {
		constant = 1
	}
	return listsLayout{
		offsets: l.offsets, sizes: l.sizes, valid: l.valid, values: l.values, valuesValid: l.valuesValid, bit: uint64(l.bit), valuesBit: uint64(l.valuesBit),
		first: uint64(l.first), size: uint64(l.size), extent: uint64(l.extent), width: uint32(l.width), number: uint32(l.number), constant: constant,
	}
}

// hostLists is lists in memory that the processor reads.
type hostLists struct {
	*lists
	offsets, sizes, valid, values, valuesValid []byte
}

// host returns the lists, with the number of rows.
func (l *lists) host() (h hostLists, rows int, err error) {
	h.lists, rows = l, l.rows
	var failures [6]error
	h.offsets, failures[0] = l.offsets.Host()
	h.sizes, failures[1] = l.sizes.Host()
	h.valid, failures[2] = l.valid.Host()
	h.values, failures[3] = l.values.Host()
	h.valuesValid, failures[4] = l.valuesValid.Host()
	counted, err := l.counted.Host()
	failures[5] = err
	if len(counted) > 0 {
		rows = int(min(max(counted[0], 0), int64(rows)))
	}
	return h, rows, errors.Join(failures[:]...)
}

// span returns the elements of a list, which is not valid if the list or one of them is null.
func (h *hostLists) span(row int) (begin, count int, valid bool) {
	if h.constant {
		row = 0
	}
	if len(h.valid) > 0 && !isSet(h.valid, h.bit+row) {
		return 0, 0, false
	}
	if h.width == 0 {
		begin, count = (h.first+row)*h.size, h.size
	} else {
		if begin = wordOf(h.offsets, h.width, row); len(h.sizes) > 0 {
			count = wordOf(h.sizes, h.width, row)
		} else {
			count = wordOf(h.offsets, h.width, row+1) - begin
		}
		if begin < 0 || count < 0 || begin > h.extent || count > h.extent-begin {
			return 0, 0, true // beyond the elements: see package nested
		}
	}
	if len(h.valuesValid) > 0 {
		for i := begin; i < begin+count; i++ {
			if !isSet(h.valuesValid, h.valuesBit+i) {
				return begin, count, false
			}
		}
	}
	return begin, count, true
}

func isSet(bits []byte, i int) bool { return bits[i/8]>>(i%8)&1 != 0 }

func wordOf(words []byte, width, i int) int {
	if width == 4 {
		return int(op.Elements[int32](words)[i])
	}
	return int(op.Elements[int64](words)[i])
}

// float64s returns elements as float64. It writes them to scratch memory if they have another type.
func (h *hostLists) float64s(begin, count int, scratch *[]float64) []float64 {
	if h.number == float8 {
		return op.Elements[float64](h.values)[begin : begin+count]
	}
	if cap(*scratch) < count {
		*scratch = make([]float64, count)
	}
	to := (*scratch)[:count]
	switch h.number {
	case signed1:
		convert(to, op.Elements[int8](h.values)[begin:])
	case signed2:
		convert(to, op.Elements[int16](h.values)[begin:])
	case signed4:
		convert(to, op.Elements[int32](h.values)[begin:])
	case signed8:
		convert(to, op.Elements[int64](h.values)[begin:])
	case unsigned1:
		convert(to, h.values[begin:])
	case unsigned2:
		convert(to, op.Elements[uint16](h.values)[begin:])
	case unsigned4:
		convert(to, op.Elements[uint32](h.values)[begin:])
	case unsigned8:
		convert(to, op.Elements[uint64](h.values)[begin:])
	case float4:
		convert(to, op.Elements[float32](h.values)[begin:])
	}
	return to
}

func convert[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32](to []float64, from []T) {
	for i, v := range from[:len(to)] {
		to[i] = float64(v)
	}
}
