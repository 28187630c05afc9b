package column

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
	// width is the length in bytes of a value, an index or a view, or of an
	// offset where values have no width of their own.
	width int
	// storage is the type itself, or what an extension type is stored as.
	storage arrow.DataType
}

const viewBytes = arrow.ViewHeaderSizeBytes

// layoutOf returns how a type lies in memory.
func layoutOf(t arrow.DataType) (layout, error) {
	for t != nil && t.ID() == arrow.EXTENSION {
		extension, ok := t.(arrow.ExtensionType)
		if !ok {
			return layout{}, fmt.Errorf("type %v is no extension type but claims to be one: %w", t, ErrInvalid)
		}
		t = extension.StorageType()
	}
	if t == nil {
		return layout{}, fmt.Errorf("the type is nil: %w", ErrInvalid)
	}
	l := layout{storage: t}
	fits := true
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
		_, fits = t.(arrow.ListLikeType)
	case arrow.LARGE_LIST:
		l.kind, l.width = kindList, 8
		_, fits = t.(arrow.ListLikeType)
	case arrow.LIST_VIEW:
		l.kind, l.width = kindListView, 4
		_, fits = t.(arrow.ListLikeType)
	case arrow.LARGE_LIST_VIEW:
		l.kind, l.width = kindListView, 8
		_, fits = t.(arrow.ListLikeType)
	case arrow.FIXED_SIZE_LIST:
		l.kind = kindFixedSizeList
		_, fits = t.(*arrow.FixedSizeListType)
	case arrow.STRUCT:
		l.kind = kindStruct
		_, fits = t.(*arrow.StructType)
	case arrow.SPARSE_UNION:
		l.kind, l.width = kindSparseUnion, 1
		_, fits = t.(arrow.UnionType)
	case arrow.DENSE_UNION:
		l.kind, l.width = kindDenseUnion, 1
		_, fits = t.(arrow.UnionType)
	case arrow.RUN_END_ENCODED:
		return runEndsLayout(t)
	case arrow.DICTIONARY:
		return dictionaryLayout(t)
	default:
		fixed, ok := t.(arrow.FixedWidthDataType)
		if !ok || fixed.BitWidth() < 0 || fixed.BitWidth()%8 != 0 {
			return layout{}, fmt.Errorf("type %v has no layout that is known here: %w", t, ErrInvalid)
		}
		l.kind, l.width = kindFixed, fixed.BitWidth()/8
	}
	if !fits {
		return layout{}, fmt.Errorf("type %v does not have what its identity %v promises: %w", t, t.ID(), ErrInvalid)
	}
	return l, nil
}

func dictionaryLayout(t arrow.DataType) (layout, error) {
	dictionary, ok := t.(*arrow.DictionaryType)
	if !ok || dictionary.IndexType == nil || !arrow.IsInteger(dictionary.IndexType.ID()) {
		return layout{}, fmt.Errorf("type %v is no dictionary type with integer indices: %w", t, ErrInvalid)
	}
	width := dictionary.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	return layout{kind: kindDictionary, width: width, storage: t}, nil
}

func runEndsLayout(t arrow.DataType) (layout, error) {
	if encoded, ok := t.(*arrow.RunEndEncodedType); ok && encoded.RunEnds() != nil {
		switch encoded.RunEnds().ID() {
		case arrow.INT16:
			return layout{kind: kindRunEnds, width: 2, storage: t}, nil
		case arrow.INT32:
			return layout{kind: kindRunEnds, width: 4, storage: t}, nil
		case arrow.INT64:
			return layout{kind: kindRunEnds, width: 8, storage: t}, nil
		}
	}
	return layout{}, fmt.Errorf("type %v is not run-end encoded with int16, int32 or int64 run ends: %w", t, ErrInvalid)
}

// hasValidity reports whether the first buffer is a validity bitmap.
func (l layout) hasValidity() bool {
	switch l.kind {
	case kindNull, kindSparseUnion, kindDenseUnion, kindRunEnds:
		return false
	}
	return true
}

// buffers returns how many buffers there are; a view has this many at least.
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

