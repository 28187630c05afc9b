package format

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// Description is what one ArrowSchema says about a field.
type Description struct {
	Format string
	Name   string
	// Metadata is the blob, or nil where the field has no metadata.
	Metadata []byte
	Flags    int64
	// Children are the fields that the children describe.
	Children []arrow.Field
	// Dictionary is the type of a dictionary's values, or nil.
	Dictionary arrow.DataType
}

// Describe takes a field apart. Children are not looked at beyond their being
// there: they are described by themselves. The error is an [ErrInvalid] or an
// [ErrUnsupported], in an [Error] that names the part at fault.
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

// describeType adds what the storage of a type has below it.
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
		// A map that arrow-go did not make has no fields and cannot be asked for
		// them.
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
