package pages

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// encoded decodes strings as indices of the file's dictionary, which each array has a copy of. Strings of pages without
// indices follow in the dictionary of their array.
type encoded struct {
	// fixed decodes the indices: its dictionary has the numbers from 0.
	fixed[int32]
	strings   text
	valueType arrow.DataType
}

// newEncoded returns a decoder of an array with a dictionary, or nil.
func newEncoded(t *arrow.DictionaryType) values {
	id := t.ValueType.ID()
	if t.IndexType.ID() != arrow.INT32 || id != arrow.STRING && id != arrow.BINARY {
		return nil
	}
	return &encoded{fixed: fixed[int32]{width: 4}, valueType: t.ValueType}
}

func (v *encoded) dictionary(plain []byte, n int64) error {
	if err := v.strings.dictionary(plain, n); err != nil {
		return err
	}
	v.about = make([]int32, n)
	for i := range v.about {
		v.about[i] = int32(i)
	}
	return nil
}

func (v *encoded) begin(rows int, mem arrowmemory.Allocator) {
	v.strings.offsets = v.strings.offsets[:min(len(v.about)+1, len(v.strings.offsets))] // without those of the array before
	v.fixed.begin(rows, mem)
}

// plain adds the strings to the dictionary of the array.
func (v *encoded) plain(page []byte, taken, at, n int) error {
	if taken == 0 {
		v.strings.at = 0
	}
	rest := page[min(v.strings.at, len(page)):]
	if len(v.strings.offsets) == 0 {
		v.strings.offsets = []uint32{0}
	}
	before := len(v.strings.offsets)
	for i := range n {
		value, next, err := cutLength(rest)
		if err != nil {
			return err
		}
		length := len(v.strings.offsets) - 1
		end := v.strings.offsets[length]
		if int(end)+len(value) > mostText {
			v.strings.offsets = v.strings.offsets[:before]
			return errLong
		}
		v.strings.about = append(v.strings.about[:end], value...)
		v.strings.offsets = append(v.strings.offsets, end+uint32(len(value)))
		v.decoded[at+i], rest = int32(length), next
	}
	v.strings.at = len(page) - len(rest)
	return nil
}

// array returns the dictionary.
func (v *encoded) array(mem arrowmemory.Allocator) arrow.ArrayData {
	length, bytes := max(0, len(v.strings.offsets)-1), 0
	ends := allocate(mem, 4*(length+1))
	to := arrow.GetData[int32](ends)
	to[0] = 0
	for i := range length {
		to[i+1] = int32(v.strings.offsets[i+1])
		bytes = int(to[i+1])
	}
	all := allocate(mem, bytes)
	copy(all, v.strings.about)
	buffers := []*arrowmemory.Buffer{nil, buffer(ends, len(ends), mem), buffer(all, len(all), mem)}
	defer buffers[1].Release()
	defer buffers[2].Release()
	return array.NewData(v.valueType, length, buffers, nil, 0, 0)
}
