package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// Fetch yields the rows of its input with further columns, which it reads of the source that these rows come from, by
// their numbers. It keeps the order of the rows and takes the numbers away.
type Fetch struct {
	single
	late *Scan
	row  string
}

// NewFetch makes a node that adds the columns of a scan. row is the name of the column of the input with numbers of rows
// of the scan, as a [Number] above it makes them.
func NewFetch(input Node, late *Scan, row string) (*Fetch, error) {
	if _, err := fieldOf(input.Schema(), row); err != nil {
		return nil, err
	}
	fields := slices.DeleteFunc(slices.Clone(input.Schema().Fields()), func(f arrow.Field) bool { return f.Name == row })
	schema := arrow.NewSchema(append(fields, late.schema.Fields()...), nil)
	return &Fetch{singleOf(input, schema), late, row}, checkNames(schema)
}

// Late returns the scan of the columns that are added. It is no input.
func (f *Fetch) Late() *Scan { return f.late }

// Row returns the name of the column with the numbers of the rows.
func (f *Fetch) Row() string { return f.row }

// WithInputs implements [Node].
func (f *Fetch) WithInputs(inputs ...Node) (Node, error) {
	return node(NewFetch(inputs[0], f.late, f.row))
}

// String implements [Node].
func (f *Fetch) String() string {
	return fmt.Sprintf("fetch %d columns of %v", len(f.late.columns), f.late.source)
}

func (f *Fetch) holdsRows() bool { return false }

func (f *Fetch) isEmpty() bool { return isNothing(f.input) }

func (f *Fetch) readsOrder(_ int, own bool) bool { return own }

func (f *Fetch) same(other Node) bool {
	o, ok := other.(*Fetch)
	return ok && f.row == o.row && f.late.same(o.late)
}
