package delimited

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// Layout describes the rows of a text and the columns that are made of them.
type Layout struct {
	// Delimiter is the character between the fields of a row. It is no quote and no part of a line end.
	Delimiter byte
	// Width is the number of fields of a row.
	Width int
	// Nulls are the texts that stand for null. Fields within quotes are null only if they are empty, and then only
	// in columns of other types than text.
	Nulls   []string
	Columns []Column
}

// Column is a column that is made.
type Column struct {
	Type arrow.DataType
	// Place is the place of the column's fields in the rows, or -1 for a column of nulls.
	Place int
	// Cut leaves out the digits of fractions of seconds that a timestamp does not hold.
	Cut bool
}

// Text is whole rows. The last one may lack its line end.
type Text struct {
	Bytes []byte
	Rows  int64
}

// form is Form of delimited.cuh.
type form uint32

const (
	integer form = iota
	natural
	floating
	boolean
	date32
	date64
	instant
	decimal
	text
)

// forms are those of types.
var forms = map[arrow.Type]form{
	arrow.INT8: integer, arrow.INT16: integer, arrow.INT32: integer, arrow.INT64: integer,
	arrow.UINT8: natural, arrow.UINT16: natural, arrow.UINT32: natural, arrow.UINT64: natural,
	arrow.FLOAT32: floating, arrow.FLOAT64: floating,
	arrow.BOOL: boolean, arrow.DATE32: date32, arrow.DATE64: date64, arrow.TIMESTAMP: instant, arrow.DECIMAL128: decimal,
	arrow.STRING: text, arrow.LARGE_STRING: text,
}

// none is the place of a column of nulls.
const none = 1<<32 - 1

// longestNull is the length of a text that stands for null at most: see Nulls of rows.cuh.
const longestNull = 63

// Decodable reports whether [Decode] reads columns of a type.
func Decodable(t arrow.DataType) bool {
	_, ok := forms[t.ID()]
	return ok
}

// DecodableNull reports whether a text may stand for null.
func DecodableNull(null string) bool { return len(null) <= longestNull }

// check checks a layout.
func (l *Layout) check() error {
	if l.Width < 1 {
		return fmt.Errorf("rows of %d fields, expected one or more: %w", l.Width, device.ErrInvalidValue)
	}
	switch l.Delimiter {
	case 0, '"', '\r', '\n':
		return fmt.Errorf("the delimiter is %q, expected a character other than a quote or a line end: %w", l.Delimiter, device.ErrInvalidValue)
	}
	for _, null := range l.Nulls {
		if !DecodableNull(null) {
			return fmt.Errorf("%q stands for null, expected %d bytes at most: %w", null, longestNull, device.ErrInvalidValue)
		}
	}
	for i, c := range l.Columns {
		if !Decodable(c.Type) {
			return fmt.Errorf("column %d of %v: %w", i, c.Type, device.ErrNotSupported)
		}
		if c.Place < -1 || c.Place >= l.Width {
			return fmt.Errorf("column %d is field %d of %d: %w", i, c.Place, l.Width, device.ErrInvalidValue)
		}
	}
	return nil
}

// target is Column of delimited.cuh.
type target struct {
	values, bitmap, texts, lengths uint64
	unit                           int64
	place                          uint32
	form                           form
	bytes, cut, precision          uint32
	scale                          int32
}

// target describes a column, without its memory.
func (c *Column) target() target {
	t := target{place: none, form: forms[c.Type.ID()], unit: 1}
	if c.Place >= 0 {
		t.place = uint32(c.Place)
	}
	if c.Cut {
		t.cut = 1
	}
	switch width, ok := column.ElementBytes(c.Type); {
	case ok:
		t.bytes = uint32(width)
	case c.Type.ID() == arrow.LARGE_STRING:
		t.bytes = 8
	case t.form == text:
		t.bytes = 4
	}
	switch dataType := c.Type.(type) {
	case *arrow.TimestampType:
		t.unit = exprtree.UnitOf(dataType)
	case *arrow.Decimal128Type:
		t.precision, t.scale = uint32(dataType.Precision), dataType.Scale
	}
	return t
}

// bytesOf returns the memory of values as bytes.
func bytesOf[T any](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}
