package plan

import "slices"

// rewrite applies a change to every node of a plan, inputs first. A node with several users
// is changed once, and stays one node.
func (o *optimization) rewrite(root Node, change func(Node) (Node, error)) (Node, error) {
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		same, err := withInputs(n, inputs...)
		if err != nil {
			return nil, err
		}
		return change(same)
	})
}

// rewriteEach makes new nodes of nodes in an order, inputs first. It returns the last one, or the
// error of the context.
func (o *optimization) rewriteEach(order []Node, change func(n Node, inputs []Node) (Node, error)) (last Node, err error) {
	done := make(map[Node]Node, len(order))
	for _, n := range order {
		if err := o.visit(); err != nil {
			return nil, err
		}
		inputs := make([]Node, len(n.Inputs()))
		for i, input := range n.Inputs() {
			inputs[i] = done[input]
		}
		if last, err = change(n, inputs); err != nil {
			return nil, err
		}
		done[n] = last
	}
	return last, nil
}

// withInputs returns a node on other inputs, or the node if they are its own.
func withInputs(n Node, inputs ...Node) (Node, error) {
	if slices.Equal(n.Inputs(), inputs) {
		return n, nil
	}
	return n.WithInputs(inputs...)
}

// parents returns the number of times that each node of a plan is an input.
func parents(root Node) map[Node]int {
	count := map[Node]int{}
	for _, n := range inputsFirst(root) {
		for _, input := range n.Inputs() {
			count[input]++
		}
	}
	return count
}

// inputsFirst returns the nodes of a plan, each once, after its inputs.
func inputsFirst(root Node) []Node {
	var list []Node
	if IsChain(root) {
		for n := root; n != nil; n = below(n) {
			list = append(list, n)
		}
		slices.Reverse(list)
		return list
	}
	seen := map[Node]bool{}
	var visit func(Node)
	visit = func(n Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, input := range n.Inputs() {
			visit(input)
		}
		list = append(list, n)
	}
	visit(root)
	return list
}

// mostCopies is the number of nodes that separate may add to a plan, and twice the number of its nodes.
const mostCopies = 200

// separate gives each node that reads a scan, or operations that pass rows on, its own, so
// that these can have the columns and limits of one reader. A plan in which that would make
// too many nodes, as of unions of a node with itself, keeps some that several read.
func (o *optimization) separate(root Node) (Node, error) {
	s := separation{optimization: o, left: mostCopies + 2*len(inputsFirst(root)), used: map[Node]bool{}, done: map[Node]Node{}}
	return s.apply(root)
}

// separation is one call of separate.
type separation struct {
	*optimization
	// left is the number of nodes that may still be made.
	left int
	used map[Node]bool
	done map[Node]Node
}

func (s *separation) apply(n Node) (Node, error) {
	if known, ok := s.done[n]; ok && (s.left <= 0 || s.HoldsRows(n)) {
		return known, nil
	}
	if err := s.visit(); err != nil {
		return nil, err
	}
	s.left--
	inputs := make([]Node, len(n.Inputs()))
	for i, input := range n.Inputs() {
		var err error
		if inputs[i], err = s.apply(input); err != nil {
			return nil, err
		}
	}
	separated, err := withInputs(n, inputs...)
	if err != nil {
		return nil, err
	}
	if scan, ok := separated.(*Scan); ok && s.used[scan] {
		another := *scan
		separated = &another
	}
	s.used[separated], s.done[n] = true, separated
	return separated, nil
}
