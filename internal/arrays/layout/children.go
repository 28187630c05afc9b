package layout

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
)

// Children returns how many children an array has.
func (l Layout) Children() int {
	switch l.Kind {
	case List, ListView, FixedSizeList:
		return 1
	case RunEnds:
		return 2
	case Struct:
		return l.Storage.(*arrow.StructType).NumFields()
	case SparseUnion, DenseUnion:
		return l.Storage.(arrow.UnionType).NumFields()
	}
	return 0
}

// Child returns the type of child i and its name for messages. For unions it allocates
// as much as arrow-go does.
func (l Layout) Child(i int) (t arrow.DataType, name string) {
	switch l.Kind {
	case Struct:
		field := l.Storage.(*arrow.StructType).Field(i)
		return field.Type, field.Name
	case SparseUnion, DenseUnion:
		field := l.Storage.(arrow.UnionType).Fields()[i]
		return field.Type, field.Name
	case RunEnds:
		encoded := l.Storage.(*arrow.RunEndEncodedType)
		if i == 0 {
			return encoded.RunEnds(), "run ends"
		}
		return encoded.Encoded(), "values"
	}
	return l.Storage.(arrow.ListLikeType).Elem(), "item"
}

// ChildLength returns the number of elements that a child needs for the parent's
// elements up to end, and whether it fits an int. It is zero for lists, list views and
// dense unions, whose offsets decide it, and one for run ends.
func (l Layout) ChildLength(end int) (length int, ok bool) {
	switch l.Kind {
	case Struct, SparseUnion:
		return end, true
	case FixedSizeList:
		high, low := bits.Mul64(uint64(end), uint64(l.ListSize()))
		return int(low), high == 0 && int64(low) >= 0 && int64(int(low)) == int64(low)
	case RunEnds:
		return min(end, 1), true
	}
	return 0, true
}

// ListSize returns the number of elements in each list of a fixed-size list.
func (l Layout) ListSize() int { return int(l.Storage.(*arrow.FixedSizeListType).Len()) }

// Dictionary returns the type of a dictionary's values, or nil for another type.
func (l Layout) Dictionary() arrow.DataType {
	if l.Kind != Dictionary {
		return nil
	}
	return l.Storage.(*arrow.DictionaryType).ValueType
}

// Same reports whether two types have equal layouts in memory. It ignores the class,
// children and dictionaries.
func (l Layout) Same(other Layout) bool {
	if l.Kind != other.Kind || l.Width != other.Width {
		return false
	}
	switch l.Kind {
	case FixedSizeList:
		return l.ListSize() == other.ListSize()
	case Struct, SparseUnion, DenseUnion:
		return l.Children() == other.Children()
	}
	return true
}
