package flight

import (
	"errors"
	"fmt"

	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	flatbuffers "github.com/google/flatbuffers/go"
	"google.golang.org/grpc/codes"
)

// A schema is a message in the format of FlatBuffers, in which many fields can share their
// children and texts. A message of a few hundred bytes can so describe more fields than memory
// has room for, or fields that contain themselves. arrow-go makes a Go value of each. This
// file counts them first. It also checks the places of the buffers of batches: arrow-go fills
// up a body that is cut off with zeros, and a batch of columns without bytes may have any
// number of rows.

const (
	// schemaBytes is the size of the largest schema that a client accepts.
	schemaBytes = 16 << 20
	// mostFields bounds the fields of a schema with their children, mostDepth how deep they
	// are nested: arrow-go reads no deeper ones.
	mostFields, mostDepth = 20_000, 64
	// mostRows is the number of rows of the largest batch.
	mostRows = 1<<31 - 1
)

// The numbers of the types of messages, and the places of members in the tables of the format.
const (
	schemaMessage, dictionaryBatch, recordBatch = 1, 2, 3

	messageKindAt, messageHeaderAt = 6, 8
	schemaFieldsAt, schemaTextsAt  = 6, 8
	fieldNameAt, fieldTypeAt       = 4, 10
	fieldChildrenAt, fieldTextsAt  = 14, 16
	textKeyAt, textValueAt         = 4, 6
	// A time stamp's zone and a union's codes are the second members of their types.
	typeListAt                                = 6
	batchRowsAt, batchNodesAt, batchBuffersAt = 4, 6, 8
	dictionaryDataAt                          = 6

	fieldKindAt              = 8
	timestampKind, unionKind = 10, 14
)

// checked is a stream that checks messages before arrow-go reads them.
type checked struct {
	from        arrowflight.DataStreamReader
	schemaBytes int
}

// Recv implements flight.DataStreamReader.
func (c *checked) Recv() (*arrowflight.FlightData, error) {
	message, err := c.from.Recv()
	if err != nil || len(message.GetDataHeader()) == 0 {
		return message, err
	}
	if err := checkMessage(message.GetDataHeader(), len(message.GetDataBody()), c.schemaBytes); err != nil {
		return nil, refused(codes.InvalidArgument, "a malformed message: %v", err)
	}
	return message, nil
}

// messageKind returns the type of a message.
func messageKind(header []byte) (kind byte, err error) {
	defer malformed(&err)
	message := root(header)
	return message.GetByteSlot(messageKindAt, 0), nil
}

// checkMessage reports a schema that is larger than most bytes, also when it is decoded, and
// a batch that does not lie in a body of some bytes.
func checkMessage(header []byte, body, most int) (err error) {
	defer malformed(&err)
	message := root(header)
	switch message.GetByteSlot(messageKindAt, 0) {
	case schemaMessage:
		return checkSchema(message, header, most)
	case recordBatch:
		batch, is := child(message, messageHeaderAt)
		return checkBatch(batch, is, body)
	case dictionaryBatch:
		dictionary, is := child(message, messageHeaderAt)
		if is {
			dictionary, is = child(dictionary, dictionaryDataAt)
		}
		return checkBatch(dictionary, is, body)
	}
	return errors.New("it is neither a schema nor a batch")
}

// checkBatch reports rows and buffers that a body of some bytes does not have.
func checkBatch(batch flatbuffers.Table, is bool, body int) error {
	if !is {
		return errors.New("the batch is missing")
	}
	if err := checkRows(batch.GetInt64Slot(batchRowsAt, 0)); err != nil {
		return err
	}
	place, length := list(batch, batchNodesAt)
	for i := range length {
		if err := checkRows(batch.GetInt64(place + flatbuffers.UOffsetT(i)*16)); err != nil {
			return err
		}
	}
	place, length = list(batch, batchBuffersAt)
	for i := range length {
		from := batch.GetInt64(place + flatbuffers.UOffsetT(i)*16)
		bytes := batch.GetInt64(place + flatbuffers.UOffsetT(i)*16 + 8)
		if from < 0 || bytes < 0 || from > int64(body) || bytes > int64(body)-from {
			return fmt.Errorf("buffer %d has %d bytes from %d on, the body has %d", i, bytes, from, body)
		}
	}
	return nil
}

