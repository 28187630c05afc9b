package arrowdev

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
)

// kind is what the buffers and children of a type mean. Types that differ only
// in what their values stand for have the same kind.
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

// layout is how a type lies in memory.
type layout struct {
	kind kind
	// width is the length in bytes of a value, an index, a view or a run end, or
	// of an offset where values have no width of their own.
	width int
	// alignment is what the address of such an element is a multiple of.
	alignment int
	// storage is the type itself, or what an extension type is stored as.
	storage arrow.DataType
	// schema has the fields of a table's root, which has no type of its own: to make
	// one takes longer than to check the struct.
	schema *arrow.Schema
}

// tableLayout is that of the struct array of a table.
func tableLayout(schema *arrow.Schema) layout {
	return layout{kind: kindStruct, alignment: 1, schema: schema}
}

// String names the type for messages.
func (l layout) String() string {
	if l.schema != nil {
		return arrow.StructOf(l.schema.Fields()...).String()
	}
	return l.storage.String()
}

// viewBytes is the length of a string view.
const viewBytes = arrow.ViewHeaderSizeBytes

// layoutOf returns how a type lies in memory.
func layoutOf(t arrow.DataType) (layout, error) {
	if width := plainBytes(t); width > 0 {
		return layout{kind: kindFixed, width: width, alignment: width, storage: t}, nil
	}
	for t != nil && t.ID() == arrow.EXTENSION {
		extension, ok := t.(arrow.ExtensionType)
		if !ok {
			return layout{}, fmt.Errorf("type %v claims to be an extension type and is none: %w", t, ErrUnsupported)
		}
		t = extension.StorageType()
	}
	if t == nil {
		return layout{}, fmt.Errorf("there is no type: %w", ErrInvalid)
	}
	l := layout{storage: t}
	switch t.ID() {
	case arrow.NULL:
		l.kind = kindNull
	case arrow.BOOL:
		l.kind = kindBool
	case arrow.STRING, arrow.BINARY:
		l.kind, l.width = kindBinary, 4
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		l.kind, l.width = kindBinary, 8
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		l.kind, l.width = kindView, viewBytes
	case arrow.LIST, arrow.MAP:
		l.kind, l.width = kindList, 4
	case arrow.LARGE_LIST:
		l.kind, l.width = kindList, 8
	case arrow.LIST_VIEW:
		l.kind, l.width = kindListView, 4
	case arrow.LARGE_LIST_VIEW:
		l.kind, l.width = kindListView, 8
	case arrow.FIXED_SIZE_LIST:
		l.kind = kindFixedSizeList
	case arrow.STRUCT:
		l.kind = kindStruct
	case arrow.SPARSE_UNION:
		l.kind, l.width = kindSparseUnion, 1
	case arrow.DENSE_UNION:
		l.kind, l.width = kindDenseUnion, 1
	case arrow.DICTIONARY:
		l.kind, l.width = kindDictionary, bytesOf(t.(*arrow.DictionaryType).IndexType)
	case arrow.RUN_END_ENCODED:
		l.kind, l.width = kindRunEnds, bytesOf(t.(*arrow.RunEndEncodedType).RunEnds())
	case arrow.FIXED_SIZE_BINARY:
		// Bytes lie anywhere, however many belong together.
		l.kind, l.width, l.alignment = kindFixed, t.(*arrow.FixedSizeBinaryType).ByteWidth, 1
		return l, nil
	default:
		if l.width = bytesOf(t); l.width <= 0 {
			return layout{}, fmt.Errorf("type %v: %w", t, ErrUnsupported)
		}
		l.kind = kindFixed
	}
	const most = 8
	l.alignment = min(max(l.width, 1), most)
	if t.ID() == arrow.INTERVAL_DAY_TIME {
		l.alignment = 4 // two numbers of four bytes
	}
	return l, nil
}

