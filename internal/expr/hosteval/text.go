package hosteval

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// text returns a function that reads a string operand: the bytes of a row, and whether
// it is not null.
func (e *evaluation) text(n *exprtree.Node) func(i int) ([]byte, bool) {
	if n.Op == exprtree.Literal {
		value, ok := n.Value.(string)
		bytes := []byte(value)
		return func(int) ([]byte, bool) { return bytes, ok }
	}
	if texts, ok := e.texts[n]; ok {
		return func(i int) ([]byte, bool) { return texts[i], texts[i] != nil }
	}
	return e.textOf(e.results[n])
}

func (e *evaluation) textOf(values arrow.Array) func(i int) ([]byte, bool) {
	data := values.Data()
	valid := validityOf(data)
	var bytes []byte
	if buffers := data.Buffers(); len(buffers) > 2 && buffers[2] != nil {
		bytes = buffers[2].Bytes()
	}
	switch t := values.DataType().(type) {
	case *arrow.DictionaryType:
		return e.named(values.(*array.Dictionary), valid)
	case *arrow.FixedSizeBinaryType:
		width := t.ByteWidth
		if buffer := data.Buffers()[1]; buffer != nil {
			bytes = buffer.Bytes()
		}
		return func(i int) ([]byte, bool) {
			if !valid.at(i) {
				return nil, false
			}
			first := (data.Offset() + i) * width
			return bytes[first : first+width], true
		}
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return between(e, offsets[int64](data), bytes, valid)
	}
	return between(e, offsets[int32](data), bytes, valid)
}

// offsets returns the offsets, one more than the array has elements.
func offsets[T int32 | int64](data arrow.ArrayData) []T {
	if data.Len() == 0 {
		return nil
	}
	longer := array.NewData(data.DataType(), data.Len()+1, data.Buffers(), nil, 0, data.Offset())
	defer longer.Release()
	return elements[T](longer)
}

// between reads strings by their offsets. Columns that were loaded or imported without
// a check of their contents may have invalid offsets.
func between[T int32 | int64](e *evaluation, offsets []T, bytes []byte, valid bitmap) func(i int) ([]byte, bool) {
	return func(i int) ([]byte, bool) {
		if !valid.at(i) {
			return nil, false
		}
		begin, end := offsets[i], offsets[i+1]
		if begin < 0 || end < begin || uint64(end) > uint64(len(bytes)) {
			e.fail(fmt.Errorf("the string in row %d lies from byte %d to byte %d of %d: %w", e.first+i, begin, end, len(bytes), column.ErrInvalid))
			return nil, false
		}
		return bytes[begin:end], true
	}
}

// named reads a dictionary column. An index out of range is a null.
func (e *evaluation) named(values *array.Dictionary, valid bitmap) func(i int) ([]byte, bool) {
	dictionary := values.Dictionary()
	text := e.textOf(dictionary)
	indices := indexOf(values)
	return func(i int) ([]byte, bool) {
		if !valid.at(i) {
			return nil, false
		}
		index := indices(i)
		if index < 0 || index >= int64(dictionary.Len()) {
			return nil, false
		}
		return text(int(index))
	}
}

func indexOf(values *array.Dictionary) func(i int) int64 {
	kind := exprtree.KindOf(values.DataType().(*arrow.DictionaryType).IndexType)
	return integerKinds[kind].indices(values.Data())
}
