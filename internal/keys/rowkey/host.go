package rowkey

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// Host encodes and compares rows on the host. It may be used from several goroutines.
type Host struct {
	plan   *Plan
	leaves []leaf
}

// NewHost returns the encoder of a plan, which it borrows. Work on the memory must be
// done. It fails for memory of a GPU.
func NewHost(plan *Plan) (*Host, error) {
	h := &Host{plan: plan, leaves: make([]leaf, len(plan.Sources))}
	for i := range plan.Sources {
		var err error
		if h.leaves[i], err = newLeaf(&plan.Sources[i]); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// leaf is a source in memory that the processor reads.
type leaf struct {
	*Source
	// valid are the bitmaps of the column and of the parents.
	valid []bitmap
	// offset is the number of elements before the first one in all other buffers.
	offset int
	values []byte
	ranks  []uint32
	// of lists and strings
	starts, sizes, data []byte
	views               [][]byte
}

// bitmap is a bitmap and the number of the first row's bit.
type bitmap struct {
	bytes []byte
	first int
}

func (b bitmap) isSet(row int) bool {
	at := b.first + row
	return b.bytes[at/8]>>(at%8)&1 != 0
}

func newLeaf(s *Source) (leaf, error) {
	l := leaf{Source: s}
	nullable := s.Parents[:len(s.Parents):len(s.Parents)]
	if hasNulls(s.Column, s.Layout) {
		nullable = append(nullable, s.Column)
	}
	for _, c := range nullable {
		bytes, err := c.Buffer(0).Host()
		if err != nil {
			return l, err
		}
		l.valid = append(l.valid, bitmap{bytes, c.Offset()})
	}
	data := s.Column.Data()
	l.offset = data.Offset
	buffers := make([][]byte, len(data.Buffers))
	for i, b := range data.Buffers {
		var err error
		if buffers[i], err = b.Host(); err != nil {
			return l, err
		}
	}
	if s.Storage == Ranked || s.Storage == Symbols {
		if s.Ranks == nil {
			return l, fmt.Errorf("the ranks of %v are missing: %w", s.Column, device.ErrInvalidValue)
		}
		ranks, err := column.Elements[uint32](s.Ranks)
		if err != nil {
			return l, err
		}
		if l.ranks, err = ranks.Host(); err != nil {
			return l, err
		}
	}
	switch s.Layout.Kind {
	case layout.Fixed, layout.Bits, layout.Dictionary:
		l.values = buffers[1]
	case layout.Binary:
		l.starts, l.data = buffers[1], buffers[2]
	case layout.View:
		l.values, l.views = buffers[1], buffers[2:]
	case layout.List:
		l.starts = buffers[1]
	case layout.ListView:
		l.starts, l.sizes = buffers[1], buffers[2]
	}
	return l, nil
}

// fixedLength returns the number of bytes or elements of each value, or −1 if it is not
// fixed.
func (s *Source) fixedLength() int {
	switch s.Layout.Kind {
	case layout.Fixed:
		return s.Layout.Width
	case layout.FixedSizeList:
		return s.Layout.ListSize()
	}
	return -1
}

// isNull reports whether a row is null, also if it is null in a parent or by a null of
// its dictionary.
func (l *leaf) isNull(row int) bool {
	for _, b := range l.valid {
		if !b.isSet(row) {
			return true
		}
	}
	return l.Storage == Ranked && l.rank(row) == 0
}

// rank returns the rank of a dictionary's value, or 0 for an index out of bounds.
func (l *leaf) rank(row int) uint32 {
	index := uint64(integerAt(l.values, l.offset+row, l.Layout.Width))
	if index >= uint64(len(l.ranks)) {
		return 0
	}
	return l.ranks[index]
}

// integerAt returns a signed integer.
func integerAt(values []byte, i, width int) int64 {
	switch width {
	case 1:
		return int64(int8(values[i]))
	case 2:
		return int64(int16(binary.NativeEndian.Uint16(values[2*i:])))
	case 4:
		return int64(int32(binary.NativeEndian.Uint32(values[4*i:])))
	}
	return int64(binary.NativeEndian.Uint64(values[8*i:]))
}

// span returns the elements [first, end) of a row's string or list, within [0, limit].
func (l *leaf) span(row, limit int) (first, end int) {
	i := l.offset + row
	if n := l.fixedLength(); n >= 0 {
		return clamp(int64(i)*int64(n), 0, limit), clamp(int64(i+1)*int64(n), 0, limit)
	}
	width := l.Layout.Width
	first = clamp(integerAt(l.starts, i, width), 0, limit)
	if l.sizes != nil {
		size := clamp(integerAt(l.sizes, i, width), 0, limit-first)
		return first, first + size
	}
	return first, clamp(integerAt(l.starts, i+1, width), first, limit)
}

func clamp(x int64, low, high int) int { return int(min(max(x, int64(low)), int64(high))) }

// bytes returns the bytes of a row that is not null.
func (l *leaf) bytes(row int) []byte {
	switch l.Layout.Kind {
	case layout.Fixed:
		first, end := l.span(row, len(l.values))
		return l.values[first:end]
	case layout.View:
		return l.view(l.values[(l.offset+row)*l.Layout.Width:][:l.Layout.Width])
	}
	first, end := l.span(row, len(l.data))
	return l.data[first:end]
}

// inlineBytes is the length of the longest string that a view holds itself.
const inlineBytes = 12

func (l *leaf) view(view []byte) []byte {
	length := int(int32(binary.NativeEndian.Uint32(view)))
	if length <= inlineBytes {
		return view[4:][:max(length, 0)]
	}
	number := int(int32(binary.NativeEndian.Uint32(view[8:])))
	if number < 0 || number >= len(l.views) {
		return nil
	}
	data := l.views[number]
	first := clamp(integerAt(view, 3, 4), 0, len(data))
	return data[first:][:min(length, len(data)-first)]
}

// symbols returns the ranks of the elements of a list that is not null.
func (l *leaf) symbols(row int) []uint32 {
	first, end := l.span(row, len(l.ranks))
	return l.ranks[first:end]
}

// length returns the number of bytes or elements of a row, 0 for a null.
func (l *leaf) length(row int) int {
	switch {
	case l.isNull(row):
		return 0
	case l.Storage == Symbols:
		return len(l.symbols(row))
	}
	return len(l.bytes(row))
}

// tailWord returns eight bytes or two ranks of a row from position at on, padded with
// zeros, without the inversion of descending keys. A null has none.
func (l *leaf) tailWord(row, at int) uint64 {
	if l.isNull(row) {
		return 0
	}
	if l.Storage == Symbols {
		symbols := l.symbols(row)
		word := uint64(0)
		if at < len(symbols) {
			word = uint64(symbols[at]) << 32
		}
		if at+1 < len(symbols) {
			word |= uint64(symbols[at+1])
		}
		return word
	}
	bytes := l.bytes(row)
	if at+8 <= len(bytes) {
		return binary.BigEndian.Uint64(bytes[at:])
	}
	var word [8]byte
	if at < len(bytes) {
		copy(word[:], bytes[at:])
	}
	return binary.BigEndian.Uint64(word[:])
}

// elements returns bytes as values of type T from element first on.
func elements[T any](bytes []byte, first int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(bytes)/size <= first {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[first*size])), len(bytes)/size-first)
}
