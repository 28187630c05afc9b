package arrowdev

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// ImportSchema makes a schema of an ArrowSchema of struct type, which is how a
// record batch or a table is described.
//
// It consumes the ArrowSchema in every case: the struct is marked as released,
// and what the producer gave it as its release has run once when ImportSchema
// returns, on a copy. Only a nil pointer, a struct that is released already and a
// build without cgo leave nothing to run. Nothing of the result lies in the
// producer's memory.
//
// The names, types, nullability and metadata of the fields are kept, and so are
// the metadata of the schema. A field whose metadata name an extension type that
// is registered with arrow-go is of that type; with any other it keeps its
// storage type and the metadata. What arrow-go has no place for is dropped: what
// maps call their entries, keys and values, the metadata of entries, of run ends
// and of what is run-end encoded, and the name, nullability and metadata of a
// dictionary.
//
// The error is an [*Error] that names the field at fault, as in
// "ArrowSchema.children[2].format". It wraps [ErrInvalid] for what is against the
// standard, [ErrUnsupported] for a type that arrow-go does not have, as fixed-size
// lists of length zero and decimals of 32 or 64 bits, and [ErrMoved] for a schema
// or a child that was released. Types nested more than 64 deep and schemas of
// more than 262144 fields are refused.
//
// It may be called from any goroutine; the struct must not be used by another
// meanwhile.
func ImportSchema(schema unsafe.Pointer) (*arrow.Schema, error) {
	var result *arrow.Schema
	err := consumeSchema(schema, func(s *cabi.Schema) (err error) {
		result, err = readSchema(s)
		return err
	})
	if err != nil {
		return nil, during("import schema", err)
	}
	return result, nil
}

// ImportField is [ImportSchema] for an ArrowSchema of any type, which describes
// one column.
func ImportField(schema unsafe.Pointer) (arrow.Field, error) {
	var result arrow.Field
	err := consumeSchema(schema, func(s *cabi.Schema) (err error) {
		result, err = readField(s)
		return err
	})
	if err != nil {
		return arrow.Field{}, during("import schema", err)
	}
	return result, nil
}

// ExportSchema writes the schema to the ArrowSchema at out, which is the caller's,
// in C memory, and holds nothing: it is overwritten unread. It is of struct type,
// is not nullable and carries the schema's metadata.
//
// The caller, or whom he gives the struct, calls its release once, on any thread;
// the memory behind it goes then. Children may be moved elsewhere before, and
// then live until they are released themselves.
//
// On an error, which is an [*Error], nothing was written. It wraps [ErrInvalid]
// for a type that is unfinished or contradicts itself and for names that C cannot
// hold, [ErrUnsupported] for types that the standard does not have, for an
// extension type that is stored as another, and for what [ImportSchema] would
// refuse to take, and device.ErrOutOfMemory.
func ExportSchema(schema *arrow.Schema, out unsafe.Pointer) error {
	return during("export schema", exportTo(out, func(s *cabi.Schema) error { return writeSchema(s, schema) }))
}

// ExportField is [ExportSchema] for a field of any type.
func ExportField(field arrow.Field, out unsafe.Pointer) error {
	return during("export schema", exportTo(out, func(s *cabi.Schema) error { return writeField(s, field) }))
}

// consumeSchema moves the schema out of the caller's struct, has it read, and
// releases it.
func consumeSchema(schema unsafe.Pointer, read func(*cabi.Schema) error) error {
	if !cabi.Available {
		return notInThisBuild()
	}
	source := (*cabi.Schema)(schema)
	if err := liveSchema(source); err != nil {
		return inSchema(err)
	}
	moved := *source
	source.Release = 0
	defer cabi.ReleaseSchema(&moved)
	return read(&moved)
}

func exportTo(out unsafe.Pointer, write func(*cabi.Schema) error) error {
	if !cabi.Available {
		return notInThisBuild()
	}
	if out == nil {
		return faulty("ArrowSchema", "the pointer to write to is nil: %w", ErrInvalid)
	}
	return write((*cabi.Schema)(out))
}
