//go:build cgo && !(386 || arm || mips || mipsle)

package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
)

// csvGuess is the type of a CSV column, as far as its values determine it.
type csvGuess struct {
	name  string
	given arrow.DataType
	// candidate is the index in csvCandidates of the narrowest type that fits all values
	// so far.
	candidate int
	seen      bool
}

// csvCandidates are the types of columns, the narrowest first, each with the function
// that reports whether a value has the type. They accept the values that package csv of
// arrow-go reads.
var csvCandidates = []struct {
	dataType arrow.DataType
	has      func(text string) bool
}{
	{arrow.PrimitiveTypes.Int64, isInteger},
	{arrow.PrimitiveTypes.Float64, isFloat},
	{arrow.FixedWidthTypes.Boolean, isBool},
	{arrow.FixedWidthTypes.Date32, isDate},
	{timestamp(arrow.Second), isTimestamp(arrow.Second)},
	{timestamp(arrow.Millisecond), isTimestamp(arrow.Millisecond)},
	{timestamp(arrow.Microsecond), isTimestamp(arrow.Microsecond)},
	{timestamp(arrow.Nanosecond), isTimestamp(arrow.Nanosecond)},
	{arrow.BinaryTypes.String, func(string) bool { return true }},
}

func newCSVGuess(name string, given arrow.DataType) csvGuess {
	return csvGuess{name: name, given: given}
}

// decided reports whether further values cannot change the type.
func (g *csvGuess) decided() bool { return g.given != nil || g.candidate == len(csvCandidates)-1 }

func (g *csvGuess) dataType() arrow.DataType {
	switch {
	case g.given != nil:
		return g.given
	case !g.seen:
		return arrow.BinaryTypes.String
	}
	return csvCandidates[g.candidate].dataType
}

// learn narrows the guesses by a row. A type that does not fit an earlier value stays
// excluded. Every int64 is also a float64, and a timestamp of a coarser unit is also one
// of a finer unit. If the values have no other type in common, the column is text.
func learn(guesses []csvGuess, values, nulls []string) {
	for i := range guesses {
		g := &guesses[i]
		if i >= len(values) || g.decided() || slices.Contains(nulls, values[i]) {
			continue
		}
		before := g.candidate
		for !csvCandidates[g.candidate].has(values[i]) {
			g.candidate++
		}
		if g.seen && g.candidate != before && !widens(before, g.candidate) {
			g.candidate = len(csvCandidates) - 1
		}
		g.seen = true
	}
}

// widens reports whether all values of one candidate are values of a later one.
func widens(from, to int) bool {
	const integer, float, date, firstTimestamp = 0, 1, 3, 4
	return from == integer && to == float || from >= date && to >= firstTimestamp
}

func undecided(guesses []csvGuess) bool {
	return slices.ContainsFunc(guesses, func(g csvGuess) bool { return !g.decided() })
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
