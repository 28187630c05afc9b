package rowgroups

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// gatherTexts returns the texts of arrays, with dictionaries or without.
func gatherTexts(c *leaf, parts []part, r rows, s *scratch) values {
	v := &texts{count: r.valid, order: c.order, isUTF8: c.isUTF8}
	v.offsets = append(resized(s.offsets, r.valid+1)[:0], 0)
	if len(parts) == 1 {
		if data, ok := contiguous(parts[0]); ok {
			v.data = data
			appendOffsets(&v.offsets, parts[0], 0)
			s.offsets = v.offsets
			return v
		}
	}
	v.data = s.data[:0]
	for _, part := range parts {
		if data, ok := contiguous(part); ok {
			appendOffsets(&v.offsets, part, int64(len(v.data)))
			v.data = append(v.data, data...)
			continue
		}
		part.eachRun(func(from, end int) {
			for i := from; i < end; i++ {
				if text, ok := textAt(part.Array, i); ok {
					v.data = append(v.data, text...)
					v.offsets = append(v.offsets, int64(len(v.data)))
				}
			}
		})
	}
	s.offsets, s.data = v.offsets, v.data
	return v
}

// binaryArray is an array of text.
type binaryArray interface {
	arrow.Array
	ValueOffset64(int) int64
	ValueBytes() []byte
}

// contiguous returns the bytes of the values of an array, if nothing is between them.
func contiguous(p part) ([]byte, bool) {
	b, ok := p.Array.(binaryArray)
	if !ok || p.Len() == 0 {
		return nil, false
	}
	extent := p.extent()
	last := extent.from // the end of the run before
	p.eachRun(func(from, end int) {
		ok = ok && (from == last || b.ValueOffset64(last) == b.ValueOffset64(from))
		last = end
	})
	if !ok || last < extent.end && b.ValueOffset64(last) < endOf(b, extent.end-1) {
		return nil, false
	}
	first := b.ValueOffset64(0)
	return b.ValueBytes()[b.ValueOffset64(extent.from)-first : endOf(b, extent.end-1)-first], true
}

// endOf returns the offset of the end of a text.
func endOf(a binaryArray, i int) int64 {
	at := i + 1 + a.Data().Offset()
	if id := a.DataType().ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
		return arrow.GetData[int64](a.Data().Buffers()[1].Bytes())[at]
	}
	return int64(arrow.GetData[int32](a.Data().Buffers()[1].Bytes())[at])
}

// appendOffsets appends the ends of the valid texts of a contiguous array. The first one begins at start.
func appendOffsets(to *[]int64, p part, start int64) {
	offset := p.Data().Offset()
	if id := p.DataType().ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
		appendEnds(to, p, arrow.GetData[int64](p.Data().Buffers()[1].Bytes())[offset:offset+p.Len()+1], start)
	} else {
		appendEnds(to, p, arrow.GetData[int32](p.Data().Buffers()[1].Bytes())[offset:offset+p.Len()+1], start)
	}
}

func appendEnds[T int32 | int64](to *[]int64, p part, offsets []T, start int64) {
	ends := *to
	start -= int64(offsets[p.extent().from])
	p.eachRun(func(from, end int) {
		for _, offset := range offsets[from+1 : end+1] {
			ends = append(ends, int64(offset)+start)
		}
	})
	*to = ends
}

// indexCoded returns the texts of arrays with dictionaries as indices of a common one, if these are shorter
// than the texts.
func indexCoded(c *leaf, parts []part, r rows, s *scratch) *indexed {
	if !c.dictionary || r.valid == 0 || !allCoded(parts) {
		return nil
	}
	like := &texts{offsets: []int64{}, order: c.order, isUTF8: c.isUTF8}
	x := newTextIndex(like)
	s.indices = resized(s.indices, r.valid)[:0]
	length := r.valid
	for _, part := range parts {
		d := part.Array.(*array.Dictionary)
		numbers := make([]int64, d.Dictionary().Len()) // of the texts, from 1 on
		for i := range d.Len() {
			if isNull(d, i) {
				continue
			}
			at := d.GetValueIndex(i)
			text, _ := textAt(d.Dictionary(), at)
			if numbers[at] == 0 {
				number, ok := x.number(text, r.valid/2)
				if !ok {
					return nil
				}
				numbers[at] = int64(number) + 1
			}
			s.indices = append(s.indices, uint32(numbers[at]-1))
			length += len(text)
		}
	}
	if x.bytes+indicesLength(r.valid, len(x.values)) >= length {
		return nil
	}
	return x.sorted(s.indices, like)
}

func allCoded(parts []part) bool {
	for _, part := range parts {
		if _, ok := part.Array.(*array.Dictionary); !ok {
			return false
		}
	}
	return true
}

// textAt returns the text of a row, unless that is null.
func textAt(a arrow.Array, i int) ([]byte, bool) {
	switch a := a.(type) {
	case *array.Dictionary:
		if isNull(a, i) {
			return nil, false
		}
		return textAt(a.Dictionary(), a.GetValueIndex(i))
	case binaryArray:
		if a.IsNull(i) {
			return nil, false
		}
		first := a.ValueOffset64(0)
		return a.ValueBytes()[a.ValueOffset64(i)-first : endOf(a, i)-first], true
	}
	return nil, false
}
