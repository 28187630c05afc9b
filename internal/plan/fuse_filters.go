package plan

// fuseFilters makes the condition of a filter one of the grouping that reads it. The filter
// would copy the rows that it keeps, only for the grouping to read them once. A filter that is
// run once for several readers stays.
func fuseFilters(root Node) (Node, error) {
	parents := parents(root)
	return rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		a, ok := n.(*Aggregate)
		if !ok {
			return withInputs(n, inputs...)
		}
		below, ok := inputs[0].(*Filter)
		if !ok || parents[a.input] > 1 && HoldsRows(a.input) {
			return withInputs(n, inputs...)
		}
		options := a.options
		conditions := below.condition.Conjuncts()
		if !options.Where.IsZero() {
			conditions = union(conditions, options.Where.Conjuncts())
		}
		options.Where = allOf(conditions)
		return node(NewAggregate(below.input, a.keys, a.aggregations, options))
	})
}
