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
// A schema of gpuframe's own that comes back unaltered gives the very schema that
// was exported, at once, as long as somebody still has that. Of other libraries the
// same schema, read twice, may be one and the same *arrow.Schema.
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
	moved, err := takeSchema(schema)
	if err != nil {
		return nil, during("import schema", err)
	}
	defer cabi.ReleaseSchema(moved)
	result, err := readSchema(moved)
	if err != nil {
		return nil, during("import schema", err)
	}
	return result, nil
}

// ImportField is [ImportSchema] for an ArrowSchema of any type, which describes
// one column.
func ImportField(schema unsafe.Pointer) (arrow.Field, error) {
	moved, err := takeSchema(schema)
	if err != nil {
		return arrow.Field{}, during("import schema", err)
	}
	defer cabi.ReleaseSchema(moved)
	result, err := readField(moved)
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
// How the schema is written is remembered until it is collected as garbage, so
// that exporting it again takes a microsecond. Schemas, and the types in them, must
// therefore not be changed, which arrow-go does not foresee either.
//
// On an error, which is an [*Error], nothing was written. It wraps [ErrInvalid]
// for a type that is unfinished or contradicts itself and for names that C cannot
// hold, [ErrUnsupported] for types that the standard does not have, for an
// extension type that is stored as another, and for what [ImportSchema] would
// refuse to take, and device.ErrOutOfMemory.
func ExportSchema(schema *arrow.Schema, out unsafe.Pointer) error {
	s, err := writable(out)
	if err == nil {
		err = writeSchema(s, schema)
	}
	return during("export schema", err)
}

// ExportField is [ExportSchema] for a field of any type.
func ExportField(field arrow.Field, out unsafe.Pointer) error {
	s, err := writable(out)
	if err == nil {
		err = writeField(s, field)
	}
	return during("export schema", err)
}

// takeSchema moves the schema out of the caller's struct. It has to be released.
func takeSchema(schema unsafe.Pointer) (*cabi.Schema, error) {
	if !cabi.Available {
		return nil, notInThisBuild()
	}
	source := (*cabi.Schema)(schema)
	if err := liveSchema(source); err != nil {
		return nil, inSchema(err)
	}
	moved := *source
	source.Release = 0
	if moved.Origin().Ended {
		// Nothing is left of it: this is a copy that nobody marked.
		return nil, inSchema(faulty("release", "%w", ErrMoved))
	}
	return &moved, nil
}

// writable returns the struct that a schema is to be written to.
func writable(out unsafe.Pointer) (*cabi.Schema, error) {
	if !cabi.Available {
		return nil, notInThisBuild()
	}
	if out == nil {
		return nil, faulty("ArrowSchema", "the pointer to write to is nil: %w", ErrInvalid)
	}
	return (*cabi.Schema)(out), nil
}
