package arrowdev

import (
	"bytes"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/arrays/format"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// readField reads a schema that describes one column. It does not release the schema,
// and copies everything that it returns. The error is an *Error that names the field,
// but no operation.
func readField(s *cabi.Schema) (arrow.Field, error) {
	field, err := new(schemaReader).field(s, 1)
	return field, inSchema(err)
}

// readSchema is readField for a schema of struct type that describes a table.
func readSchema(s *cabi.Schema) (*arrow.Schema, error) {
	if own := recogniseSchema(s); own != nil {
		return own, nil
	}
	var few [1536]byte
	text, plain := appendSchema(few[:0], s, 1)
	if plain {
		if schema := readSchemas.lookUp(text); schema != nil {
			return schema, nil
		}
	}
	schema, err := new(schemaReader).table(s)
	if err != nil {
		return nil, inSchema(err)
	}
	if plain {
		again, still := appendSchema(nil, s, 1)
		if still && bytes.Equal(text, again) { // no producer changed it meanwhile
			readSchemas.keep(text, schema)
		}
	}
	return schema, nil
}

// schemaReader counts the structs of one schema, because structs may refer to each
// other in cycles, or to one struct so often that reading never ends.
type schemaReader struct {
	fields, bytes int
}

// field reads a schema with its children and dictionary.
func (r *schemaReader) field(s *cabi.Schema, depth int) (arrow.Field, error) {
	field, err := r.storage(s, depth)
	if err != nil {
		return arrow.Field{}, err
	}
	return format.Extension(field), nil
}

// storage is field, except that it returns the storage type of an extension type.
func (r *schemaReader) storage(s *cabi.Schema, depth int) (arrow.Field, error) {
	parts, err := r.parts(s, depth)
	if err != nil {
		return arrow.Field{}, err
	}
	parts.field.Type, err = parts.parsed.Type(parts.children, s.Flags, parts.values)
	if err != nil {
		return arrow.Field{}, faultyPart("", err)
	}
	return parts.field, nil
}

// table reads a schema that describes a table. It makes no struct type, which would
// be as large as the schema.
func (r *schemaReader) table(s *cabi.Schema) (*arrow.Schema, error) {
	parts, err := r.parts(s, 1)
	if err != nil {
		return nil, err
	}
	table, err := parts.parsed.Table(parts.children, parts.values)
	var t arrow.DataType
	if err == nil && !table {
		t, err = parts.parsed.Type(parts.children, s.Flags, parts.values)
	}
	switch {
	case err != nil:
		return nil, faultyPart("", err)
	case !table:
		return nil, faulty("format", "a table is described by a struct, not by %s: import the column: %w", t.ID(), ErrInvalid)
	}
	var metadata *arrow.Metadata
	if parts.field.Metadata.Len() > 0 {
		metadata = &parts.field.Metadata
	}
	return arrow.NewSchema(parts.children, metadata), nil
}

// schemaParts is a schema that was read, before its type is assembled.
type schemaParts struct {
	field    arrow.Field
	parsed   format.Parsed
	children []arrow.Field
	values   *arrow.Field
}

func (r *schemaReader) parts(s *cabi.Schema, depth int) (p schemaParts, err error) {
	if err := r.enter(s, depth); err != nil {
		return p, err
	}
	text, err := r.text("format", s.Format)
	if err != nil {
		return p, err
	}
	if p.parsed, err = format.Parse(text); err != nil {
		return p, faultyPart("format", err)
	}
	p.field.Nullable = s.Flags&cabi.FlagNullable != 0
	if s.Name != 0 {
		if p.field.Name, err = r.text("name", s.Name); err != nil {
			return p, err
		}
	}
	if p.field.Metadata, err = r.metadata(s.Metadata); err != nil {
		return p, err
	}
	if p.children, err = r.children(s, p.parsed, depth); err != nil {
		return p, err
	}
	if s.Dictionary != 0 {
		dictionary, err := r.field(schemaAt(s.Dictionary), depth+1)
		if err != nil {
			return p, below("dictionary", err)
		}
		p.values = &dictionary
	}
	return p, nil
}

// enter checks that the schema can be read, and counts it.
func (r *schemaReader) enter(s *cabi.Schema, depth int) error {
	if err := liveSchema(s); err != nil {
		return err
	}
	r.fields++
	switch {
	case depth > format.MaximumDepth:
		return faulty("", "types are nested more than %d deep: %w", format.MaximumDepth, ErrInvalid)
	case r.fields > format.MaximumFields:
		return faulty("", "the schema has more than %d fields: %w", format.MaximumFields, ErrInvalid)
	}
	return nil
}

func (r *schemaReader) children(s *cabi.Schema, parsed format.Parsed, depth int) ([]arrow.Field, error) {
	count, fixed := parsed.Children()
	switch {
	case s.NumChildren < 0 || s.NumChildren > format.MaximumChildren:
		return nil, faulty("n_children", "%d, expected 0 to %d: %w", s.NumChildren, format.MaximumChildren, ErrInvalid)
	case fixed && s.NumChildren != int64(count):
		return nil, faulty("n_children", "%d, expected %d for this format: %w", s.NumChildren, count, ErrInvalid)
	case s.NumChildren == 0:
		return nil, nil
	case s.Children == 0:
		return nil, faulty("children", "NULL, expected %d children: %w", s.NumChildren, ErrInvalid)
	case s.Children%unsafe.Alignof(s.Children) != 0:
		return nil, faulty("children", "the address %#x is not aligned: %w", s.Children, ErrInvalid)
	}
	fields := make([]arrow.Field, 0, min(s.NumChildren, 256)) // do not trust a larger count yet
	for i, child := range unsafe.Slice((*uintptr)(address.Pointer(s.Children)), s.NumChildren) {
		field, err := r.field(schemaAt(child), depth+1)
		if err != nil {
			return nil, belowChild(i, err)
		}
		fields = append(fields, field)
	}
	return fields, nil
}

// text reads a C string that must not be NULL.
func (r *schemaReader) text(field string, at uintptr) (string, error) {
	if at == 0 {
		return "", faulty(field, "NULL, expected a string: %w", ErrInvalid)
	}
	start, length := address.Pointer(at), 0
	for length <= format.MaximumText && *(*byte)(unsafe.Add(start, length)) != 0 {
		length++
	}
	if length > format.MaximumText {
		return "", faulty(field, "no terminating zero within %d bytes: %w", format.MaximumText, ErrInvalid)
	}
	text := string(unsafe.Slice((*byte)(start), length))
	if err := format.CheckText(text, format.MaximumText); err != nil {
		return "", faultyPart(field, err)
	}
	return text, r.count(field, length)
}

func (r *schemaReader) metadata(at uintptr) (arrow.Metadata, error) {
	metadata, length, err := format.ReadMetadata(address.Pointer(at))
	if err != nil {
		return arrow.Metadata{}, faultyPart("metadata", err)
	}
	return metadata, r.count("metadata", length)
}

func (r *schemaReader) count(field string, bytes int) error {
	r.bytes += bytes
	if r.bytes > format.MaximumTotal {
		return faulty(field, "the schema has more than %d bytes of text: %w", format.MaximumTotal, ErrInvalid)
	}
	return nil
}

// liveSchema returns an error if the schema is nil or released.
func liveSchema(s *cabi.Schema) error {
	switch {
	case s == nil:
		return faulty("", "the pointer is NULL: %w", ErrInvalid)
	case uintptr(unsafe.Pointer(s))%unsafe.Alignof(*s) != 0:
		return faulty("", "the address %p is not aligned: %w", s, ErrInvalid)
	case s.Release == 0:
		return faulty("release", "NULL: %w", ErrMoved)
	}
	return nil
}

func schemaAt(word uintptr) *cabi.Schema { return (*cabi.Schema)(address.Pointer(word)) }
