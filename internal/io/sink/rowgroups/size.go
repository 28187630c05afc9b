package rowgroups

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// RecordBytes returns the memory of the values of a record, and of the levels of values within lists. It counts dictionaries as
// nothing.
func RecordBytes(record arrow.Record) (bytes int64) {
	for _, a := range record.Columns() {
		bytes += arrayBytes(a, 0)
	}
	return bytes
}

// levelBytes is the memory of the levels of an entry.
const levelBytes = 2

// arrayBytes returns the memory of an array with some more bytes for each value.
func arrayBytes(a arrow.Array, more int) (bytes int64) {
	switch a := a.(type) {
	case *array.Struct:
		for i := range a.NumField() {
			bytes += arrayBytes(a.Field(i), more)
		}
		return bytes
	case array.ListLike:
		if a.Len() == 0 {
			return 0
		}
		from, _ := a.ValueOffsets(0)
		_, end := a.ValueOffsets(a.Len() - 1)
		elements := array.NewSlice(a.ListValues(), from, end)
		defer elements.Release()
		return fixedBytes(a.DataType(), a.Len()) + arrayBytes(elements, levelBytes)
	}
	bytes = fixedBytes(a.DataType(), a.Len()) + int64(more*a.Len())
	if text, ok := a.(binaryArray); ok && a.Len() > 0 {
		bytes += endOf(text, a.Len()-1) - text.ValueOffset64(0)
	}
	return bytes
}

// fixedBytes returns the memory of values of a type, of text that of the offsets.
func fixedBytes(t arrow.DataType, rows int) int64 {
	switch t := t.(type) {
	case arrow.FixedWidthDataType:
		return int64(t.BitWidth()) * int64(rows) / 8
	case arrow.OffsetsDataType:
		return int64(offsetWidth(t) * rows)
	}
	return 0
}

func offsetWidth(t arrow.DataType) int {
	if id := t.ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
		return 8
	}
	return 4
}

// ColumnBytes is [RecordBytes] of columns on a device.
func ColumnBytes(ctx context.Context, columns []*column.Column) (bytes int64, err error) {
	g := &deviceGroup{}
	if g.call, err = op.Begin(ctx, kernels.Options{}, columns...); err != nil {
		return 0, err
	}
	var all []memory.Destination
	var ends [][2][]int32 // the first and the last offset, of one or two words
	for _, c := range columns {
		bytes += fixedBytes(c.Type(), c.Len())
		if !isText(c.Type()) || c.Len() == 0 {
			continue
		}
		width := offsetWidth(c.Type())
		var end [2][]int32
		for i, row := range []int{c.Offset(), c.Offset() + c.Len()} {
			offset, err := c.Buffer(1).Slice(width*row, width*(row+1))
			if err != nil {
				return 0, err
			}
			end[i] = make([]int32, width/4)
			all = append(all, download(g, offset, end[i]))
		}
		ends = append(ends, end)
	}
	if err := g.downloads(all); err != nil {
		return 0, err
	}
	for _, end := range ends {
		bytes += wholeOffset(end[1]) - wholeOffset(end[0])
	}
	return bytes, nil
}

// wholeOffset returns an offset of one or two words.
func wholeOffset(words []int32) int64 {
	offset := int64(uint32(words[0]))
	if len(words) == 2 {
		offset |= int64(words[1]) << 32
	}
	return offset
}
