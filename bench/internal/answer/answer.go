// Package answer has the answers to queries as text, and compares them.
package answer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Answer is the rows of a result. Numbers are exact, floats as short as they are unique.
type Answer struct {
	Columns []string
	Rows    [][]string
}

// Null is the text of a null.
const Null = `\N`

// Of returns the answer in a record.
func Of(record arrow.Record) Answer {
	var a Answer
	for _, f := range record.Schema().Fields() {
		a.Columns = append(a.Columns, f.Name)
	}
	for i := range int(record.NumRows()) {
		row := make([]string, record.NumCols())
		for j, c := range record.Columns() {
			row[j] = Null
			if c.IsValid(i) {
				row[j] = c.ValueStr(i)
			}
		}
		a.Rows = append(a.Rows, row)
	}
	return a
}

// String formats the answer as lines with tabs between the values. The first one has the
// names of the columns.
func (a Answer) String() string {
	var b strings.Builder
	for _, row := range append([][]string{a.Columns}, a.Rows...) {
		b.WriteString(strings.Join(row, "\t") + "\n")
	}
	return b.String()
}

// Parse reads what String wrote.
func Parse(text string) Answer {
	var a Answer
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		row := strings.Split(line, "\t")
		if i == 0 {
			a.Columns = row
		} else {
			a.Rows = append(a.Rows, row)
		}
	}
	return a
}

// Difference describes the first difference between an answer and the expected one, or is
// empty. The rows are in the order of some columns; those with equal values in all of
// them may be in any order.
func (a Answer) Difference(want Answer, order []string) string {
	if !slices.Equal(a.Columns, want.Columns) {
		return fmt.Sprintf("the columns are %q, expected %q", a.Columns, want.Columns)
	}
	if len(a.Rows) != len(want.Rows) {
		return fmt.Sprintf("%d rows, expected %d", len(a.Rows), len(want.Rows))
	}
	ours, theirs := a.arranged(order), want.arranged(order)
	for i, row := range ours {
		for j, value := range row {
			if !same(value, theirs[i][j]) {
				return fmt.Sprintf("row %d: %s is %q, expected %q", i, a.Columns[j], value, theirs[i][j])
			}
		}
	}
	return ""
}

// arranged returns the rows with those that the order leaves open in the order of their texts.
func (a Answer) arranged(order []string) [][]string {
	rows := slices.Clone(a.Rows)
	tied := func(x, y []string) bool {
		for j, name := range a.Columns {
			if slices.Contains(order, name) && !same(x[j], y[j]) {
				return false
			}
		}
		return true
	}
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && tied(rows[from], rows[to]) {
			to++
		}
		slices.SortFunc(rows[from:to], slices.Compare)
		from = to
	}
	return rows
}

// tolerance is the relative difference that floats may have.
const tolerance = 1e-9

// same reports whether two values are equal: as texts, as exact numbers, or as floats, if
// one of them has more digits after the point than the decimals of the answers. Arrow's texts of times end with the Z of
// UTC. Lists, structs and maps are JSON, of which the elements are compared.
func same(a, b string) bool {
	if a = strings.TrimSuffix(a, "Z"); a == strings.TrimSuffix(b, "Z") {
		return true
	}
	if strings.HasPrefix(a, "[") || strings.HasPrefix(a, "{") {
		x, err := parseNested(a)
		y, otherErr := parseNested(b)
		return err == nil && otherErr == nil && sameNested(x, y)
	}
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(b, 64)
	if err != nil {
		return false
	}
	if isFloat(a) || isFloat(b) {
		return math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y))
	}
	return exact(a) == exact(b)
}

// decimalPlaces is the largest number of digits after the point of a decimal in an answer.
const decimalPlaces = 6

func isFloat(text string) bool {
	_, fraction, _ := strings.Cut(text, ".")
	return len(strings.TrimRight(fraction, "0")) > decimalPlaces || strings.ContainsAny(text, "eE")
}

// exact returns a number without zeros at the end of its fraction.
func exact(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// parseNested parses JSON. Its numbers stay texts.
func parseNested(text string) (value any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// sameNested compares values of JSON. Arrow writes a map as a list of its entries.
func sameNested(a, b any) bool {
	switch x := a.(type) {
	case []any:
		if y, isObject := b.(map[string]any); isObject {
			return sameEntries(x, y)
		}
		y, isList := b.([]any)
		return isList && slices.EqualFunc(x, y, sameNested)
	case map[string]any:
		y, isObject := b.(map[string]any)
		return isObject && maps.EqualFunc(x, y, sameNested)
	}
	return a == b || a != nil && b != nil && same(fmt.Sprint(a), fmt.Sprint(b))
}

// sameEntries compares the entries of a map with an object.
func sameEntries(entries []any, object map[string]any) bool {
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		value, known := object[fmt.Sprint(entry["key"])]
		if !known || !sameNested(entry["value"], value) {
			return false
		}
	}
	return len(entries) == len(object)
}
