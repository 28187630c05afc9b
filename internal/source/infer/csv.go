package infer

import (
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
)

// Column is a column of CSV and its type, as far as its values determine it.
type Column struct {
	Name string
	// Given is the type if it was not to be inferred.
	Given arrow.DataType
	// candidate is the index in candidates of the narrowest type that fits all values
	// so far.
	candidate int
	seen      bool
}

// candidates are the types of columns, the narrowest first, each with the function
// that reports whether a value has the type. They accept the values that package csv of
// arrow-go reads.
var candidates = []struct {
	dataType arrow.DataType
	has      func(text string) bool
}{
	{arrow.PrimitiveTypes.Int64, isInteger},
	{arrow.PrimitiveTypes.Float64, isFloat},
	{arrow.FixedWidthTypes.Boolean, isBool},
	{arrow.FixedWidthTypes.Date32, isDate},
	{Timestamp(arrow.Second), isTimestamp(arrow.Second)},
	{Timestamp(arrow.Millisecond), isTimestamp(arrow.Millisecond)},
	{Timestamp(arrow.Microsecond), isTimestamp(arrow.Microsecond)},
	{Timestamp(arrow.Nanosecond), isTimestamp(arrow.Nanosecond)},
	{arrow.BinaryTypes.String, func(string) bool { return true }},
}

// Timestamp is the type of instants in CSV files.
func Timestamp(unit arrow.TimeUnit) arrow.DataType {
	return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}
}

// decided reports whether further values cannot change the type.
func (c *Column) decided() bool { return c.Given != nil || c.candidate == len(candidates)-1 }

// Type returns the type. A column without values is text.
func (c *Column) Type() arrow.DataType {
	switch {
	case c.Given != nil:
		return c.Given
	case !c.seen:
		return arrow.BinaryTypes.String
	}
	return candidates[c.candidate].dataType
}

// Learn widens the types by a row. Values in nulls stand for null. A type that does not
// fit an earlier value stays excluded. Every int64 is also a float64, and a timestamp of
// a coarser unit is also one of a finer unit. If the values have no other type in common,
// the column is text.
func Learn(columns []Column, row, nulls []string) {
	for i := range columns {
		c := &columns[i]
		if i >= len(row) || c.decided() || slices.Contains(nulls, row[i]) {
			continue
		}
		before := c.candidate
		for !candidates[c.candidate].has(row[i]) {
			c.candidate++
		}
		if c.seen && c.candidate != before && !widens(before, c.candidate) {
			c.candidate = len(candidates) - 1
		}
		c.seen = true
	}
}

// widens reports whether all values of one candidate are values of a later one.
func widens(from, to int) bool {
	const integer, float, date, firstTimestamp = 0, 1, 3, 4
	return from == integer && to == float || from >= date && to >= firstTimestamp
}

// Decided reports whether no further row can change a type.
func Decided(columns []Column) bool {
	return !slices.ContainsFunc(columns, func(c Column) bool { return !c.decided() })
}

func isInteger(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

func isFloat(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

func isBool(text string) bool {
	return slices.Contains([]string{"false", "False", "true", "True"}, text)
}

func isDate(text string) bool {
	_, err := time.Parse("2006-01-02", text)
	return err == nil
}

func isTimestamp(unit arrow.TimeUnit) func(text string) bool {
	return func(text string) bool {
		_, err := arrow.TimestampFromString(text, unit)
		return err == nil
	}
}
