package arrowipc

import (
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// A schema is a message in the format of FlatBuffers, in which many fields can share their
// children and texts. A message of a few hundred bytes can so describe more fields than memory
// has room for, or fields that contain themselves. arrow-go makes a Go value of each. This
// file counts them first. It also checks the places of the buffers of batches: arrow-go fills
// up a body that is cut off with zeros, and a batch of columns without bytes may have any
// number of rows.

const (
	// mostDepth is how deep fields are nested: arrow-go reads no deeper ones.
	mostDepth = 64
	// mostRows is the number of rows of the largest batch.
	mostRows = 1<<31 - 1
)

// Kind is the type of a message.
type Kind byte

// The types of the messages of streams, as Arrow's Message.fbs numbers them.
const (
	SchemaMessage   Kind = 1
	DictionaryBatch Kind = 2
	RecordBatch     Kind = 3
)

// The places of members in the tables of the format.
const (
	messageKindAt, messageHeaderAt = 6, 8
	messageBodyAt                  = 10
	schemaFieldsAt, schemaTextsAt  = 6, 8
	fieldNameAt, fieldTypeAt       = 4, 10
	fieldChildrenAt, fieldTextsAt  = 14, 16
	textKeyAt, textValueAt         = 4, 6
	// A time stamp's zone and a union's codes are the second members of their types.
	typeListAt                                = 6
	batchRowsAt, batchNodesAt, batchBuffersAt = 4, 6, 8
	batchCompressionAt, compressionCodecAt    = 10, 4
	dictionaryDataAt                          = 6

	fieldKindAt              = 8
	timestampKind, unionKind = 10, 14
)

// Limits bound a schema. The zero value allows what a schema of its length has if its fields
// do not share much.
type Limits struct {
	// SchemaBytes is the length of the message, and of all names and metadata.
	SchemaBytes int
	// Fields is the number of fields with their children.
	Fields int
}

// KindOf returns the type of a message. An error wraps [ErrContents].
func KindOf(header []byte) (kind Kind, err error) {
	defer Recovered(&err)
	message := root(header)
	return Kind(message.GetByteSlot(messageKindAt, 0)), nil
}

// CheckMessage reports a schema that exceeds the limits, also when it is decoded, a batch
// that does not lie in its body, and buffers that cannot be decompressed to the lengths that
// they claim. It does not read the values of buffers.
//
// An error wraps [ErrContents].
func CheckMessage(header, body []byte, limits Limits) (err error) {
	defer Recovered(&err)
	message := root(header)
	buffers, ratio, err := checkHead(message, int64(len(body)), limits)
	if err != nil {
		return err
	}
	return checkCompressed(body, buffers, ratio)
}

// checkHead checks a message with a body of some bytes. It returns the buffers in the body
// and how many times as long they may be after decompression, or zero if they are not
// compressed.
func checkHead(message flatbuffers.Table, body int64, limits Limits) ([]bodyBuffer, int64, error) {
	if body < 0 {
		return nil, 0, fmt.Errorf("a message has a body of %d bytes: %w", body, ErrContents)
	}
	kind := Kind(message.GetByteSlot(messageKindAt, 0))
	switch kind {
	case SchemaMessage:
		return nil, 0, checkSchema(message, messageHeaderAt, limits)
	case RecordBatch:
		batch, ok := child(message, messageHeaderAt)
		return checkBatch(batch, ok, body)
	case DictionaryBatch:
		dictionary, ok := child(message, messageHeaderAt)
		if ok {
			dictionary, ok = child(dictionary, dictionaryDataAt)
		}
		return checkBatch(dictionary, ok, body)
	}
	return nil, 0, fmt.Errorf("a message of type %d, expected a schema (1) or a batch (2, 3): %w", kind, ErrContents)
}

// checkBatch reports rows and buffers that a body of some bytes does not have.
func checkBatch(batch flatbuffers.Table, ok bool, body int64) (buffers []bodyBuffer, ratio int64, err error) {
	if !ok {
		return nil, 0, fmt.Errorf("the batch of a message is missing: %w", ErrContents)
	}
	if err := checkRows(batch.GetInt64Slot(batchRowsAt, 0)); err != nil {
		return nil, 0, err
	}
	place, length := list(batch, batchNodesAt)
	for i := range length {
		if err := checkRows(batch.GetInt64(place + flatbuffers.UOffsetT(i)*16)); err != nil {
			return nil, 0, err
		}
	}
	place, length = list(batch, batchBuffersAt)
	for i := range length {
		at := place + flatbuffers.UOffsetT(i)*16
		b := bodyBuffer{batch.GetInt64(at), batch.GetInt64(at + 8)}
		if b.offset < 0 || b.length < 0 || b.offset > body || b.length > body-b.offset {
			return nil, 0, fmt.Errorf("buffer %d of a message has %d bytes from %d on, its body %d: %w", i, b.length, b.offset, body, ErrContents)
		}
		buffers = append(buffers, b)
	}
	compression, ok := child(batch, batchCompressionAt)
	switch {
	case !ok:
		return buffers, 0, nil
	case compression.GetByteSlot(compressionCodecAt, 0) == 0:
		return buffers, mostLZ4, nil
	}
	return buffers, mostZstd, nil
}

func checkRows(rows int64) error {
	if rows < 0 || rows > mostRows {
		return fmt.Errorf("a batch of %d rows, expected 0 to %d: %w", rows, int64(mostRows), ErrContents)
	}
	return nil
}

// checkSchema checks the schema that is a member of a table.
func checkSchema(parent flatbuffers.Table, at flatbuffers.VOffsetT, limits Limits) error {
	bytes := len(parent.Bytes)
	// A field takes at least 16 bytes. Names that are not shared take no more than the message.
	count := schemaCount{fields: bytes / 16, bytes: 16*bytes + 1<<20}
	if limits.Fields > 0 {
		count.fields = min(count.fields, limits.Fields)
	}
	if most := limits.SchemaBytes; most > 0 {
		if bytes > most {
			return fmt.Errorf("a schema of %d bytes, expected %d at most: %w", bytes, most, ErrContents)
		}
		count.bytes = min(count.bytes, most)
	}
	count.mostFields = count.fields
	schema, ok := child(parent, at)
	if !ok {
		return fmt.Errorf("the schema is missing: %w", ErrContents)
	}
	if err := count.texts(schema, schemaTextsAt); err != nil {
		return err
	}
	return count.children(schema, schemaFieldsAt, 0)
}

// root returns the first table of a message.
func root(header []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: header, Pos: flatbuffers.GetUOffsetT(header)}
}

