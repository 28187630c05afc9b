package codegen

import (
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// numbering gives equal subexpressions the same number, so that each is computed once.
type numbering struct {
	byNode map[*exprtree.Node]int
	byForm map[string]int
}

func newNumbering() *numbering {
	return &numbering{byNode: map[*exprtree.Node]int{}, byForm: map[string]int{}}
}

func (n *numbering) numberOf(node *exprtree.Node) int {
	if number, ok := n.byNode[node]; ok {
		return number
	}
	var form strings.Builder
	fmt.Fprintf(&form, "%d %s %d %d %d", node.Op, exprtree.Code(node.Type), node.Input, node.Slot, node.Constant)
	for _, argument := range node.Arguments {
		fmt.Fprintf(&form, " %d", n.numberOf(argument))
	}
	number, ok := n.byForm[form.String()]
	if !ok {
		number = len(n.byForm)
		n.byForm[form.String()] = number
	}
	n.byNode[node] = number
	return number
}
