package arrowdev

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/format"
	"github.com/gpuframe/gpuframe/device"
)

// writeField writes the schema of a column to out, which on an error it leaves as
// it is. The error is an *Error that names the field, but no operation.
func writeField(out *cabi.Schema, field arrow.Field) error {
	var plan schemaPlan
	root, err := plan.describe(field, 1)
	if err != nil {
		return inSchema(err)
	}
	return plan.write(out, &root)
}

// writeSchema is writeField for the schema of a table.
func writeSchema(out *cabi.Schema, schema *arrow.Schema) error {
	if schema == nil {
		return inSchema(faulty("", "the schema is nil: %w", ErrInvalid))
	}
	if !schema.IsNativeEndian() {
		return inSchema(faulty("", "the schema is of the other byte order, which the standard cannot say: %w", ErrUnsupported))
	}
	for i, field := range schema.Fields() {
		if field.Type == nil {
			return inSchema(belowChild(i, faulty("format", "the type is nil: %w", ErrInvalid)))
		}
	}
	return writeField(out, arrow.Field{Type: arrow.StructOf(schema.Fields()...), Metadata: schema.Metadata()})
}

// planned is a schema that is to be written.
type planned struct {
	format.Description
	children   []planned
	dictionary *planned
}

// schemaPlan adds up what all the schemas of an export take, so that they can lie
// in one piece of memory.
type schemaPlan struct {
	fields int
	// text is how many bytes of text and metadata there are.
	text int
	// memory is what all takes in C, the root's struct apart.
	memory uintptr
}

const (
	schemaBytes  = unsafe.Sizeof(cabi.Schema{})
	addressBytes = unsafe.Sizeof(uintptr(0))
)

// describe takes a field apart, with everything below it.
func (p *schemaPlan) describe(field arrow.Field, depth int) (planned, error) {
	if depth > format.MaximumDepth {
		return planned{}, faulty("", "types are nested more than %d deep: %w", format.MaximumDepth, ErrUnsupported)
	}
	description, err := format.Describe(field)
	if err != nil {
		return planned{}, faultyPart("", err)
	}
	if err := p.count(&description); err != nil {
		return planned{}, err
	}
	s := planned{Description: description}
	for i, child := range description.Children {
		node, err := p.describe(child, depth+1)
		if err != nil {
			return planned{}, belowChild(i, err)
		}
		s.children = append(s.children, node)
	}
	if description.Dictionary != nil {
		// A dictionary may have nulls among its values.
		values, err := p.describe(arrow.Field{Type: description.Dictionary, Nullable: true}, depth+1)
		if err != nil {
			return planned{}, below("dictionary", err)
		}
		s.dictionary = &values
	}
	return s, nil
}

func (p *schemaPlan) count(d *format.Description) error {
	if p.fields++; p.fields > format.MaximumFields {
		return faulty("", "the schema has more than %d fields: %w", format.MaximumFields, ErrUnsupported)
	}
	if p.text += len(d.Format) + len(d.Name) + len(d.Metadata); p.text > format.MaximumTotal {
		return faulty("", "the schema has more than %d bytes of text: %w", format.MaximumTotal, ErrUnsupported)
	}
	if p.fields > 1 {
		p.memory += schemaBytes
	}
	p.memory += cabi.Rounded(uintptr(len(d.Format)+1)) + cabi.Rounded(uintptr(len(d.Name)+1)) +
		cabi.Rounded(uintptr(len(d.Metadata))) + uintptr(len(d.Children))*addressBytes
	return nil
}

// write writes the schemas to memory of their own, the first of them to out.
func (p *schemaPlan) write(out *cabi.Schema, root *planned) error {
	tree, ok := cabi.Begin(nil, p.memory, p.fields)
	if !ok {
		return inSchema(faulty("", "%d bytes for the structs: %w", p.memory, device.ErrOutOfMemory))
	}
	writer := schemaWriter{tree}
	writer.write(out, root)
	return nil
}

// schemaWriter writes to a tree in which there is room for all of it.
type schemaWriter struct{ tree *cabi.Tree }

func (w schemaWriter) write(out *cabi.Schema, s *planned) {
	*out = cabi.Schema{
		Format:   w.bytes(append([]byte(s.Format), 0)),
		Name:     w.bytes(append([]byte(s.Name), 0)),
		Metadata: w.bytes(s.Metadata),
		Flags:    s.Flags, NumChildren: int64(len(s.children)),
	}
	w.tree.OwnSchema(out)
	if len(s.children) > 0 {
		table := w.tree.Take(uintptr(len(s.children)) * addressBytes)
		out.Children = uintptr(table)
		for i, entries := 0, unsafe.Slice((*uintptr)(table), len(s.children)); i < len(entries); i++ {
			entries[i] = w.below(&s.children[i])
		}
	}
	if s.dictionary != nil {
		out.Dictionary = w.below(s.dictionary)
	}
}

// below writes a schema to the tree and returns where it is.
func (w schemaWriter) below(s *planned) uintptr {
	memory := w.tree.Take(schemaBytes)
	w.write((*cabi.Schema)(memory), s)
	return uintptr(memory)
}

// bytes copies bytes to the tree and returns where they are; zero for nil.
func (w schemaWriter) bytes(source []byte) uintptr {
	if source == nil {
		return 0
	}
	memory := w.tree.Take(uintptr(len(source)))
	copy(unsafe.Slice((*byte)(memory), len(source)), source)
	return uintptr(memory)
}
