package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// answers are the values of each group, by the texts of its keys: float64, texts, lists of
// these, and nil for null.
type answers map[string][]any

// answersOf returns the answers of a record that begins with columns of keys. If unnest is
// set the elements of lists are separate values.
func answersOf(record arrow.Record, keys int, unnest bool) answers {
	byKey := answers{}
	for row := range int(record.NumRows()) {
		var key strings.Builder
		for c := range keys {
			key.WriteString(textOf(valueAt(record.Column(c), row)) + "|")
		}
		values := []any{}
		for c := keys; c < int(record.NumCols()); c++ {
			value := resultAt(record.Column(c), row)
			if list, ok := value.([]any); ok && unnest {
				values = append(values, list...)
			} else {
				values = append(values, value)
			}
		}
		if len(values) > 0 {
			byKey[key.String()] = append(byKey[key.String()], values...)
		}
	}
	return byKey
}

// resultAt returns an element as answers have it.
func resultAt(c arrow.Array, row int) any {
	lists, ok := c.(*array.List)
	if !ok || lists.IsNull(row) {
		return plain(valueAt(c, row))
	}
	begin, end := lists.ValueOffsets(row)
	values := make([]any, 0, end-begin)
	for i := begin; i < end; i++ {
		values = append(values, plain(valueAt(lists.ListValues(), int(i))))
	}
	return values
}

// difference returns how answers differ from others, or an empty text. In unordered lists
// only the values count.
func (a answers) difference(others answers) string {
	if len(a) != len(others) {
		return fmt.Sprintf("%d groups, not %d", len(a), len(others))
	}
	for key, values := range a {
		other, known := others[key]
		if !known {
			return fmt.Sprintf("group %s is unknown", key)
		}
		if !same(values, other) {
			return fmt.Sprintf("group %s has %v, not %v", key, values, other)
		}
	}
	return ""
}

// tolerance is the relative difference of floats that are equal: DuckDB adds them up in
// the order of its threads.
const tolerance = 1e-9

// same compares two values or lists of values. NaN is the same as null: DuckDB's correlation
// of one pair of values is NaN, gpuframe's is null.
func same(a, b any) bool {
	if isMissing(a) || isMissing(b) {
		return isMissing(a) && isMissing(b)
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, same)
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.Abs(x-y) <= tolerance*max(1, math.Abs(x), math.Abs(y)))
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

func isMissing(value any) bool {
	x, isFloat := value.(float64)
	return value == nil || isFloat && x != x
}