// inArrow returns the number that buffer i of the format has in an array of
// arrow-go, which gives unions an empty place for the bitmap they lack.
func (l layout) inArrow(i int) int {
	if l.kind == kindSparseUnion || l.kind == kindDenseUnion {
		return i + 1
	}
	return i
}

// bufferName names buffer i for messages.
func (l layout) bufferName(i int) string {
	if i == 0 && l.hasValidity() {
		return "validity"
	}
	names := [2]string{"values", "data"}
	switch l.kind {
	case kindSparseUnion, kindDenseUnion:
		names = [2]string{"type ids", "offsets"}
		i++
	case kindBinary, kindList:
		names[0] = "offsets"
	case kindListView:
		names = [2]string{"offsets", "sizes"}
	case kindView:
		names[0] = "views"
	case kindDictionary:
		names[0] = "indices"
	}
	return names[min(max(i-1, 0), 1)]
}

// children returns how many children there are.
func (l layout) children() int {
	switch l.kind {
	case kindList, kindListView, kindFixedSizeList:
		return 1
	case kindRunEnds:
		return 2
	case kindStruct:
		return l.storage.(*arrow.StructType).NumFields()
	case kindSparseUnion, kindDenseUnion:
		return len(l.storage.(arrow.UnionType).Fields())
	}
	return 0
}

// child returns the type of child i and its name for messages.
func (l layout) child(i int) (t arrow.DataType, name string) {
	switch l.kind {
	case kindStruct:
		field := l.storage.(*arrow.StructType).Field(i)
		return field.Type, field.Name
	case kindSparseUnion, kindDenseUnion:
		field := l.storage.(arrow.UnionType).Fields()[i]
		return field.Type, field.Name
	case kindRunEnds:
		encoded := l.storage.(*arrow.RunEndEncodedType)
		if i == 0 {
			return encoded.RunEnds(), "run ends"
		}
		return encoded.Encoded(), "values"
	case kindFixedSizeList:
		return l.storage.(*arrow.FixedSizeListType).Elem(), "item"
	}
	return l.storage.(arrow.ListLikeType).Elem(), "item"
}

// listSize returns the number of elements in each list of a fixed-size list.
func (l layout) listSize() int {
	return int(l.storage.(*arrow.FixedSizeListType).Len())
}

// dictionary returns the type of the values of a dictionary type.
func (l layout) dictionary() arrow.DataType {
	return l.storage.(*arrow.DictionaryType).ValueType
}

// maximumIndex returns the largest index that a dictionary type can hold.
func (l layout) maximumIndex() uint64 {
	bits := 8 * l.width
	if arrow.IsSignedInteger(l.storage.(*arrow.DictionaryType).IndexType.ID()) {
		bits--
	}
	return 1<<bits - 1
}

// maximumOffset returns the largest offset or run end that the type can hold.
func (l layout) maximumOffset() int64 { return 1<<(8*l.width-1) - 1 }

// sameLayout returns an error unless a type lies in memory as expected. It does
// not look at children, whose types are compared when they are met themselves.
func (l layout) sameLayout(t arrow.DataType) error {
	other, err := layoutOf(t)
	if err != nil {
		return err
	}
	same := l.kind == other.kind && l.width == other.width
	switch {
	case !same:
	case l.kind == kindFixedSizeList:
		same = l.listSize() == other.listSize()
	case l.kind == kindStruct || l.kind == kindSparseUnion || l.kind == kindDenseUnion:
		same = l.children() == other.children()
	}
	if !same {
		return fmt.Errorf("it is %v where %v belongs: %w", t, l.storage, ErrInvalid)
	}
	return nil
}

// bitmapBytes returns the bytes that so many bits take.
func bitmapBytes(count int) int {
	whole := count / 8
	if count%8 != 0 {
		whole++
	}
	return whole
}

// multiply returns the product of two numbers that are not negative, if it is an
// int.
func multiply(a, b int) (product int, ok bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int(low), high == 0 && int(low) >= 0
}

// add returns the sum of two numbers that are not negative, if it is an int.
func add(a, b int) (sum int, ok bool) { return a + b, a+b >= 0 }
