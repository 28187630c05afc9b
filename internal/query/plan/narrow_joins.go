package plan

import (
	"slices"

	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// narrowJoins makes the condition of a filter above a cross join one of the join, if the condition
// bounds the rows of one side by those of the other, from below and from above. The join then finds the pairs in sorted rows, and
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
		if !slices.ContainsFunc(conditions, j.isBelow(0)) || !slices.ContainsFunc(conditions, j.isBelow(1)) {
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

// isShort reports whether a node is known to have fewer rows than are worth a sort, such as an aggregate of all rows.
func (o *optimization) isShort(n Node) bool {
	rows := o.rowsOf(n)
	return rows.Exact && rows.Rows < strategy.FewestNarrowed
}

// isBelow returns whether a condition is that a value of a side is below one of the other side.
func (j *Join) isBelow(side int) func(e expr.Expr) bool {
	return func(e expr.Expr) bool {
		first := 0
		switch e.Operation() {
		case "less", "less_equal":
		case "greater", "greater_equal":
			first = 1
		default:
			return false
		}
		below, above := e.Operands()[first].Columns(), e.Operands()[1-first].Columns()
		return len(below) > 0 && len(above) > 0 && j.areOf(side, below) && j.areOf(1-side, above)
	}
}

// areOf reports whether columns of the result are all of one side.
func (j *Join) areOf(side int, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return (j.fromRight[name] != "") != (side == 1) })
}
