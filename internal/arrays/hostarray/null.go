package hostarray

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// Null returns a null of a type. The caller releases it. See [EmptyRecord] for why arrow-go does not make it.
//
// # Errors
//
// The error is a [*layout.TypeError] if the type is not in the table of layouts, or a union without types.
func Null(t arrow.DataType) (arrow.Array, error) { return element(t, false) }

// Zero returns 0, an empty text or an empty list of a type. The caller releases it. Its errors are those of [Null].
func Zero(t arrow.DataType) (arrow.Array, error) { return element(t, true) }

func element(t arrow.DataType, valid bool) (arrow.Array, error) {
	data, err := zeros(t, 1, valid)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// zeros returns elements whose buffers are zero, except those that say which child an element has.
func zeros(t arrow.DataType, n int, valid bool) (*array.Data, error) {
	l, err := layout.Of(t)
	if err != nil {
		return nil, err
	}
	if values := l.Dictionary(); values != nil {
		dictionary, err := emptyData(values)
		if err != nil {
			return nil, err
		}
		defer dictionary.Release()
		return array.NewDataWithDictionary(t, n, zeroBuffers(l, n, valid), n, 0, dictionary), nil
	}
	if l.Children() == 0 && n > 0 && (l.Kind == layout.SparseUnion || l.Kind == layout.DenseUnion) {
		return nil, &layout.TypeError{Type: t, Problem: "has no type for an element"}
	}
	children := make([]arrow.ArrayData, 0, l.Children())
	defer func() { release.Arrow(children) }()
	for i := range l.Children() {
		childType, _ := l.Child(i)
		length, _ := l.ChildLength(n)
		if l.Kind == layout.DenseUnion && i == 0 {
			length = n
		}
		child, err := zeros(childType, length, false)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	if l.Kind == layout.RunEnds {
		binary.LittleEndian.PutUint64(children[0].Buffers()[1].Bytes(), uint64(n))
		children[0].Buffers()[0].Bytes()[0] = 1
		children[0].(*array.Data).SetNullN(0)
	}
	nulls := n
	if valid || l.Kind >= layout.SparseUnion {
		nulls = 0
	}
	return array.NewData(t, n, zeroBuffers(l, n, valid), children, nulls, 0), nil
}

// zeroBuffers returns the buffers of elements.
func zeroBuffers(l layout.Layout, n int, valid bool) []*arrowmemory.Buffer {
	const eightBytes = 8 // a run end is written as 64 bits
	buffers := make([]*arrowmemory.Buffer, l.InArrow(l.Buffers()))
	for i := range l.Buffers() {
		bytes := make([]byte, (n+1)*max(l.Width, eightBytes))
		switch l.Buffer(i) {
		case layout.Validity:
			if valid {
				bytes[0] = 1
			}
		case layout.TypeIDs:
			for element := range n { // none if there are no types
				bytes[element] = byte(l.Storage.(arrow.UnionType).TypeCodes()[0])
			}
		case layout.Data:
			bytes = nil
		}
		buffers[l.InArrow(i)] = arrowmemory.NewBufferBytes(bytes)
	}
	return buffers
}
