package plan

import (
	"slices"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// fuseFilters makes the condition of a filter one of the grouping that reads it. The filter
// would copy the rows that it keeps, only for the grouping to read them once. Conditions that all
// inputs of a union have are those of the grouping that reads the union. A filter that is run once
// for several readers stays.
func (o *optimization) fuseFilters(root Node) (Node, error) {
	f := filterFuser{o.Analysis, parents(root), map[Node][]expr.Expr{}}
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		g, ok := n.(conditional)
		if !ok || f.isHeld(n.Inputs()[0]) {
			return withInputs(n, inputs...)
		}
		below, conditions := f.unfiltered(n.Inputs()[0], inputs[0])
		if len(conditions) == 0 {
			return withInputs(n, inputs...)
		}
		return g.withConditions(below, conditions)
	})
}

// conditional is a grouping that may group only the rows that meet conditions.
type conditional interface {
	// withConditions returns the grouping of the rows of an input that meet further conditions.
	withConditions(input Node, conditions []expr.Expr) (Node, error)
}

func (a *Aggregate) withConditions(input Node, conditions []expr.Expr) (Node, error) {
	options := a.options
	if !options.Where.IsZero() {
		conditions = union(conditions, options.Where.Conjuncts())
	}
	options.Where = allOf(conditions)
	return node(NewAggregate(input, a.keys, a.aggregations, options))
}

// filterFuser knows how many readers each node of the plan has.
type filterFuser struct {
	*Analysis
	parents map[Node]int
	// known are the conditions of the nodes before this pass.
	known map[Node][]expr.Expr
}

// isHeld reports whether a node is run once for several readers.
func (f filterFuser) isHeld(n Node) bool { return f.parents[n] > 1 && f.HoldsRows(n) }

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
	w := withoutConditions{conditionSetOf(conditions), read, map[Node]Node{}}
	rest, err := w.apply(n)
	if err != nil {
		return n, nil // a column that only conditions read has another type in another input of a union
	}
	return rest, conditions
}

// conditions returns the conditions of filters that all rows of a node have passed.
func (f filterFuser) conditions(before, n Node) []expr.Expr {
	if f.isHeld(before) {
		return nil
	}
	list, known := f.known[before]
	if !known {
		list = f.findConditions(before, n)
		f.known[before] = list
	}
	return list
}

func (f filterFuser) findConditions(before, n Node) []expr.Expr {
	if own, ok := n.passes(); len(own) > 0 {
		return own
	} else if ok {
		return f.conditions(before.Inputs()[0], n.Inputs()[0])
	}
	u, ok := n.(*Union)
	if !ok {
		return nil
	}
	common := slices.Clone(f.conditions(before.Inputs()[0], u.inputs[0]))
	for i, input := range u.inputs[1:] {
		others := conditionSetOf(f.conditions(before.Inputs()[i+1], input))
		common = slices.DeleteFunc(common, func(c expr.Expr) bool { return !others.has(c) })
	}
	return common
}

// withoutConditions makes nodes with the columns that are read, of rows that need not meet the
// conditions.
type withoutConditions struct {
	conditions conditionSet
	read       columnSet
	done       map[Node]Node
}

func (w withoutConditions) apply(n Node) (result Node, err error) {
	if known, ok := w.done[n]; ok {
		return known, nil
	}
	if filter, ok := n.(*Filter); ok {
		result, err = w.filter(filter)
	} else if _, ok := n.passes(); ok {
		result, err = w.apply(n.Inputs()[0])
	} else {
		inputs := make([]Node, len(n.Inputs()))
		for i, input := range n.Inputs() {
			if inputs[i], err = w.apply(input); err != nil {
				return nil, err
			}
		}
		result, err = node(NewUnion(inputs...))
	}
	if err == nil {
		w.done[n] = result
	}
	return result, err
}

func (w withoutConditions) filter(n *Filter) (Node, error) {
	rest := slices.DeleteFunc(n.condition.Conjuncts(), w.conditions.has)
	if len(rest) == 0 {
		return selected(n.input, w.read)
	}
	reduced, err := NewFilter(n.input, allOf(rest))
	if err != nil {
		return nil, err
	}
	return reduced.WithColumns(w.read), nil
}

// selected returns the columns of a node that are read.
func selected(n Node, read columnSet) (Node, error) {
	return exactly(n, slices.DeleteFunc(columnsOf(n.Schema()), func(name string) bool { return !read[name] }))
}
