package plan

import "slices"

// rewrite applies a change to every node of a plan, inputs first. A node with several users
// is changed once, and stays one node.
func rewrite(n Node, change func(Node) (Node, error)) (Node, error) {
	done := map[Node]Node{}
	var apply func(Node) (Node, error)
	apply = func(n Node) (Node, error) {
		if made, ok := done[n]; ok {
			return made, nil
		}
		inputs := make([]Node, len(n.Inputs()))
		for i, input := range n.Inputs() {
			var err error
			if inputs[i], err = apply(input); err != nil {
				return nil, err
			}
		}
		made, err := withInputs(n, inputs...)
		if err == nil {
			made, err = change(made)
		}
		if err != nil {
			return nil, err
		}
		done[n] = made
		return made, nil
	}
	return apply(n)
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

// separate gives each node that reads a scan, or operations that pass rows on, its own, so
// that these can have the columns and limits of one reader.
func separate(root Node) (Node, error) {
	used := map[Node]bool{}
	done := map[Node]Node{}
	var apply func(Node) (Node, error)
	apply = func(n Node) (Node, error) {
		if made, ok := done[n]; ok && HoldsRows(n) {
			return made, nil
		}
		inputs := make([]Node, len(n.Inputs()))
		for i, input := range n.Inputs() {
			var err error
			if inputs[i], err = apply(input); err != nil {
				return nil, err
			}
		}
		made, err := withInputs(n, inputs...)
		if err != nil {
			return nil, err
		}
		if scan, ok := made.(*Scan); ok && used[scan] {
			another := *scan
			made = &another
		}
		used[made], done[n] = true, made
		return made, nil
	}
	return apply(root)
}
