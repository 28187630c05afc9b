package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Filter yields the rows for which a condition is true, not false or null.
type Filter struct {
	single
	condition expr.Expr
}

// NewFilter makes a filter. The condition must be of type bool.
func NewFilter(input Node, condition expr.Expr) (*Filter, error) {
	t, _, err := condition.Type(input.Schema())
	if err != nil {
		return nil, err
	}
	if t.ID() != arrow.BOOL {
		return nil, fmt.Errorf("%s is %v, expected bool, such as a comparison: %w", described(condition), t, expr.ErrType)
	}
	return &Filter{singleOf(input, input.Schema()), condition}, nil
}

// WithColumns returns a filter that yields some of its columns, in their order and at least
// one. The condition may read others.
func (f *Filter) WithColumns(wanted map[string]bool) *Filter {
	var fields []arrow.Field
	for _, field := range f.input.Schema().Fields() {
		if wanted[field.Name] {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		fields = f.input.Schema().Fields()[:1]
	}
	return &Filter{singleOf(f.input, arrow.NewSchema(fields, nil)), f.condition}
}

// Columns returns the names of the columns if they are not all those of the input.
func (f *Filter) Columns() []string {
	if f.schema.NumFields() == f.input.Schema().NumFields() {
		return nil
	}
	return columnsOf(f.schema)
}

// Condition returns the condition.
func (f *Filter) Condition() expr.Expr { return f.condition }

// WithInputs implements [Node].
func (f *Filter) WithInputs(inputs ...Node) (Node, error) {
	if schema := inputs[0].Schema(); schema.Equal(f.input.Schema()) { // the condition has its type
		if f.Columns() != nil {
			schema = f.schema
		}
		return &Filter{singleOf(inputs[0], schema), f.condition}, nil
	}
	filter, err := NewFilter(inputs[0], f.condition)
	if err != nil || f.Columns() == nil {
		return node(filter, err)
	}
	wanted := map[string]bool{}
	for _, name := range f.Columns() {
		wanted[name] = true
	}
	return filter.WithColumns(wanted), nil
}

// String implements [Node].
func (f *Filter) String() string {
	text := "filter " + described(f.condition)
	if columns := f.Columns(); columns != nil {
		text += fmt.Sprintf(", %d of %d columns", len(columns), f.input.Schema().NumFields())
	}
	return text
}

func (f *Filter) holdsRows() bool { return false }

func (f *Filter) estimate(_ *Analysis, first Size) Size {
	return scaled(first, selectivity(f.condition))
}

func (f *Filter) isEmpty() bool { return isNothing(f.input) }

func (f *Filter) isLocal() bool { return true }

func (f *Filter) readsOrder(_ int, own bool) bool { return own }

func (f *Filter) sortedBy(keys []SortKey) (bool, []SortKey) { return false, keys }

func (f *Filter) reads(wanted columnSet) []columnSet { return []columnSet{wanted.with(f.condition)} }

func (f *Filter) pruned(inputs []Node, wanted columnSet) (Node, error) {
	filter, err := NewFilter(inputs[0], f.condition)
	if err != nil || len(wanted) == filter.schema.NumFields() {
		return node(filter, err)
	}
	return filter.WithColumns(wanted), nil
}

func (f *Filter) simplified() (Node, error) { return simplifyFilter(f) }

func (f *Filter) same(other Node) bool {
	o, ok := other.(*Filter)
	return ok && f.condition.Same(o.condition) && slices.Equal(columnsOf(f.schema), columnsOf(o.schema))
}

func (f *Filter) rowsFrom() Node { return f.input }

func (f *Filter) passes() ([]expr.Expr, bool) { return f.condition.Conjuncts(), true }

func (f *Filter) origin(name string) (Node, string) { return f.input, name }

// pushed pushes the condition too, and those of filters below.
func (f *Filter) pushed(p *filterPusher, conditions []expr.Expr) (Node, error) {
	below, own := p.filters(f)
	pushed, err := p.push(below, union(own, conditions))
	if err != nil {
		return nil, err
	}
	return exactly(pushed, columnsOf(f.schema))
}

// dividedAsMoved keeps the positions of rows.
func (f *Filter) dividedAsMoved(_ *distribution, inputs []spread) (spread, error) {
	if !inputs[0].positions {
		return spread{}, nil
	}
	filter, err := NewFilter(inputs[0].node, f.condition)
	if err != nil {
		return spread{}, err
	}
	if f.Columns() != nil {
		wanted := map[string]bool{PositionName: true}
		for _, name := range f.Columns() {
			wanted[name] = true
		}
		filter = filter.WithColumns(wanted)
	}
	return spread{node: filter, all: true, positions: true, columns: columnsOf(f.schema)}, nil
}
