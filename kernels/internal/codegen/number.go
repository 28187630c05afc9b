package codegen

import (
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

// numbering gives equal subexpressions one number, so that each is computed once.
type numbering struct {
	byNode map[*tree.Node]int
	byForm map[string]int
}

func newNumbering() *numbering {
	return &numbering{byNode: map[*tree.Node]int{}, byForm: map[string]int{}}
}

func (n *numbering) of(node *tree.Node) int {
	if number, ok := n.byNode[node]; ok {
		return number
	}
	var form strings.Builder
	fmt.Fprintf(&form, "%d %s %d %d", node.Op, tree.Code(node.Type), node.Input, node.Slot)
	for _, argument := range node.Arguments {
		fmt.Fprintf(&form, " %d", n.of(argument))
	}
	number, ok := n.byForm[form.String()]
	if !ok {
		number = len(n.byForm)
		n.byForm[form.String()] = number
	}
	n.byNode[node] = number
	return number
}