func checkRows(rows int64) error {
	if rows < 0 || rows > mostRows {
		return fmt.Errorf("a batch of %d rows, expected 0 to %d", rows, int64(mostRows))
	}
	return nil
}

// checkSchema reports a schema that is larger than most bytes, also when it is decoded.
func checkSchema(message flatbuffers.Table, header []byte, most int) error {
	if len(header) > most {
		return fmt.Errorf("a schema of %d bytes, expected %d at most", len(header), most)
	}
	schema, is := child(message, messageHeaderAt)
	if !is {
		return errors.New("the schema is missing")
	}
	count := schemaCount{fields: mostFields, bytes: most}
	if err := count.texts(schema, schemaTextsAt); err != nil {
		return err
	}
	return count.children(schema, schemaFieldsAt, 0)
}

// malformed turns the panic of a place outside the message into an error.
func malformed(err *error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf("%v", reason)
	}
}

// root returns the first table of a message.
func root(header []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: header, Pos: flatbuffers.GetUOffsetT(header)}
}

// child returns the table that is a member of another one.
func child(of flatbuffers.Table, at flatbuffers.VOffsetT) (flatbuffers.Table, bool) {
	offset := flatbuffers.UOffsetT(of.Offset(at))
	if offset == 0 {
		return flatbuffers.Table{}, false
	}
	return flatbuffers.Table{Bytes: of.Bytes, Pos: of.Indirect(offset + of.Pos)}, true
}

// list returns the place and the length of a list that is a member of a table.
func list(of flatbuffers.Table, at flatbuffers.VOffsetT) (place flatbuffers.UOffsetT, length int) {
	offset := flatbuffers.UOffsetT(of.Offset(at))
	if offset == 0 {
		return 0, 0
	}
	return of.Vector(offset), of.VectorLen(offset)
}

// element returns the table that is an element of a list.
func element(of flatbuffers.Table, place flatbuffers.UOffsetT, i int) flatbuffers.Table {
	return flatbuffers.Table{Bytes: of.Bytes, Pos: of.Indirect(place + flatbuffers.UOffsetT(i)*4)}
}

// schemaCount has what is left of the limits of a schema.
type schemaCount struct{ fields, bytes int }

// children counts the fields in a list.
func (c *schemaCount) children(of flatbuffers.Table, at flatbuffers.VOffsetT, depth int) error {
	place, length := list(of, at)
	if depth > mostDepth && length > 0 {
		return fmt.Errorf("fields are nested more than %d deep", mostDepth)
	}
	for i := range length {
		if c.fields--; c.fields < 0 {
			return fmt.Errorf("a schema of more than %d fields", mostFields)
		}
		if err := c.field(element(of, place, i), depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *schemaCount) field(field flatbuffers.Table, depth int) error {
	if err := c.list(field, fieldNameAt, 1); err != nil {
		return err
	}
	if kind, is := child(field, fieldTypeAt); is {
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
func (c *schemaCount) texts(of flatbuffers.Table, at flatbuffers.VOffsetT) error {
	place, length := list(of, at)
	for i := range length {
		if err := c.count(16); err != nil {
			return err
		}
		pair := element(of, place, i)
		if err := errors.Join(c.list(pair, textKeyAt, 1), c.list(pair, textValueAt, 1)); err != nil {
			return err
		}
	}
	return nil
}

// list counts the bytes of a list of elements of some width.
func (c *schemaCount) list(of flatbuffers.Table, at flatbuffers.VOffsetT, width int) error {
	_, length := list(of, at)
	return c.count(length * width)
}

func (c *schemaCount) count(bytes int) error {
	if c.bytes -= bytes; c.bytes < 0 {
		return errors.New("a schema with more text than a schema may have bytes")
	}
	return nil
}
