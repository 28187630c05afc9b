package plan

// dropSorts removes sorts if nothing reads the order of the rows, and sorts of rows that are in
// the order already. Of the latter a limit stays.
func (o *optimization) dropSorts(root Node) (Node, error) {
	read := orderIsRead(root)
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		s, ok := n.(*Sort)
		switch {
		case !ok:
			return withInputs(n, inputs...)
		case s.limit == All && !read[n]:
			return inputs[0], nil
		case !isSorted(inputs[0], s.keys):
			return withInputs(n, inputs...)
		case s.limit == All:
			return inputs[0], nil
		}
		return node(NewSlice(inputs[0], 0, s.limit))
	})
}

// isSorted reports whether the rows of a node are known to be in the order of some keys. Joins
// lose it if they divide their sides because memory is short.
func isSorted(n Node, keys []SortKey) bool {
	for {
		sorted, below := n.sortedBy(keys)
		if sorted || below == nil {
			return sorted
		}
		n, keys = n.Inputs()[0], below
	}
}

// sameOrder reports whether two keys order rows alike. Their names may differ.
func (k SortKey) sameOrder(other SortKey) bool {
	k.Value, other.Value = Unnamed(k.Value), Unnamed(other.Value)
	return k.same(other)
}
