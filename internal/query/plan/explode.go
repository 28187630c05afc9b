package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
)

// Explode yields a row for each element of the lists in some columns.
type Explode struct {
	single
	columns []string
	options nested.ExplodeOptions
}

// NewExplode makes a node for nested.Explode. Of the options it uses DropEmpty and Position.
func NewExplode(input Node, columns []string, options nested.ExplodeOptions) (*Explode, error) {
	for _, name := range columns {
		if _, err := fieldOf(input.Schema(), name); err != nil {
			return nil, err
		}
	}
	schema, err := nested.ExplodeSchema(input.Schema(), columns, options)
	if err == nil {
		err = checkNames(schema)
	}
	if err != nil {
		return nil, err
	}
	return &Explode{singleOf(input, arrow.NewSchema(schema.Fields(), nil)), slices.Clone(columns), options}, nil
}

// Columns returns the columns of lists.
func (e *Explode) Columns() []string { return e.columns }

// Options returns the options.
func (e *Explode) Options() nested.ExplodeOptions { return e.options }

// keepsValues reports whether a condition has the same value for a row of the input and all
// rows that are made of it.
func (e *Explode) keepsValues(c expr.Expr) (expr.Expr, bool) {
	columns := c.Columns()
	return c, len(columns) > 0 && !slices.ContainsFunc(columns, func(name string) bool {
		return name == e.options.Position || slices.Contains(e.columns, name)
	})
}

// WithInputs implements [Node].
func (e *Explode) WithInputs(inputs ...Node) (Node, error) {
	return node(NewExplode(inputs[0], e.columns, e.options))
}

// String implements [Node].
func (e *Explode) String() string {
	text := "explode " + strings.Join(e.columns, ", ")
	if e.options.DropEmpty {
		text += ", dropping empty lists"
	}
	if e.options.Position != "" {
		text += fmt.Sprintf(", with positions as %s", e.options.Position)
	}
	return text
}

func (e *Explode) holdsRows() bool { return false }

func (e *Explode) estimate(_ *Analysis, first Size) Size { return scaled(first, listElements) }

func (e *Explode) isEmpty() bool { return isNothing(e.input) }

func (e *Explode) isLocal() bool { return true }

// first needs the first rows only if each of them becomes one or more.
func (e *Explode) first(p *limitPusher, rows int64) (Node, error) {
	if e.options.DropEmpty {
		return nil, nil
	}
	return p.firstOf(e, rows)
}

func (e *Explode) conditionBelow() func(expr.Expr) (expr.Expr, bool) { return e.keepsValues }

func (e *Explode) reads(wanted columnSet) []columnSet { return []columnSet{wanted.and(e.columns)} }

func (e *Explode) same(other Node) bool {
	o, ok := other.(*Explode)
	return ok && slices.Equal(e.columns, o.columns) && e.options == o.options
}
