package hostarray

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// Extend returns the values with nulls appended. The type has a fixed width, or is utf8 or
// binary, and the values begin at the first element of their buffers. The caller releases
// the result.
//
// arrow-go's Concatenate supports every type, but adds its builders, 0.6 MB, to a
// program.
func Extend(values arrow.Array, nulls int) arrow.Array {
	data := values.Data()
	rows := data.Len() + nulls
	var extended []byte
	fixed, ok := data.DataType().(arrow.FixedWidthDataType)
	if ok {
		width := fixed.BitWidth()
		extended = make([]byte, bitutil.BytesForBits(int64(rows*width)))
		if data.Len() > 0 {
			copy(extended, data.Buffers()[1].Bytes()[:bitutil.BytesForBits(int64(data.Len()*width))])
		}
	} else {
		extended = extendOffsets(data, rows)
	}
	validity := make([]byte, bitutil.BytesForBits(int64(rows)))
	if old := data.Buffers()[0]; old != nil && old.Len() > 0 {
		copy(validity, old.Bytes())
	} else {
		bitutil.SetBitsTo(validity, 0, int64(data.Len()), true)
	}
	bitutil.SetBitsTo(validity, int64(data.Len()), int64(nulls), false)
	buffers := []*arrowmemory.Buffer{arrowmemory.NewBufferBytes(validity), arrowmemory.NewBufferBytes(extended)}
	if !ok {
		buffers = append(buffers, data.Buffers()[2])
	}
	longer := array.NewData(data.DataType(), rows, buffers, nil, data.NullN()+nulls, 0)
	defer longer.Release()
	return array.MakeFromData(longer)
}

// extendOffsets returns the offsets of strings with the last one repeated.
func extendOffsets(data arrow.ArrayData, rows int) []byte {
	width := 4
	if id := data.DataType().ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
		width = 8
	}
	extended := make([]byte, (rows+1)*width)
	used := 0
	if old := data.Buffers()[1]; old != nil && old.Len() > 0 {
		used = copy(extended, old.Bytes()[:(data.Len()+1)*width])
	}
	for ; used > 0 && used < len(extended); used += width {
		copy(extended[used:], extended[used-width:used])
	}
	return extended
}
