package plan

import (
	"slices"

	"github.com/gpuframe/gpuframe/internal/catalog"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/join"
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
			if readsOrder(n, i, read[n]) {
				read[input] = true
			}
		}
	}
	return read
}

// readsOrder reports whether the rows or the order of a node's result depend on the order of
// an input. own is set if the order of the result is read.
func readsOrder(n Node, input int, own bool) bool {
	switch n := n.(type) {
	case *Filter, *Project, *Union:
		return own
	case *Aggregate:
		for _, k := range n.keys {
			// The first of equal keys is the one in the result, and −0 is equal to 0.
			if t := typeOf(k, n.input.Schema()); t == nil || isFloat(t) {
				return true
			}
		}
		return own && n.options.Order == group.FirstAppearance || !ofAnyOrder(n.aggregations)
	case *Window:
		return own || !ofAnyOrder(n.aggregations)
	case *Sort:
		return own || n.limit != All // rows with equal keys keep their order
	case *AsOf:
		return own || input == 1
	case *Join:
		if k := n.options.Kind; (k == join.Semi || k == join.Anti) && input == 1 {
			return false
		}
		return own
	}
	return true
}

// ofAnyOrder reports whether no result depends on the order of the rows. Sums of floats are exact.
func ofAnyOrder(list []Aggregation) bool {
	return !slices.ContainsFunc(list, func(a Aggregation) bool { return a.Properties().Order != catalog.AnyOrder })
}
