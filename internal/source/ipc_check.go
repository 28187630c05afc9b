package source

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
)

// arrow-go allocates lists of fields of the length that a file claims, and follows
// fields below fields to any depth: a damaged schema could end the process. These
// functions check the schema first. Slots are those of Arrow's Message.fbs and
// Schema.fbs.
const (
	messageHeader  = 8
	footerSchema   = 6
	schemaFields   = 6
	schemaMetadata = 8
	fieldChildren  = 14
	fieldMetadata  = 16
	mostFieldDepth = 64
)

// checkFooter checks the schema in the footer of a file.
func checkFooter(file io.ReaderAt, size int64) (err error) {
	defer recovered(&err)
	tail := make([]byte, 4+len(ipc.Magic))
	if size < int64(2*len(tail)) {
		return fmt.Errorf("a file of %d bytes has no footer: %w", size, ErrContents)
	}
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil {
		return err
	}
	length := int64(int32(binary.LittleEndian.Uint32(tail)))
	if length <= 0 || length > size-int64(len(tail)) {
		return fmt.Errorf("the footer has %d bytes, the file %d: %w", length, size, ErrContents)
	}
	footer := make([]byte, length)
	if _, err := file.ReadAt(footer, size-int64(len(tail))-length); err != nil {
		return err
	}
	return checkSchemaAt(rootOf(footer), footerSchema)
}

// checkFirstMessage checks the schema at the beginning of a stream. It returns a reader
// of the whole stream.
func checkFirstMessage(stream io.Reader) (whole io.Reader, err error) {
	defer recovered(&err)
	var begin bytes.Buffer
	whole = io.MultiReader(&begin, stream)
	length := uint32(0xffffffff)
	for length == 0xffffffff { // newer streams have a mark before the length
		if _, err := io.CopyN(&begin, stream, 4); err != nil || begin.Len() > 8 {
			return whole, ignoreEnd(err)
		}
		length = binary.LittleEndian.Uint32(begin.Bytes()[begin.Len()-4:])
	}
	prefix := begin.Len()
	if _, err := io.CopyN(&begin, stream, int64(int32(length))); err != nil {
		return whole, ignoreEnd(err)
	}
	return whole, checkSchemaAt(rootOf(begin.Bytes()[prefix:]), messageHeader)
}

// ignoreEnd leaves the end of a stream to arrow-go.
func ignoreEnd(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func rootOf(data []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: data, Pos: flatbuffers.GetUOffsetT(data)}
}

// checkSchemaAt checks the schema that a slot of a table refers to.
func checkSchemaAt(t flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	at := flatbuffers.UOffsetT(t.Offset(slot))
	if at == 0 {
		return fmt.Errorf("the schema is missing: %w", ErrContents)
	}
	schema := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + at)}
	if err := checkVector(schema, schemaMetadata); err != nil {
		return err
	}
	left := len(t.Bytes)
	return checkFields(schema, schemaFields, mostFieldDepth, &left)
}

// checkFields checks a list of fields and those below them. left is the number of
// fields that may still occur.
func checkFields(t flatbuffers.Table, slot flatbuffers.VOffsetT, depth int, left *int) error {
	if err := checkVector(t, slot); err != nil {
		return err
	}
	at := flatbuffers.UOffsetT(t.Offset(slot))
	if at == 0 {
		return nil
	}
	n := t.VectorLen(at)
	if *left -= n; depth == 0 || *left < 0 {
		return fmt.Errorf("the fields of the schema are nested more than %d deep or are too many: %w", mostFieldDepth, ErrContents)
	}
	begin := t.Vector(at)
	for i := range n {
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(begin + flatbuffers.UOffsetT(4*i))}
		if err := checkVector(field, fieldMetadata); err != nil {
			return err
		}
		if err := checkFields(field, fieldChildren, depth-1, left); err != nil {
			return err
		}
	}
	return nil
}

// checkVector checks that a list of offsets fits the data.
func checkVector(t flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	at := flatbuffers.UOffsetT(t.Offset(slot))
	if at == 0 {
		return nil
	}
	if n := t.VectorLen(at); n < 0 || n > len(t.Bytes)/4 {
		return fmt.Errorf("a list of the schema has %d elements in %d bytes: %w", n, len(t.Bytes), ErrContents)
	}
	return nil
}