// child returns the table that is a member of another one.
func child(parent flatbuffers.Table, at flatbuffers.VOffsetT) (flatbuffers.Table, bool) {
	offset := flatbuffers.UOffsetT(parent.Offset(at))
	if offset == 0 {
		return flatbuffers.Table{}, false
	}
	return flatbuffers.Table{Bytes: parent.Bytes, Pos: parent.Indirect(offset + parent.Pos)}, true
}

// list returns the place and the length of a list that is a member of a table.
func list(parent flatbuffers.Table, at flatbuffers.VOffsetT) (place flatbuffers.UOffsetT, length int) {
	offset := flatbuffers.UOffsetT(parent.Offset(at))
	if offset == 0 {
		return 0, 0
	}
	return parent.Vector(offset), parent.VectorLen(offset)
}

// element returns the table that is an element of a list.
func element(parent flatbuffers.Table, place flatbuffers.UOffsetT, i int) flatbuffers.Table {
	return flatbuffers.Table{Bytes: parent.Bytes, Pos: parent.Indirect(place + flatbuffers.UOffsetT(i)*4)}
}

// schemaCount has what is left of the limits of a schema.
type schemaCount struct{ fields, mostFields, bytes int }

// children counts the fields in a list.
func (c *schemaCount) children(parent flatbuffers.Table, at flatbuffers.VOffsetT, depth int) error {
	place, length := list(parent, at)
	if depth > mostDepth && length > 0 {
		return fmt.Errorf("the fields of a schema are nested more than %d deep: %w", mostDepth, ErrContents)
	}
	for i := range length {
		if c.fields--; c.fields < 0 {
			return fmt.Errorf("a schema of more than %d fields: %w", c.mostFields, ErrContents)
		}
		if err := c.field(element(parent, place, i), depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *schemaCount) field(field flatbuffers.Table, depth int) error {
	if err := c.list(field, fieldNameAt, 1); err != nil {
		return err
	}
	if kind, ok := child(field, fieldTypeAt); ok {
		switch field.GetByteSlot(fieldKindAt, 0) {
		case timestampKind:
			if err := c.list(kind, typeListAt, 1); err != nil {
				return err
			}
		case unionKind:
			if err := c.list(kind, typeListAt, 4); err != nil {
				return err
			}
		}
	}
	if err := c.texts(field, fieldTextsAt); err != nil {
		return err
	}
	return c.children(field, fieldChildrenAt, depth+1)
}

// texts counts the bytes of keys and values.
func (c *schemaCount) texts(parent flatbuffers.Table, at flatbuffers.VOffsetT) error {
	place, length := list(parent, at)
	for i := range length {
		if err := c.count(16); err != nil {
			return err
		}
		pair := element(parent, place, i)
		if err := errors.Join(c.list(pair, textKeyAt, 1), c.list(pair, textValueAt, 1)); err != nil {
			return err
		}
	}
	return nil
}

// list counts the bytes of a list of elements of some width.
func (c *schemaCount) list(parent flatbuffers.Table, at flatbuffers.VOffsetT, width int) error {
	_, length := list(parent, at)
	return c.count(length * width)
}

func (c *schemaCount) count(bytes int) error {
	if c.bytes -= bytes; c.bytes < 0 {
		return fmt.Errorf("the names and metadata of a schema have too many bytes: %w", ErrContents)
	}
	return nil
}
