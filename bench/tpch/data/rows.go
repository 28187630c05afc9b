package data

import (
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// rows are the rows of a record. A table's function appends the values of a row in the
// order of the columns.
type rows struct {
	builder *array.RecordBuilder
	columns int
	// at is the column that comes next.
	at int
	// scratch is where a text is composed.
	scratch []byte
}

func (t *rows) field() array.Builder {
	f := t.builder.Field(t.at)
	if t.at++; t.at == t.columns {
		t.at = 0
	}
	return f
}

func (t *rows) integer(value int64) {
	switch f := t.field().(type) {
	case *array.Int32Builder:
		f.Append(int32(value))
	case *array.Int64Builder:
		f.Append(value)
	}
}

// decimal appends a number of hundredths.
func (t *rows) decimal(hundredths int64) {
	t.field().(*array.Decimal128Builder).Append(decimal128.FromI64(hundredths))
}

// date appends a number of days since 1970.
func (t *rows) date(days int64) { t.field().(*array.Date32Builder).Append(arrow.Date32(days)) }

// text appends the texts as one.
func (t *rows) text(texts ...string) {
	t.scratch = t.scratch[:0]
	for _, text := range texts {
		t.scratch = append(t.scratch, text...)
	}
	t.bytes()
}

// bytes appends the composed text.
func (t *rows) bytes() { t.field().(*array.StringBuilder).BinaryBuilder.Append(t.scratch) }

// numbered appends a text and a number of at least nine digits: "Clerk#000000951".
func (t *rows) numbered(text string, number int64) {
	t.scratch = append(t.scratch[:0], text...)
	for limit := int64(100_000_000); limit > number; limit /= 10 {
		t.scratch = append(t.scratch, '0')
	}
	t.scratch = strconv.AppendInt(t.scratch, number, 10)
	t.bytes()
}

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ, "

// address appends random characters, 10 to 40 of them.
func (t *rows) address(r *random) {
	t.scratch = t.scratch[:0]
	for range r.between(10, 40) {
		t.scratch = append(t.scratch, alphabet[r.below(int64(len(alphabet)))])
	}
	t.bytes()
}

// phone appends a phone number of a nation: "25-989-741-2988".
func (t *rows) phone(r *random, nation int64) {
	t.scratch = strconv.AppendInt(t.scratch[:0], nation+10, 10)
	for _, high := range []int64{999, 999, 9999} {
		t.scratch = strconv.AppendInt(append(t.scratch, '-'), r.between((high+1)/10, high), 10)
	}
	t.bytes()
}
