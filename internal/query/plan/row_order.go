package plan

import (
	"slices"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// relaxOrder lets joins yield their rows in any order if nothing above them depends on it.
func (o *optimization) relaxOrder(root Node) (Node, error) {
	read := orderIsRead(root)
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		j, ok := n.(*Join)
		if !ok || read[n] || j.options.AnyOrder {
			return withInputs(n, inputs...)
		}
		options := j.options
		options.AnyOrder = true
		return node(NewJoin(inputs[0], inputs[1], options))
	})
}

// orderIsRead returns the nodes of a plan with an order of rows that the result depends on. The
// order of the result itself is read.
func orderIsRead(root Node) map[Node]bool {
	read := map[Node]bool{root: true}
	for _, n := range slices.Backward(inputsFirst(root)) {
		for i, input := range n.Inputs() {
			if n.readsOrder(i, read[n]) {
				read[input] = true
			}
		}
	}
	return read
}

// ofAnyOrder reports whether no result depends on the order of the rows. Sums of floats are exact.
func ofAnyOrder(list []Aggregation) bool {
	return !slices.ContainsFunc(list, func(a Aggregation) bool { return a.Properties().Order != catalog.AnyOrder })
}
