package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Table is a table to print: its size and some of its rows.
type Table struct {
	Schema *arrow.Schema
	// Rows is the number of rows of the table.
	Rows int64
	// Head has the first rows, and Tail the last ones. Tail is nil if Head has all rows
	// or the last ones are not printed.
	Head, Tail arrow.Record
	// Columns are the places in the schema of the columns of Head and Tail, in ascending
	// order, at least the first and the last ones that are printed. Nil means all.
	Columns []int
}

// mostColumns is the number of columns that are printed at most.
const mostColumns = 100

// Columns returns the places of the columns of a table of n that can be printed: the
// first and the last ones.
func Columns(n int) []int {
	var places []int
	for i := range n {
		if i < mostColumns/2 || i >= n-mostColumns/2 {
			places = append(places, i)
		}
	}
	return places
}

// Shape returns the line with the numbers of rows and columns.
func (t Table) Shape() string {
	return fmt.Sprintf("shape: (%d, %d)", t.Rows, t.Schema.NumFields())
}

const (
	// widest is the width of a column of text at most; text can be cut to narrowest.
	widest    = 32
	narrowest = 10
	// frame is the width that a column takes in addition to its text: │, and a space on each side.
	frame = 3
	gap   = "…"
)

// Text returns the table in lines of at most width cells of a terminal; zero means
// no limit. A table of columns that cannot be cut further may be wider.
func (t Table) Text(width int) string {
	if t.Schema.NumFields() == 0 {
		return t.Shape()
	}
	columns := t.columns(width)
	shrink(columns, width)
	var text strings.Builder
	text.WriteString(t.Shape())
	text.WriteByte('\n')
	rule(&text, columns, "┌", "─", "┬", "┐\n")
	line(&text, columns, func(c *column) string { return c.name })
	line(&text, columns, func(c *column) string { return c.typeName })
	rule(&text, columns, "╞", "═", "╪", "╡\n")
	for i := range columns[0].cells {
		line(&text, columns, func(c *column) string { return c.cells[i] })
	}
	rule(&text, columns, "└", "─", "┴", "┘")
	return text.String()
}

// column is a printed column.
type column struct {
	name, typeName string
	cells          []string
	number         bool
	// width is the width of the text, which may shrink to least.
	width, least int
}

// columns returns the columns to print: the first and the last ones that fit a width,
// and a column of gaps in place of the others.
func (t Table) columns(width int) []*column {
	places := t.Columns
	if places == nil {
		places = Columns(t.Schema.NumFields())
	}
	if width <= 0 {
		width = math.MaxInt
	}
	n := t.Schema.NumFields()
	var front, back []*column
	total := 1
	for i := range places { // the first, the last, the second, …
		at := i / 2
		if i%2 == 1 {
			at = len(places) - 1 - i/2
		}
		c := t.column(places, at)
		total += c.least + frame
		if needed := total + 1 + frame; i > 0 && needed > width && (i < n-1 || total > width) {
			break
		}
		if i%2 == 0 {
			front = append(front, c)
		} else {
			back = append(back, c)
		}
	}
	if len(front)+len(back) < n {
		front = append(front, t.gaps(len(front[0].cells)))
	}
	slices.Reverse(back)
	return append(front, back...)
}

// column returns the text of a column by its index in places.
func (t Table) column(places []int, i int) *column {
	field := t.Schema.Field(places[i])
	at := places[i]
	if t.Columns != nil { // records have only these columns
		at = i
	}
	c := &column{name: clean(field.Name), typeName: TypeName(field.Type), number: isNumber(field.Type), cells: t.cells(at)}
	widestCell := 0
	for _, cell := range c.cells {
		widestCell = max(widestCell, widthOf(cell))
	}
	header := max(widthOf(c.name), widthOf(c.typeName))
	c.width = min(widest, max(widestCell, header))
	c.least = min(c.width, narrowest)
	if c.number { // a number that is cut would be another number
		c.width = max(c.width, widestCell)
		c.least = max(c.least, widestCell)
	}
	return c
}

// cells returns the values of column i of the records, with a gap between head and tail.
func (t Table) cells(i int) []string {
	var cells []string
	add := func(record arrow.Record) {
		for row := range int(record.NumRows()) {
			cells = append(cells, Value(record.Column(i), row))
		}
	}
	shown := int64(0)
	if t.Head != nil {
		add(t.Head)
		shown = t.Head.NumRows()
	}
	if t.Tail != nil {
		shown += t.Tail.NumRows()
	}
	if shown < t.Rows {
		cells = append(cells, gap)
	}
	if t.Tail != nil {
		add(t.Tail)
	}
	return cells
}

// gaps is the column in place of those that are left out.
func (t Table) gaps(rows int) *column {
	return &column{name: gap, cells: slices.Repeat([]string{gap}, rows), width: 1, least: 1}
}

// shrink makes columns narrower, the widest first, until they fit a width.
func shrink(columns []*column, width int) {
	total := 1
	for _, c := range columns {
		total += c.width + frame
	}
	for width > 0 && total > width {
		var wide *column
		for _, c := range columns {
			if c.width > c.least && (wide == nil || c.width > wide.width) {
				wide = c
			}
		}
		if wide == nil {
			return
		}
		wide.width--
		total--
	}
}

func rule(text *strings.Builder, columns []*column, left, stroke, cross, right string) {
	text.WriteString(left)
	for i, c := range columns {
		if i > 0 {
			text.WriteString(cross)
		}
		text.WriteString(strings.Repeat(stroke, c.width+2))
	}
	text.WriteString(right)
}

// line writes one cell of every column.
func line(text *strings.Builder, columns []*column, cell func(*column) string) {
	for i, c := range columns {
		if i == 0 {
			text.WriteString("│ ")
		} else {
			text.WriteString(" ┆ ")
		}
		value := cut(cell(c), c.width)
		space := strings.Repeat(" ", c.width-widthOf(value))
		if c.number {
			text.WriteString(space + value)
		} else {
			text.WriteString(value + space)
		}
	}
	text.WriteString(" │\n")
}
