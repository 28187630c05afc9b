package plan

import (
	"slices"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// fewestNarrowed is the number of rows of a side from which on the bounds of a condition are worth a
// sort: a query of one row, such as an aggregate of all rows, has fewer.
const fewestNarrowed = 32

// narrowJoins makes the condition of a filter above a cross join one of the join, if the condition
// bounds the rows of one side by those of the other. The join then finds the pairs in sorted rows, and
// does not make all of them (kernels/join, narrow.go).
func (o *optimization) narrowJoins(root Node) (Node, error) {
	parents := parents(root)
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		f, ok := n.(*Filter)
		if !ok || parents[f.input] != 1 {
			return withInputs(n, inputs...)
		}
		j, ok := inputs[0].(*Join)
		if !ok || j.options.Kind != join.Cross || !slices.Equal(columnsOf(f.schema), columnsOf(j.schema)) || o.isShort(j.left) || o.isShort(j.right) {
			return withInputs(n, inputs...)
		}
		conditions := f.condition.Conjuncts()
		if !slices.ContainsFunc(conditions, j.isBound) {
			return withInputs(n, inputs...)
		}
		options := j.options
		if !options.Where.IsZero() {
			conditions = union(options.Where.Conjuncts(), conditions)
		}
		options.Where = allOf(conditions)
		return node(NewJoin(j.left, j.right, options))
	})
}

// isShort reports whether a node is known to have few rows.
func (o *optimization) isShort(n Node) bool {
	rows := o.rowsOf(n)
	return rows.Exact && rows.Rows < fewestNarrowed
}

// isBound reports whether a condition compares the order of the sides.
func (j *Join) isBound(e expr.Expr) bool {
	switch e.Operation() {
	case "less", "less_equal", "greater", "greater_equal":
	default:
		return false
	}
	operands := e.Operands()
	left, right := operands[0].Columns(), operands[1].Columns()
	return len(left) > 0 && len(right) > 0 && (j.areOf(0, left) && j.areOf(1, right) || j.areOf(1, left) && j.areOf(0, right))
}

// areOf reports whether columns of the result are all of one side.
func (j *Join) areOf(side int, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return (j.fromRight[name] != "") != (side == 1) })
}
