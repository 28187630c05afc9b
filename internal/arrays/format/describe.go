package format

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// Description holds the contents of the ArrowSchema of a field.
type Description struct {
	Format string
	Name   string
	// Metadata is the blob, or nil if the field has no metadata.
	Metadata []byte
	Flags    int64
	// Children are the fields that the children describe.
	Children []arrow.Field
	// Dictionary is the type of a dictionary's values, or nil.
	Dictionary arrow.DataType
}

// Describe returns the description of a field. It checks only that children exist: each
// child has a description of its own.
//
// # Errors
//
// The error is an [Error] that names the invalid part and wraps [ErrInvalid] or
// [ErrUnsupported].
func Describe(field arrow.Field) (Description, error) {
	text, err := Of(field.Type)
	if err != nil {
		return Description{}, in("format", err)
	}
	if err := CheckText(field.Name, MaximumText); err != nil {
		return Description{}, in("name", err)
	}
	metadata, err := withExtension(field)
	if err != nil {
		return Description{}, in("metadata", err)
	}
	blob, err := EncodeMetadata(metadata)
	if err != nil {
		return Description{}, in("metadata", err)
	}
	d := Description{Format: text, Name: field.Name, Metadata: blob}
	if field.Nullable {
		d.Flags |= FlagNullable
	}
	if err := d.describeType(field.Type); err != nil {
		return Description{}, err
	}
	return d, nil
}

// describeType adds the children of the storage type.
func (d *Description) describeType(t arrow.DataType) error {
	t, err := Storage(t)
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		d.Dictionary = t.ValueType
		if t.Ordered {
			d.Flags |= FlagDictionaryOrdered
		}
		if _, err := Storage(t.ValueType); err != nil {
			return in("dictionary", err)
		}
	case *arrow.MapType:
		// The zero map, which arrow-go never makes, has no fields; its accessors panic.
		if *t == (arrow.MapType{KeysSorted: t.KeysSorted}) {
			return in("children", fmt.Errorf("the map type is empty: %w", ErrInvalid))
		}
		if t.KeysSorted {
			d.Flags |= FlagMapKeysSorted
		}
		d.Children = t.Fields()
	case arrow.NestedType:
		d.Children = t.Fields()
	}
	if len(d.Children) > MaximumChildren {
		return in("children", fmt.Errorf("%d are more than %d: %w", len(d.Children), MaximumChildren, ErrUnsupported))
	}
	for i := range d.Children {
		if _, err := Storage(d.Children[i].Type); err != nil {
			return inChild(i, err)
		}
	}
	if t.ID() == arrow.RUN_END_ENCODED {
		_, err = runEndsOf(d.Children[0], d.Children[1])
	}
	return err
}
