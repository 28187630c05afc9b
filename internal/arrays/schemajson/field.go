package schemajson

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
)

// OfField describes a field as a struct of Arrow's C data interface does.
func OfField(field arrow.Field) (m Field, err error) {
	d, err := format.Describe(field)
	if err != nil {
		return m, fmt.Errorf("%w: %w", err, ErrInvalid)
	}
	m = Field{
		Name: d.Name, Format: d.Format, Nullable: d.Flags&format.FlagNullable != 0,
		Ordered: d.Flags&format.FlagDictionaryOrdered != 0, Sorted: d.Flags&format.FlagMapKeysSorted != 0,
	}
	if d.Metadata != nil {
		metadata, _, err := format.DecodeMetadata(d.Metadata)
		if err != nil {
			return m, err
		}
		m.Metadata = formatMetadata(metadata)
	}
	if d.Dictionary != nil {
		values, err := OfField(arrow.Field{Type: d.Dictionary, Nullable: true})
		if err != nil {
			return m, fmt.Errorf("dictionary: %w", err)
		}
		m.Dictionary = &values
	}
	m.Children, err = formatFields(d.Children)
	return m, err
}

// parse makes the field of a message at a nesting depth.
func (m *Field) parse(depth int) (field arrow.Field, err error) {
	if depth > format.MaximumDepth {
		return field, fmt.Errorf("the type is nested more than %d levels deep: %w", format.MaximumDepth, ErrInvalid)
	}
	children, err := parseFields(m.Children, depth+1)
	if err != nil {
		return field, err
	}
	var values *arrow.Field
	if m.Dictionary != nil {
		dictionary, err := m.Dictionary.parse(depth + 1)
		if err != nil {
			return field, fmt.Errorf("dictionary: %w", err)
		}
		values = &dictionary
	}
	parsed, err := format.Parse(m.Format)
	if err == nil {
		field.Type, err = parsed.Type(children, m.flags(), values)
	}
	err = errors.Join(err, format.CheckText(m.Name, format.MaximumText))
	if err != nil {
		return field, fmt.Errorf("format %q: %w: %w", m.Format, err, ErrInvalid)
	}
	field.Name, field.Nullable, field.Metadata = m.Name, m.Nullable, parseMetadata(m.Metadata)
	return format.Extension(field), nil
}

func (m *Field) flags() (flags int64) {
	for _, each := range []struct {
		set  bool
		flag int64
	}{{m.Ordered, format.FlagDictionaryOrdered}, {m.Nullable, format.FlagNullable}, {m.Sorted, format.FlagMapKeysSorted}} {
		if each.set {
			flags |= each.flag
		}
	}
	return flags
}
