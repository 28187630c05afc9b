package format

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// Children returns the number of children of the type. If fixed is false, as for a
// struct, any number is valid.
func (p Parsed) Children() (count int, fixed bool) {
	switch p.id {
	case arrow.LIST, arrow.LARGE_LIST, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW, arrow.FIXED_SIZE_LIST, arrow.MAP:
		return 1, true
	case arrow.RUN_END_ENCODED:
		return 2, true
	case arrow.DENSE_UNION, arrow.SPARSE_UNION:
		return len(p.codes), true
	case arrow.STRUCT:
		return 0, false
	}
	return 0, true
}

// Type builds the type from its children. Of the schema's flags it uses the order of a
// dictionary and that of a map's keys. values is the field that the schema's dictionary
// describes, or nil. The type keeps the slice of children.
//
// # Errors
//
// The error is an [Error] that names the invalid child and wraps [ErrInvalid].
func (p Parsed) Type(children []arrow.Field, flags int64, values *arrow.Field) (arrow.DataType, error) {
	if err := p.check(children); err != nil {
		return nil, err
	}
	if values != nil {
		return p.dictionary(*values, flags)
	}
	if p.whole != nil {
		return p.whole, nil
	}
	switch p.id {
	case arrow.STRUCT:
		return arrow.StructOf(children...), nil
	case arrow.DENSE_UNION:
		return arrow.DenseUnionOf(children, p.codes), nil
	case arrow.SPARSE_UNION:
		return arrow.SparseUnionOf(children, p.codes), nil
	case arrow.MAP:
		return mapOf(children[0], flags)
	case arrow.RUN_END_ENCODED:
		return runEndsOf(children[0], children[1])
	}
	return p.list(children[0]), nil
}

// Table checks the children of a type that describes a table, as Type does for any
// type, and reports whether the type is valid for a table: a struct without a
// dictionary.
func (p Parsed) Table(children []arrow.Field, values *arrow.Field) (bool, error) {
	if p.id != arrow.STRUCT || values != nil {
		return false, nil
	}
	return true, p.check(children)
}

func (p Parsed) check(children []arrow.Field) error {
	if p.whole == nil && p.id == arrow.NULL {
		return in("format", fmt.Errorf("nothing was parsed: %w", ErrInvalid))
	}
	if count, fixed := p.Children(); len(children) > MaximumChildren || fixed && len(children) != count {
		return in("n_children", fmt.Errorf("%s has %d children, not %d: %w", p.id, count, len(children), ErrInvalid))
	}
	for i := range children {
		if _, err := Storage(children[i].Type); err != nil {
			return inChild(i, err)
		}
	}
	return nil
}

func (p Parsed) list(element arrow.Field) arrow.DataType {
	switch p.id {
	case arrow.LARGE_LIST:
		return arrow.LargeListOfField(element)
	case arrow.LIST_VIEW:
		return arrow.ListViewOfField(element)
	case arrow.LARGE_LIST_VIEW:
		return arrow.LargeListViewOfField(element)
	case arrow.FIXED_SIZE_LIST:
		return arrow.FixedSizeListOfField(p.size, element)
	}
	return arrow.ListOfField(element)
}

func (p Parsed) dictionary(values arrow.Field, flags int64) (arrow.DataType, error) {
	if !arrow.IsInteger(p.id) {
		return nil, in("dictionary", fmt.Errorf("its indices are %s, not integers: %w", p.id, ErrInvalid))
	}
	if _, err := Storage(values.Type); err != nil {
		return nil, in("dictionary", err)
	}
	ordered := flags&FlagDictionaryOrdered != 0
	return &arrow.DictionaryType{IndexType: p.whole, ValueType: values.Type, Ordered: ordered}, nil
}

// mapOf builds a map from its entries. The entries must be pairs; entries and keys must
// not be nullable.
func mapOf(entries arrow.Field, flags int64) (arrow.DataType, error) {
	pair, ok := entries.Type.(*arrow.StructType)
	switch {
	case !ok || pair.NumFields() != 2:
		return nil, in("children[0]", fmt.Errorf("a map's entries are structs of a key and a value, not %s: %w", entries.Type.ID(), ErrInvalid))
	case entries.Nullable:
		return nil, in("children[0]", fmt.Errorf("the entries of a map cannot be nullable: %w", ErrInvalid))
	case pair.Field(0).Nullable:
		return nil, in("children[0].children[0]", fmt.Errorf("the keys of a map cannot be nullable: %w", ErrInvalid))
	}
	key, item := pair.Field(0), pair.Field(1)
	t := arrow.MapOfWithMetadata(key.Type, key.Metadata, item.Type, item.Metadata)
	t.SetItemNullable(item.Nullable)
	t.KeysSorted = flags&FlagMapKeysSorted != 0
	return t, nil
}

func runEndsOf(ends, values arrow.Field) (arrow.DataType, error) {
	t := arrow.RunEndEncodedOf(ends.Type, values.Type)
	if !t.ValidRunEndsType(ends.Type) {
		return nil, in("children[0]", fmt.Errorf("run ends are int16, int32 or int64, not %s: %w", ends.Type.ID(), ErrInvalid))
	}
	if ends.Nullable {
		return nil, in("children[0]", fmt.Errorf("run ends cannot be nullable: %w", ErrInvalid))
	}
	t.ValueNullable = values.Nullable
	return t, nil
}
