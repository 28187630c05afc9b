package table

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table is a head and rows under it.
type Table struct {
	head []string
	rows [][]string
}

// New makes a table with these columns.
func New(columns ...string) *Table { return &Table{head: columns} }

// Add adds a row. Cells that are missing are empty.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Print writes the table.
func (t *Table) Print(w io.Writer) error {
	lines := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	t.line(lines, t.head)
	t.line(lines, strings.Fields(strings.Repeat("--- ", len(t.head))))
	for _, row := range t.rows {
		t.line(lines, row)
	}
	return lines.Flush()
}

func (t *Table) line(w io.Writer, cells []string) {
	for i := range t.head {
		cell := ""
		if i < len(cells) {
			cell = cells[i]
		}
		fmt.Fprintf(w, "| %s\t", cell)
	}
	fmt.Fprintln(w, "|")
}
