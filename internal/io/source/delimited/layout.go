package delimited

import (
	"fmt"

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
	// Members are the names of the members of objects. If it is not nil the text is JSON lines without blank lines, and
	// places are those of members. Delimiter, Width and Nulls are not used.
	Members []string
	// Known reports that objects have no other members.
	Known bool
}

// MostMembers is the number of members at most.
const MostMembers = 64

// lines reports whether the text is JSON lines.
func (l *Layout) lines() bool { return l.Members != nil }

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
	ofDay
	decimal
	text
)

// forms are those of types.
var forms = map[arrow.Type]form{
	arrow.INT8: integer, arrow.INT16: integer, arrow.INT32: integer, arrow.INT64: integer,
	arrow.UINT8: natural, arrow.UINT16: natural, arrow.UINT32: natural, arrow.UINT64: natural,
	arrow.FLOAT32: floating, arrow.FLOAT64: floating,
	arrow.BOOL: boolean, arrow.DATE32: date32, arrow.DATE64: date64, arrow.TIMESTAMP: instant, arrow.TIME32: ofDay, arrow.TIME64: ofDay, arrow.DECIMAL128: decimal,
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

// check checks a layout, and completes that of JSON lines.
func (l *Layout) check() error {
	if l.lines() {
		l.Delimiter, l.Width, l.Nulls = '\n', 1, nil
		if len(l.Members) > MostMembers {
			return fmt.Errorf("objects of %d members, expected %d at most: %w", len(l.Members), MostMembers, device.ErrInvalidValue)
		}
		return l.checkColumns(len(l.Members))
	}
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
	return l.checkColumns(l.Width)
}

// checkColumns checks columns of a number of fields or members.
func (l *Layout) checkColumns(fields int) error {
	for i, c := range l.Columns {
		if !Decodable(c.Type) {
			return fmt.Errorf("column %d of %v: %w", i, c.Type, device.ErrNotSupported)
		}
		if c.Place < -1 || c.Place >= fields {
			return fmt.Errorf("column %d is field %d of %d: %w", i, c.Place, fields, device.ErrInvalidValue)
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
	case *arrow.TimestampType, *arrow.Time32Type, *arrow.Time64Type:
		t.unit = exprtree.UnitOf(dataType)
	case *arrow.Decimal128Type:
		t.precision, t.scale = uint32(dataType.Precision), dataType.Scale
	}
	return t
}

// memberTables returns the names of members, their places among them, and the column of each member.
func (l *Layout) memberTables() (names []byte, places, slots []uint32) {
	if !l.lines() {
		return nil, nil, nil
	}
	places, slots = []uint32{0}, make([]uint32, len(l.Members))
	for i, name := range l.Members {
		names = append(names, name...)
		places = append(places, uint32(len(names)))
		slots[i] = none
	}
	for i, c := range l.Columns {
		if c.Place >= 0 {
			slots[c.Place] = uint32(i)
		}
	}
	return names, places, slots
}
