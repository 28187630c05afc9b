package arrowdev

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// ImportSchema makes a schema of an ArrowSchema of struct type, which describes a
// record batch or a table. It is safe for concurrent use, but the struct must not be
// used by another goroutine during the call.
//
// # Ownership
//
// ImportSchema consumes the ArrowSchema in every case: when it returns, the struct is
// marked as released, and the producer's release callback has run once, on a copy.
// Only a nil pointer, a released struct and a build without cgo leave nothing to
// release. The result refers to no memory of the producer.
//
// If a schema that gpuframe exported comes back unaltered, ImportSchema returns the
// exported schema itself, without parsing, while it is still reachable. If another
// library's schema is read twice, both calls may return the same *arrow.Schema.
//
// # Fields
//
// The names, types, nullability and metadata of the fields are kept, and the metadata
// of the schema. A field whose metadata name an extension type that is registered
// with arrow-go has that type; with an unregistered one it keeps its storage type and
// the metadata. Parts that arrow-go cannot represent are dropped: the names of the
// entries, keys and values of maps, the metadata of entries, of run ends and of
// run-end encoded values, and the name, nullability and metadata of a dictionary.
//
// # Errors
//
// The error is an [*Error] that names the field at fault, for example
// "ArrowSchema.children[2].format". It wraps [ErrInvalid] for a violation of the
// standard, [ErrUnsupported] for a type that arrow-go lacks, such as fixed-size lists
// of length zero and decimals of 32 or 64 bits, and [ErrMoved] for a schema or a
// child that was released. Types nested more than 64 deep and schemas of more than
// 262144 fields are refused.
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

// ImportField is [ImportSchema] for an ArrowSchema of any type, which describes one
// column.
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

// ExportSchema writes the schema to the ArrowSchema at out. The struct has struct
// type, is not nullable and carries the schema's metadata.
//
// # Ownership
//
// The caller provides the struct, in C memory; it is overwritten unread. The caller,
// or the consumer that gets the struct, calls its release once, on any thread, which
// frees the memory behind it. Children may be moved out before; they then live until
// they are released themselves.
//
// The written form of a schema is cached until the schema is garbage, so that another
// export of it takes a microsecond. Schemas and their types must therefore not be
// changed; arrow-go does not support changes either.
//
// # Errors
//
// The error is an [*Error], and nothing is written. It wraps [ErrInvalid] for a type
// that is incomplete or contradicts itself and for names that C strings cannot hold,
// [ErrUnsupported] for types that the standard lacks, for an extension type stored as
// another extension type, and for schemas that [ImportSchema] would refuse, and
// device.ErrOutOfMemory.
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

// takeSchema moves the schema out of the caller's struct. The caller releases it.
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
		// The memory of this unmarked copy is freed.
		return nil, inSchema(faulty("release", "%w", ErrMoved))
	}
	return &moved, nil
}

// writable returns the struct that a schema is written to.
func writable(out unsafe.Pointer) (*cabi.Schema, error) {
	if !cabi.Available {
		return nil, notInThisBuild()
	}
	if out == nil {
		return nil, faulty("ArrowSchema", "the pointer to write to is nil: %w", ErrInvalid)
	}
	return (*cabi.Schema)(out), nil
}
