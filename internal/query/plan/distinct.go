package plan

import (
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// Distinct yields, of the rows with equal values in some columns, the first one.
type Distinct struct {
	single
	columns []string
}

// NewDistinct makes a node that yields one row for each combination of values in the
// columns. Without columns, all of them.
func NewDistinct(input Node, columns ...string) (Node, error) {
	if len(columns) == 0 {
		keys := make([]expr.Expr, input.Schema().NumFields())
		for i, name := range columnsOf(input.Schema()) {
			keys[i] = expr.Col(name)
		}
		return node(NewAggregate(input, keys, nil, GroupOptions{Order: group.FirstAppearance}))
	}
	keys := make([]expr.Expr, len(columns))
	for i, name := range columns {
		if _, err := fieldOf(input.Schema(), name); err != nil {
			return nil, err
		}
		keys[i] = expr.Col(name)
	}
	if _, err := NewAggregate(input, keys, nil, GroupOptions{}); err != nil {
		return nil, err
	}
	return &Distinct{singleOf(input, input.Schema()), columns}, nil
}

// Columns returns the columns that distinguish rows.
func (d *Distinct) Columns() []string { return d.columns }

// WithInputs implements [Node].
func (d *Distinct) WithInputs(inputs ...Node) (Node, error) {
	return NewDistinct(inputs[0], d.columns...)
}

// String implements [Node].
func (d *Distinct) String() string { return "first rows by " + strings.Join(d.columns, ", ") }

func (d *Distinct) estimate(_ *Analysis, first Size) Size { return scaled(first, keptByGrouping) }

func (d *Distinct) isEmpty() bool { return isNothing(d.input) }

func (d *Distinct) conditionBelow() func(expr.Expr) (expr.Expr, bool) {
	keys := make([]expr.Expr, len(d.columns))
	for i, name := range d.columns {
		keys[i] = expr.Col(name)
	}
	return onKeys(d.input.Schema(), keys)
}

func (d *Distinct) reads(wanted columnSet) []columnSet { return []columnSet{wanted.and(d.columns)} }

func (d *Distinct) same(other Node) bool {
	o, ok := other.(*Distinct)
	return ok && slices.Equal(d.columns, o.columns)
}

func (d *Distinct) divided(to *distribution, inputs []spread) (spread, error) {
	if !inputs[0].all {
		return spread{}, nil
	}
	return to.twice(d, inputs[0].node)
}
