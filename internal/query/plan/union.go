package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Union yields the rows of all its inputs, in their order.
type Union struct {
	cautious
	inputs []Node
	schema *arrow.Schema
}

// NewUnion makes a union. All inputs have columns of the same names and types, in any
// order; the first input's order is kept. Types that differ in the width of offsets only become the
// wider one.
func NewUnion(inputs ...Node) (*Union, error) {
	if len(inputs) == 0 {
		return nil, fmt.Errorf("no input is given, expected one or more: %w", device.ErrInvalidValue)
	}
	fields := slices.Clone(inputs[0].Schema().Fields())
	aligned := []Node{inputs[0]}
	for i, input := range inputs[1:] {
		for j := range fields {
			other, err := fieldOf(input.Schema(), fields[j].Name)
			if err != nil {
				return nil, fmt.Errorf("table %d: %w", i+1, err)
			}
			if !layout.EqualButOffsets(fields[j].Type, other.Type) {
				return nil, fmt.Errorf("table %d: column %q is %v, expected %v as in table 0: cast one of them: %w", i+1, other.Name, other.Type, fields[j].Type, buffer.ErrSchema)
			}
			fields[j].Type, _ = layout.Wider(fields[j].Type, other.Type)
			fields[j].Nullable = fields[j].Nullable || other.Nullable
		}
		for _, name := range columnsOf(input.Schema()) {
			if !slices.ContainsFunc(fields, func(f arrow.Field) bool { return f.Name == name }) {
				return nil, fmt.Errorf("table 0: %s: %w", names.Unknown("column", name, columnsOf(inputs[0].Schema())), buffer.ErrSchema)
			}
		}
		ordered, err := NewColumns(input, columnsOf(inputs[0].Schema())...)
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i+1, err)
		}
		aligned = append(aligned, Node(ordered))
		if slices.Equal(columnsOf(input.Schema()), columnsOf(ordered.Schema())) {
			aligned[i+1] = input
		}
	}
	return &Union{inputs: aligned, schema: arrow.NewSchema(fields, nil)}, nil
}

// Schema implements [Node].
func (u *Union) Schema() *arrow.Schema { return u.schema }

// Inputs implements [Node].
func (u *Union) Inputs() []Node { return u.inputs }

// WithInputs implements [Node].
func (u *Union) WithInputs(inputs ...Node) (Node, error) { return node(NewUnion(inputs...)) }

// String implements [Node].
func (u *Union) String() string { return fmt.Sprintf("union of %d tables", len(u.inputs)) }

func (u *Union) holdsRows() bool { return false }

func (u *Union) estimate(a *Analysis, _ Size) Size {
	total := Size{Exact: true}
	for _, input := range u.inputs {
		size := a.rowsOf(input)
		if size.Rows < 0 {
			return size
		}
		total.Rows, total.Exact = total.Rows+size.Rows, total.Exact && size.Exact
	}
	return total
}

func (u *Union) isEmpty() bool {
	return !slices.ContainsFunc(u.inputs, func(input Node) bool { return !isNothing(input) })
}

func (u *Union) readsOrder(_ int, own bool) bool { return own }

func (u *Union) reads(wanted columnSet) []columnSet {
	return slices.Repeat([]columnSet{wanted}, len(u.inputs))
}

// pruned selects the same columns of all inputs.
func (u *Union) pruned(inputs []Node, wanted columnSet) (Node, error) {
	var names []string
	for _, name := range columnsOf(u.schema) {
		if wanted[name] {
			names = append(names, name)
		}
	}
	pruned := make([]Node, len(inputs))
	for i, input := range inputs {
		var err error
		if pruned[i], err = exactly(input, names); err != nil {
			return nil, err
		}
	}
	return withInputs(u, pruned...)
}

func (u *Union) same(other Node) bool {
	_, ok := other.(*Union)
	return ok
}

func (u *Union) first(p *limitPusher, rows int64) (Node, error) {
	return u.withEach(func(input Node) (Node, error) { return p.atMost(input, rows) })
}

func (u *Union) pushed(p *filterPusher, conditions []expr.Expr) (Node, error) {
	return u.withEach(func(input Node) (Node, error) { return p.push(input, conditions) })
}

// withEach returns the union of other inputs.
func (u *Union) withEach(change func(input Node) (Node, error)) (Node, error) {
	inputs := make([]Node, len(u.inputs))
	for i, input := range u.inputs {
		var err error
		if inputs[i], err = change(input); err != nil {
			return nil, err
		}
	}
	return withInputs(u, inputs...)
}

func (u *Union) divided(_ *distribution, inputs []spread) (spread, error) {
	if slices.ContainsFunc(inputs, func(s spread) bool { return !s.all }) {
		return spread{}, nil
	}
	united, err := withInputs(u, nodesOf(inputs)...)
	return spread{node: united, all: true}, err
}

// simplified leaves out the inputs that yield nothing.
func (u *Union) simplified() (Node, error) {
	kept := slices.DeleteFunc(slices.Clone(u.inputs), isNothing)
	switch len(kept) {
	case 0, len(u.inputs):
		return nil, nil
	case 1:
		return kept[0], nil
	}
	return node(NewUnion(kept...))
}
