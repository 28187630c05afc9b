package render

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// TypeName returns a short name of a type: list[int64] and not
// list<item: int64, nullable>.
func TypeName(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			return fmt.Sprintf("timestamp[%v]", t.Unit)
		}
		return clean(fmt.Sprintf("timestamp[%v, %s]", t.Unit, t.TimeZone))
	case *arrow.DictionaryType:
		return "dictionary[" + TypeName(t.ValueType) + "]"
	case *arrow.FixedSizeListType:
		return fmt.Sprintf("list[%s, %d]", TypeName(t.Elem()), t.Len())
	case *arrow.MapType:
		return "map[" + TypeName(t.KeyType()) + ", " + TypeName(t.ItemType()) + "]"
	case *arrow.StructType:
		parts := make([]string, t.NumFields())
		for i, field := range t.Fields() {
			parts[i] = clean(field.Name) + ": " + TypeName(field.Type)
		}
		return "struct[" + strings.Join(parts, ", ") + "]"
	case *arrow.ListType:
		return "list[" + TypeName(t.Elem()) + "]"
	case *arrow.LargeListType:
		return "list[" + TypeName(t.Elem()) + "]"
	case arrow.DecimalType:
		return fmt.Sprintf("decimal[%d, %d]", t.GetPrecision(), t.GetScale())
	}
	return clean(t.String())
}

// isNumber reports whether values are aligned on the right.
func isNumber(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return isNumber(d.ValueType)
	}
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) || arrow.IsDecimal(t.ID())
}

func isText(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return true
	case *arrow.DictionaryType:
		return isText(t.ValueType)
	}
	return false
}
