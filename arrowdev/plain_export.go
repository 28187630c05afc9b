package arrowdev

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
)

// ExportRecord writes a record of arrow-go, in host memory, to an ArrowArray of
// struct type and, unless schema is nil, to an ArrowSchema.
//
// # Ownership
//
// The caller provides both structs, in C memory; they are overwritten unread. The
// caller, or the consumer that gets them, calls each release callback once, on any
// thread.
//
// Nothing is copied. The record is retained, and its memory pinned, until the array
// and all children that were moved out of it are released. C memory works as well as
// Go memory.
//
// # Errors
//
// The error is an [*Error], and nothing is written. It wraps the error of
// [ExportSchema], [ErrUnsupported], or device.ErrOutOfMemory.
func ExportRecord(record arrow.Record, array, schema unsafe.Pointer) error {
	return during("export record", exportRecord(record, (*cabi.Array)(array), (*cabi.Schema)(schema)))
}

func exportRecord(record arrow.Record, array *cabi.Array, schema *cabi.Schema) error {
	switch {
	case !cabi.Available:
		return notInThisBuild()
	case record == nil:
		return faulty("record", "nil, expected an arrow.Record: %w", device.ErrInvalidValue)
	case array == nil:
		return faulty("ArrowArray", "the pointer to write to is nil: %w", ErrInvalid)
	}
	if schema != nil {
		if err := writeSchema(schema, record.Schema()); err != nil {
			return err
		}
	}
	err := writeRecord(array, record)
	if err != nil && schema != nil {
		cabi.ReleaseSchema(schema)
		*schema = cabi.Schema{}
	}
	return err
}

// writeRecord exports a record as an array of struct type.
func writeRecord(out *cabi.Array, record arrow.Record) error {
	owner := &recordOwner{record: record}
	nodes, bytes := 1, pointers(int(record.NumCols()))+pointers(1)
	for _, column := range record.Columns() {
		n, b := sizeOf(column.Data())
		nodes, bytes = nodes+n, bytes+b
	}
	tree, ok := cabi.Begin(owner, bytes, nodes)
	if !ok {
		return outOfMemory()
	}
	w := &hostWriter{tree: tree, owner: owner}
	root := cabi.Array{Length: record.NumRows(), NumBuffers: 1, Buffers: uintptr(tree.Take(pointers(1)))}
	tree.OwnArray(&root)
	w.children(&root, len(record.Columns()), func(i int) arrow.ArrayData { return record.Column(i).Data() })
	record.Retain()
	*out = root
	return nil
}
