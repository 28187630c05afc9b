package column

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// widened returns data of one type that fits one column. If 32-bit offsets do not suffice for all
// together, or some have 64-bit ones, all get 64-bit ones. Data with inconsistent parts stays as it is:
// the plan of its buffers reports what is wrong.
func (p *planner) widened(arrays []arrow.ArrayData) []arrow.ArrayData {
	if len(arrays) < 2 {
		return arrays
	}
	spans := make([]span, len(arrays))
	for i, data := range arrays {
		spans[i] = span{data, data.Offset(), data.Len()}
	}
	t, mixed := commonOffsets(spans)
	t, wider, ok := fittingType(t, spans, p.maximumOffset)
	if !ok || !mixed && !wider {
		return arrays
	}
	wide := make([]arrow.ArrayData, len(arrays))
	for i, data := range arrays {
		to, _ := layout.Wider(data.DataType(), t)
		wide[i] = widenData(data, to)
		p.temporary = append(p.temporary, wide[i])
	}
	return wide
}

// commonOffsets returns the type of the first span with the widest offsets of all, and whether these
// differ.
func commonOffsets(spans []span) (t arrow.DataType, mixed bool) {
	t = spans[0].data.DataType()
	for _, s := range spans[1:] {
		other := s.data.DataType()
		wider, changed := layout.Wider(t, other)
		_, behind := layout.Wider(other, t)
		t, mixed = wider, mixed || changed || behind
	}
	return t, mixed
}

// span is a range of the elements in the buffers of host data.
type span struct {
	data           arrow.ArrayData
	offset, length int
}

// child returns a range of child 0 or another one.
func (s span) child(i, offset, length int) (span, bool) {
	children := s.data.Children()
	if i >= len(children) || isNil(children[i]) || offset < 0 || length < 0 {
		return span{}, false
	}
	return span{children[i], children[i].Offset() + offset, length}, true
}

// ends returns the first and the last offset of the elements.
func (s span) ends(width int) (first, last int64, ok bool) {
	if s.length == 0 {
		return 0, 0, true
	}
	buffers := s.data.Buffers()
	if len(buffers) < 2 || buffers[1] == nil || s.offset < 0 || s.length < 0 || s.length > buffers[1].Len()/width-1-s.offset {
		return 0, 0, false
	}
	bytes := buffers[1].Bytes()
	first, last = signedAt(bytes[s.offset*width:], width), signedAt(bytes[(s.offset+s.length)*width:], width)
	return first, last, first >= 0 && last >= first
}

// fittingType returns the type t with 64-bit offsets where 32-bit ones do not suffice for all spans,
// and whether it differs. ok is false for data that is not understood.
func fittingType(t arrow.DataType, spans []span, most int64) (fitting arrow.DataType, wider, ok bool) {
	l, err := layout.Of(t)
	if err != nil {
		return t, false, false
	}
	total, children := int64(0), make([][]span, l.Children())
	for _, s := range spans {
		chunkLayout, err := layout.Of(s.data.DataType())
		if err != nil || chunkLayout.Kind != l.Kind || chunkLayout.Children() != len(children) {
			return t, false, false
		}
		used, sound := s.parts(chunkLayout, children)
		if total += used; !sound || total < 0 {
			return t, false, false
		}
	}
	ok = true
	fitting, wider = layout.WithInner(t, func(i int, child arrow.DataType) (arrow.DataType, bool) {
		if i >= len(children) {
			return child, false // the values of a dictionary, which are merged
		}
		inner, changed, fits := fittingType(child, children[i], most)
		ok = ok && fits
		return inner, changed
	})
	if l.HasOffsets() && l.Width == 4 && total > most {
		if wide, has := layout.Wide(fitting); has {
			fitting, wider = wide, true
		}
	}
	return fitting, wider, ok
}

// parts returns the number of bytes or elements that offsets count, and adds to children the
// elements of each.
func (s span) parts(l layout.Layout, children [][]span) (used int64, ok bool) {
	first, last := int64(0), int64(0)
	from, length := s.offset, s.length
	switch l.Kind {
	case layout.Binary, layout.List:
		if first, last, ok = s.ends(l.Width); !ok {
			return 0, false
		}
		from, length = int(first), int(last-first)
	case layout.ListView:
		from, length = 0, 0
		if len(s.data.Children()) > 0 && !isNil(s.data.Children()[0]) {
			length = s.data.Children()[0].Len()
		}
		last = int64(length)
	case layout.FixedSizeList:
		from, length = s.offset*l.ListSize(), s.length*l.ListSize()
	case layout.Struct:
	default:
		return 0, true
	}
	for i := range children {
		child, ok := s.child(i, from, length)
		if !ok {
			return 0, false
		}
		children[i] = append(children[i], child)
	}
	return last - first, true
}

// widenData returns data with the wider offsets of another type. It shares all other memory. The caller
// releases the data.
func widenData(data arrow.ArrayData, to arrow.DataType) arrow.ArrayData {
	from, err := layout.Of(data.DataType())
	l, wideErr := layout.Of(to)
	if _, changed := layout.Wider(data.DataType(), to); !changed || err != nil || wideErr != nil {
		data.Retain()
		return data
	}
	if whole, ok := data.Dictionary().(*array.Data); ok && whole != nil {
		dictionary := widenData(whole, l.Dictionary()).(*array.Data)
		defer dictionary.Release()
		return array.NewDataWithDictionary(to, data.Len(), data.Buffers(), data.NullN(), data.Offset(), dictionary)
	}
	buffers := append([]*arrowmemory.Buffer(nil), data.Buffers()...)
	if from.Width != l.Width && l.HasOffsets() {
		for i := 1; i < len(buffers) && i <= offsetBuffers(l); i++ {
			buffers[i] = widenIntegers(buffers[i])
		}
	}
	children := append([]arrow.ArrayData(nil), data.Children()...)
	for i := range min(len(children), l.Children()) {
		t, _ := l.Child(i)
		children[i] = widenData(children[i], t)
		defer children[i].Release()
	}
	return array.NewData(to, data.Len(), buffers, children, data.NullN(), data.Offset())
}

// offsetBuffers returns the number of buffers of offsets and sizes.
func offsetBuffers(l layout.Layout) int {
	if l.Kind == layout.ListView {
		return 2
	}
	return 1
}

// widenIntegers returns integers of 4 bytes as integers of 8 bytes.
func widenIntegers(narrow *arrowmemory.Buffer) *arrowmemory.Buffer {
	if narrow == nil {
		return nil
	}
	bytes := narrow.Bytes()
	wide := make([]byte, 2*len(bytes))
	for i := range len(bytes) / 4 {
		binary.NativeEndian.PutUint64(wide[8*i:], uint64(int64(int32(binary.NativeEndian.Uint32(bytes[4*i:])))))
	}
	return arrowmemory.NewBufferBytes(wide)
}
