package plan

import (
	"slices"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// fuseFilters makes the condition of a filter one of the grouping that reads it. The filter
// would copy the rows that it keeps, only for the grouping to read them once. Conditions that all
// inputs of a union have are those of the grouping that reads the union. A filter that is run once
// for several readers stays.
func fuseFilters(root Node) (Node, error) {
	f := filterFuser{parents(root)}
	return rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		a, ok := n.(*Aggregate)
		if !ok || f.isHeld(a.input) {
			return withInputs(n, inputs...)
		}
		below, conditions := f.unfiltered(a.input, inputs[0])
		if len(conditions) == 0 {
			return withInputs(n, inputs...)
		}
		options := a.options
		if !options.Where.IsZero() {
			conditions = union(conditions, options.Where.Conjuncts())
		}
		options.Where = allOf(conditions)
		return node(NewAggregate(below, a.keys, a.aggregations, options))
	})
}

// filterFuser knows how many readers each node of the plan has.
type filterFuser struct{ parents map[Node]int }

// isHeld reports whether a node is run once for several readers.
func (f filterFuser) isHeld(n Node) bool { return f.parents[n] > 1 && HoldsRows(n) }

// unfiltered returns a node without the conditions that all its rows meet because of a filter, and
// these conditions. It has at least the columns that the node has. before is the node as it was
// before this pass.
func (f filterFuser) unfiltered(before, n Node) (Node, []expr.Expr) {
	if filter, ok := n.(*Filter); ok {
		return filter.input, filter.condition.Conjuncts()
	}
	conditions := f.conditions(before, n)
	if len(conditions) == 0 {
		return n, nil
	}
	read := columnSet{}.read(conditions...)
	for _, name := range columnsOf(n.Schema()) {
		read[name] = true
	}
	made, err := without(n, conditions, read)
	if err != nil {
		return n, nil // a column that only conditions read has another type in another input of a union
	}
	return made, conditions
}

// conditions returns the conditions of filters that all rows of a node have passed.
func (f filterFuser) conditions(before, n Node) []expr.Expr {
	if f.isHeld(before) {
		return nil
	}
	switch n := n.(type) {
	case *Filter:
		return n.condition.Conjuncts()
	case *Project:
		if n.onlyColumns() {
			return f.conditions(before.Inputs()[0], n.input)
		}
	case *Union:
		common := f.conditions(before.Inputs()[0], n.inputs[0])
		for i, input := range n.inputs[1:] {
			others := f.conditions(before.Inputs()[i+1], input)
			common = slices.DeleteFunc(common, func(c expr.Expr) bool { return !containsSame(others, c) })
		}
		return common
	}
	return nil
}

// without returns the columns of a node that are read, of rows that need not meet the conditions.
func without(n Node, conditions []expr.Expr, read columnSet) (Node, error) {
	switch n := n.(type) {
	case *Filter:
		rest := slices.DeleteFunc(n.condition.Conjuncts(), func(c expr.Expr) bool { return containsSame(conditions, c) })
		if len(rest) == 0 {
			return selected(n.input, read)
		}
		made, err := NewFilter(n.input, allOf(rest))
		if err != nil {
			return nil, err
		}
		return made.WithColumns(read), nil
	case *Project:
		return without(n.input, conditions, read)
	}
	inputs := make([]Node, len(n.Inputs()))
	for i, input := range n.Inputs() {
		var err error
		if inputs[i], err = without(input, conditions, read); err != nil {
			return nil, err
		}
	}
	return node(NewUnion(inputs...))
}

// selected returns the columns of a node that are read.
func selected(n Node, read columnSet) (Node, error) {
	return exactly(n, slices.DeleteFunc(columnsOf(n.Schema()), func(name string) bool { return !read[name] }))
}
