package arrowdev

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/format"
)

// writeField writes the schema of a column to out. On an error out is unchanged. The
// error is an *Error that names the field, but no operation.
func writeField(out *cabi.Schema, field arrow.Field) error {
	image, err := imageOf(field)
	if err != nil {
		return inSchema(err)
	}
	return writeImage(out, image, 0)
}

// writeSchema is writeField for the schema of a table.
func writeSchema(out *cabi.Schema, schema *arrow.Schema) error {
	if schema == nil {
		return inSchema(faulty("", "the schema is nil: %w", ErrInvalid))
	}
	if w := written.lookUp(schema); w != nil {
		return writeImage(out, w.image, w.mark)
	}
	image, err := imageOfSchema(schema)
	if err != nil {
		return inSchema(err)
	}
	return writeImage(out, image, written.keep(schema, image))
}

func writeImage(out *cabi.Schema, image *cabi.Image, mark uint64) error {
	if !image.Write(out, mark) {
		return inSchema(faulty("", "allocate %d bytes for the structs: %w", image.Bytes(), device.ErrOutOfMemory))
	}
	return nil
}

// imageOf describes a field as the image of an ArrowSchema.
func imageOf(field arrow.Field) (*cabi.Image, error) {
	root, err := new(schemaPlan).describe(field, 1)
	if err != nil {
		return nil, err
	}
	return cabi.NewImage(&root), nil
}

// imageOfSchema is imageOf for the schema of a table.
func imageOfSchema(schema *arrow.Schema) (*cabi.Image, error) {
	if !schema.IsNativeEndian() {
		return nil, faulty("", "the schema's byte order is not the machine's, and the standard cannot represent it: %w", ErrUnsupported)
	}
	for i, field := range schema.Fields() {
		if field.Type == nil {
			return nil, belowChild(i, faulty("format", "the type is nil: %w", ErrInvalid))
		}
	}
	return imageOf(arrow.Field{Type: arrow.StructOf(schema.Fields()...), Metadata: schema.Metadata()})
}

// schemaPlan counts the structs and bytes that an export takes.
type schemaPlan struct {
	fields int
	// text is the number of bytes of text and metadata.
	text int
}

// describe describes a field with everything below it.
func (p *schemaPlan) describe(field arrow.Field, depth int) (cabi.Description, error) {
	var none cabi.Description
	if depth > format.MaximumDepth {
		return none, faulty("", "types are nested more than %d deep: %w", format.MaximumDepth, ErrUnsupported)
	}
	described, err := format.Describe(field)
	if err != nil {
		return none, faultyPart("", err)
	}
	if err := p.count(&described); err != nil {
		return none, err
	}
	d := cabi.Description{Format: described.Format, Name: described.Name, Metadata: described.Metadata, Flags: described.Flags}
	if len(described.Children) > 0 {
		d.Children = make([]cabi.Description, len(described.Children))
	}
	for i, child := range described.Children {
		if d.Children[i], err = p.describe(child, depth+1); err != nil {
			return none, belowChild(i, err)
		}
	}
	if described.Dictionary != nil {
		// A dictionary may have null values.
		values, err := p.describe(arrow.Field{Type: described.Dictionary, Nullable: true}, depth+1)
		if err != nil {
			return none, below("dictionary", err)
		}
		d.Dictionary = &values
	}
	return d, nil
}

func (p *schemaPlan) count(d *format.Description) error {
	if p.fields++; p.fields > format.MaximumFields {
		return faulty("", "the schema has more than %d fields: %w", format.MaximumFields, ErrUnsupported)
	}
	if p.text += len(d.Format) + len(d.Name) + len(d.Metadata); p.text > format.MaximumTotal {
		return faulty("", "the schema has more than %d bytes of text: %w", format.MaximumTotal, ErrUnsupported)
	}
	return nil
}