// plainBytes is the width of the types that the most columns are of, which is their
// alignment too, or zero. To tell it by the Go type is many times faster than to ask.
func plainBytes(t arrow.DataType) int {
	switch t.(type) {
	case *arrow.Int8Type, *arrow.Uint8Type:
		return 1
	case *arrow.Int16Type, *arrow.Uint16Type, *arrow.Float16Type:
		return 2
	case *arrow.Int32Type, *arrow.Uint32Type, *arrow.Float32Type, *arrow.Date32Type, *arrow.Time32Type:
		return 4
	case *arrow.Int64Type, *arrow.Uint64Type, *arrow.Float64Type, *arrow.Date64Type, *arrow.Time64Type,
		*arrow.TimestampType, *arrow.DurationType:
		return 8
	}
	return 0
}

// bytesOf returns the width of a type's values, or zero where they have none in
// whole bytes.
func bytesOf(t arrow.DataType) int {
	fixed, ok := t.(arrow.FixedWidthDataType)
	if !ok || fixed.BitWidth()%8 != 0 {
		return 0
	}
	return fixed.BitWidth() / 8
}

// hasValidity reports whether the first buffer is a validity bitmap.
func (l layout) hasValidity() bool {
	switch l.kind {
	case kindNull, kindSparseUnion, kindDenseUnion, kindRunEnds:
		return false
	}
	return true
}

// buffers returns how many buffers there are. A view has this many, data buffers
// and, in a struct, one more for their lengths.
func (l layout) buffers() int {
	switch l.kind {
	case kindNull, kindRunEnds:
		return 0
	case kindSparseUnion, kindFixedSizeList, kindStruct:
		return 1
	case kindBinary, kindListView:
		return 3
	}
	return 2
}

// extent returns how many bytes buffer i has for elements up to end, and what its
// address is a multiple of. Of the data of strings only the offsets know. It is
// false where that is more than there can be.
func (l layout) extent(i, end int) (bytes uint64, alignment int, ok bool) {
	count, width := uint64(end), uint64(l.width)
	alignment = l.alignment
	switch {
	case i == 0 && l.hasValidity(), l.kind == kindBool:
		return bitmapBytes(end), 1, true
	case l.kind == kindBinary && i == 2:
		return 0, 1, true
	case l.kind == kindBinary, l.kind == kindList:
		if end > 0 { // an empty array may do without its one offset
			count++
		}
	case l.kind == kindDenseUnion && i == 1:
		width, alignment = 4, 4
	}
	high, bytes := bits.Mul64(count, width)
	return bytes, alignment, high == 0 && int64(bytes) >= 0
}

// children returns how many children there are.
func (l layout) children() int {
	if l.schema != nil {
		return l.schema.NumFields()
	}
	switch l.kind {
	case kindList, kindListView, kindFixedSizeList:
		return 1
	case kindRunEnds:
		return 2
	case kindStruct:
		return l.storage.(*arrow.StructType).NumFields()
	case kindSparseUnion, kindDenseUnion:
		return l.storage.(arrow.UnionType).NumFields()
	}
	return 0
}

// child returns the type of child i.
func (l layout) child(i int) arrow.DataType {
	if l.schema != nil {
		return l.schema.Field(i).Type
	}
	switch t := l.storage.(type) {
	case *arrow.StructType:
		return t.Field(i).Type
	case arrow.UnionType:
		return t.Fields()[i].Type
	case *arrow.RunEndEncodedType:
		if i == 0 {
			return t.RunEnds()
		}
		return t.Encoded()
	case arrow.ListLikeType:
		return t.Elem()
	}
	return nil
}

// dictionary returns the type of a dictionary's values, or nil for another type.
func (l layout) dictionary() arrow.DataType {
	if l.kind != kindDictionary {
		return nil
	}
	return l.storage.(*arrow.DictionaryType).ValueType
}

// childLength returns how many elements child i needs for the parent's up to end;
// of lists only the offsets know.
func (l layout) childLength(i, end int) (length int, ok bool) {
	switch l.kind {
	case kindStruct, kindSparseUnion:
		return end, true
	case kindFixedSizeList:
		high, low := bits.Mul64(uint64(end), uint64(l.storage.(*arrow.FixedSizeListType).Len()))
		return int(low), high == 0 && int64(low) >= 0
	case kindRunEnds:
		return min(end, 1), true
	}
	return 0, true
}

// bitmapBytes returns the bytes that so many bits take.
func bitmapBytes(count int) uint64 { return (uint64(count) + 7) / 8 }
