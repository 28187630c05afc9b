package infer

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/text/textvalue"
)

// Column is a column of CSV and its type, as far as its values determine it.
type Column struct {
	Name string
	// Given is the type if it was not to be inferred.
	Given arrow.DataType
	// excluded are the types that do not hold a value that was seen, late those that do not hold
	// one even without the digits of fractions of seconds that are beyond them.
	excluded, late types
	// seen reports a value, number one that is not only a word for a float.
	seen, number bool
}

// Type returns the type: the narrowest that holds all values. A column without values is text, and
// so is one without a common type. cut reports timestamps of which no unit holds both the range and
// all digits of fractions, so that the finest one of the range is taken.
func (c *Column) Type() (t arrow.DataType, cut bool) {
	if c.Given != nil {
		return c.Given, false
	}
	fit := everyType &^ c.excluded
	if fit == float && !c.number {
		fit = 0 // words such as Nan and Inf, which may be names
	}
	switch rough := instants &^ c.late; {
	case !c.seen:
	case fit != 0:
		return dataTypes[bits.TrailingZeros16(uint16(fit))], false
	case rough != 0:
		return dataTypes[bits.Len16(uint16(rough))-1], true
	}
	return arrow.BinaryTypes.String, false
}

// decided reports whether further values cannot change the type.
func (c *Column) decided() bool {
	return c.Given != nil || c.excluded == everyType && c.late&instants == instants
}

// Learn excludes the types that do not hold a value. Values that stand for null are not learned.
func (c *Column) Learn(text string) {
	if c.decided() {
		return
	}
	fit, rough := typesOf(text)
	c.excluded |= everyType &^ fit
	c.late |= everyType &^ rough
	c.number = c.number || !isFloatWord(text)
	c.seen = true
}

// Join excludes the types that another column of the same name excludes.
func (c *Column) Join(other *Column) {
	c.excluded |= other.excluded
	c.late |= other.late
	c.seen = c.seen || other.seen
	c.number = c.number || other.number
}

// Decided reports whether no further row can change a type.
func Decided(columns []Column) bool {
	for i := range columns {
		if !columns[i].decided() {
			return false
		}
	}
	return true
}

// typesOf returns the types that hold a value, and those that hold it without the last digits of
// its fraction of a second.
func typesOf(text string) (fit, rough types) {
	if fit := numberTypes(text); fit != 0 {
		return fit, fit
	}
	if _, ok := textvalue.Bool(text); ok {
		return boolean, boolean
	}
	if isFloatWord(text) {
		return float, float
	}
	if _, ok := textvalue.Date(text); ok {
		fit = date
	}
	unit := int64(1)
	for t := second; t <= nanosecond; t <<= 1 {
		_, exact, ok := textvalue.Timestamp(text, unit)
		if !ok && t == second {
			return fit, fit
		}
		if ok {
			rough |= t
		}
		if ok && exact {
			fit |= t
		}
		unit *= 1000
	}
	return fit, fit | rough
}
