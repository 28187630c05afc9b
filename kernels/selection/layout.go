package selection

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
)

// kind is what the buffers and children of a type mean.
type kind uint8

const (
	kindNull kind = iota
	kindFixed
	kindBool
	kindBinary
	kindView
	kindList
	kindListView
	kindFixedSizeList
	kindStruct
	kindSparseUnion
	kindDenseUnion
	kindDictionary
	kindRunEnds
)

// layout is how a type lies in memory: its kind, the bytes of a value, an index,
// a view, an offset or a run end, and what an extension type is stored as.
type layout struct {
	kind    kind
	width   int
	storage arrow.DataType
}

const viewBytes = arrow.ViewHeaderSizeBytes

func layoutOf(t arrow.DataType) (layout, error) {
	for t != nil && t.ID() == arrow.EXTENSION {
		t = t.(arrow.ExtensionType).StorageType()
	}
	if t == nil {
		return layout{}, fmt.Errorf("the type is nil: %w", column.ErrInvalid)
	}
	switch t.ID() {
	case arrow.NULL:
		return layout{kindNull, 0, t}, nil
	case arrow.BOOL:
		return layout{kindBool, 0, t}, nil
	case arrow.STRING, arrow.BINARY:
		return layout{kindBinary, 4, t}, nil
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return layout{kindBinary, 8, t}, nil
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return layout{kindView, viewBytes, t}, nil
	case arrow.LIST, arrow.MAP:
		return layout{kindList, 4, t}, nil
	case arrow.LARGE_LIST:
		return layout{kindList, 8, t}, nil
	case arrow.LIST_VIEW:
		return layout{kindListView, 4, t}, nil
	case arrow.LARGE_LIST_VIEW:
		return layout{kindListView, 8, t}, nil
	case arrow.FIXED_SIZE_LIST:
		return layout{kindFixedSizeList, 0, t}, nil
	case arrow.STRUCT:
		return layout{kindStruct, 0, t}, nil
	case arrow.SPARSE_UNION:
		return layout{kindSparseUnion, 1, t}, nil
	case arrow.DENSE_UNION:
		return layout{kindDenseUnion, 1, t}, nil
	case arrow.DICTIONARY:
		return layout{kindDictionary, widthOf(t.(*arrow.DictionaryType).IndexType), t}, nil
	case arrow.RUN_END_ENCODED:
		return layout{kindRunEnds, widthOf(t.(*arrow.RunEndEncodedType).RunEnds()), t}, nil
	}
	if _, ok := t.(arrow.FixedWidthDataType); !ok {
		return layout{}, fmt.Errorf("type %v has no layout that is known here: %w", t, column.ErrInvalid)
	}
	return layout{kindFixed, widthOf(t), t}, nil
}

// widthOf returns the bytes of a value of a type of fixed width.
func widthOf(t arrow.DataType) int { return t.(arrow.FixedWidthDataType).BitWidth() / 8 }

// hasValidity reports whether the first buffer is a validity bitmap.
func (l layout) hasValidity() bool {
	switch l.kind {
	case kindNull, kindSparseUnion, kindDenseUnion, kindRunEnds:
		return false
	}
	return true
}

// maximumOffset returns the largest offset or run end that the type can hold.
func (l layout) maximumOffset() int64 { return 1<<(8*l.width-1) - 1 }

// listSize returns the number of elements in each list of a fixed-size list.
func (l layout) listSize() int { return int(l.storage.(*arrow.FixedSizeListType).Len()) }

// bitmapBytes returns the bytes that so many bits take.
func bitmapBytes(count int) uint64 { return (uint64(count) + 7) / 8 }

// maximumIndex returns the largest index that a dictionary type can hold.
func (l layout) maximumIndex() uint64 {
	bits := 8 * l.width
	if arrow.IsSignedInteger(l.storage.(*arrow.DictionaryType).IndexType.ID()) {
		bits--
	}
	return 1<<bits - 1
}
