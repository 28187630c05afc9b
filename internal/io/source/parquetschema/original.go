package parquetschema

import (
	"fmt"
	"maps"

	"github.com/apache/arrow/go/v17/arrow"
)

// restore gives a field what the one that was written had, and reports whether that changed it.
func (f *Field) restore(original arrow.Field) (changed bool, err error) {
	changed, known, err := f.restoreType(original)
	if err != nil || !known || !original.HasMetadata() {
		return changed, err
	}
	if !f.HasMetadata() {
		f.Metadata = original.Metadata
		return true, nil
	}
	all := original.Metadata.ToMap()
	maps.Copy(all, f.Metadata.ToMap())
	f.Metadata = arrow.MetadataFrom(all)
	return true, nil
}

// restoreType is [Field.restore] for the type. known is false if the file has another kind of type: such a field keeps its
// metadata too.
func (f *Field) restoreType(original arrow.Field) (changed, known bool, err error) {
	switch t := original.Type.(type) {
	case arrow.ExtensionType:
		if changed, err = f.restore(arrow.Field{Type: t.StorageType(), Metadata: original.Metadata}); err != nil {
			return changed, true, err
		}
		if !arrow.TypeEqual(t.StorageType(), f.Type) {
			return changed, true, fmt.Errorf("the stored schema has %v over %v, the file %v: %w", t, t.StorageType(), f.Type, arrow.ErrInvalid)
		}
		f.Type = t
		return true, true, nil
	case *arrow.SparseUnionType, *arrow.DenseUnionType:
		return false, true, fmt.Errorf("the stored schema has %v: %w", t, ErrType)
	case *arrow.StructType, *arrow.FixedSizeListType, *arrow.ListType, *arrow.LargeListType, *arrow.MapType:
		return f.restoreChildren(original.Type)
	case *arrow.TimestampType:
		return f.restoreZone(t)
	case *arrow.DictionaryType:
		if id := f.Type.ID(); id != arrow.STRING && id != arrow.BINARY {
			return false, false, nil
		}
		f.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: f.Type, Ordered: t.Ordered}
		return true, true, nil
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		f.Type = t
		return true, true, nil
	case *arrow.DurationType:
		if f.Type.ID() != arrow.INT64 {
			return false, false, nil
		}
		f.Type = t
		return true, true, nil
	case *arrow.Decimal256Type:
		if changed = f.Type.ID() == arrow.DECIMAL128; changed {
			f.Type = t
		}
	}
	return changed, true, nil
}

// restoreZone restores the time zone of timestamps, which files have in UTC, perhaps in another unit.
func (f *Field) restoreZone(original *arrow.TimestampType) (changed, known bool, err error) {
	t, ok := f.Type.(*arrow.TimestampType)
	if !ok {
		return false, false, nil
	}
	if t.TimeZone == "UTC" && original.TimeZone != "" {
		f.Type = &arrow.TimestampType{Unit: t.Unit, TimeZone: original.TimeZone}
	}
	return true, true, nil
}

// restoreChildren restores the parts of a list, a map or a struct.
func (f *Field) restoreChildren(original arrow.DataType) (changed, known bool, err error) {
	var parts []arrow.Field
	if s, ok := original.(*arrow.StructType); ok {
		parts = s.Fields()
	} else {
		parts = []arrow.Field{{Type: original.(arrow.ListLikeType).Elem()}}
	}
	if len(parts) != len(f.Children) || !f.isLike(original) {
		return false, false, nil
	}
	for i, part := range parts {
		other, err := f.Children[i].restore(part)
		if err != nil {
			return changed, true, err
		}
		changed = changed || other
	}
	if fixed, ok := original.(*arrow.FixedSizeListType); ok && int64(fixed.Len()) > MostElements/FixedElements(f.Children[0].Type) {
		original = f.Type
	}
	if changed = changed || original.ID() != f.Type.ID(); changed {
		f.Type = f.ofChildren(original)
	}
	return changed, true, nil
}

// isLike reports whether values of the file can be those of the type that was written.
func (f *Field) isLike(original arrow.DataType) bool {
	return f.Type.ID() == original.ID() || f.Type.ID() == arrow.LIST && original.ID() == arrow.FIXED_SIZE_LIST
}

// MostElements is the largest number of elements of a row in lists of a fixed size, with those of lists within them. Longer ones are
// lists: a row that is null has memory for its elements, of which the file has none.
const MostElements = 1 << 20

// FixedElements is the number of elements of a value in lists of a fixed size, and at least 1.
func FixedElements(t arrow.DataType) int64 {
	elements := int64(1)
	switch t := t.(type) {
	case arrow.ExtensionType:
		return FixedElements(t.StorageType())
	case *arrow.FixedSizeListType:
		return max(1, int64(t.Len())) * FixedElements(t.Elem())
	case *arrow.StructType:
		for _, f := range t.Fields() {
			elements = max(elements, FixedElements(f.Type))
		}
	}
	return elements
}

// ofChildren returns the type that was written with the types of the parts as they are now.
func (f *Field) ofChildren(original arrow.DataType) arrow.DataType {
	first := f.Children[0].Type
	switch t := original.(type) {
	case *arrow.ListType:
		return arrow.ListOf(first)
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOf(t.Len(), first)
	case *arrow.MapType:
		entries := f.Children[0].Children
		return arrow.MapOf(entries[0].Type, entries[1].Type)
	}
	members := make([]arrow.Field, len(f.Children))
	for i, child := range f.Children {
		members[i] = child.Field
	}
	return arrow.StructOf(members...)
}
