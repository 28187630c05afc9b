package pages

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// encoded decodes strings as indices of the file's dictionary, which each array has a copy of.
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

// plain implements values. checkHeaders reports pages of plain values.
func (v *encoded) plain(_ []byte, _, _, n int) error {
	if n > 0 {
		return fmt.Errorf("%d strings without indices: %w", n, ErrDamaged)
	}
	return nil
}

// array returns the dictionary.
func (v *encoded) array(mem arrowmemory.Allocator) arrow.ArrayData {
	length, bytes := len(v.about), 0
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
