package plan

import (
	"reflect"
	"slices"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// shareSubplans makes equal operations on equal inputs one node. A node that [HoldsRows] is
// then run once for all that read it.
func (o *optimization) shareSubplans(root Node) (Node, error) {
	known := map[operationKey][]Node{}
	return o.rewrite(root, func(n Node) (Node, error) {
		key := keyOf(n)
		for _, other := range known[key] {
			if slices.Equal(n.Inputs(), other.Inputs()) && n.same(other) {
				return other, nil
			}
		}
		known[key] = append(known[key], n)
		return n, nil
	})
}

// operationKey is equal for equal operations on equal inputs.
type operationKey struct {
	kind   reflect.Type
	input  Node
	source source.Source
}

func keyOf(n Node) operationKey {
	key := operationKey{kind: reflect.TypeOf(n)}
	if inputs := n.Inputs(); len(inputs) > 0 {
		key.input = inputs[0]
	}
	if scan, ok := n.(*Scan); ok && reflect.TypeOf(scan.source).Comparable() {
		key.source = scan.source
	}
	return key
}

// InputsFirst returns the nodes of a plan, each once, after its inputs.
func InputsFirst(root Node) []Node { return inputsFirst(root) }

// Parents returns the number of times that each node of a plan is an input.
func Parents(root Node) map[Node]int { return parents(root) }

// sameSource reports whether two sources are one. Sources that Go cannot compare are not.
func sameSource(a, b source.Source) bool {
	return reflect.TypeOf(a).Comparable() && a == b
}

func sameExpressions(a, b []expr.Expr) bool { return slices.EqualFunc(a, b, expr.Expr.Same) }

func (k SortKey) same(other SortKey) bool {
	return k.Value.Same(other.Value) && k.Descending == other.Descending && k.NullsFirst == other.NullsFirst
}

func (a Aggregation) same(b Aggregation) bool {
	return a.Function == b.Function && a.Count == b.Count && a.Number == b.Number && a.Text == b.Text && sameOffset(a.Distance, b.Distance) && a.SkipNulls == b.SkipNulls && a.Name == b.Name && a.Frame.Same(b.Frame) && a.Where.Same(b.Where) && sameExpressions(a.Values, b.Values)
}

func (o JoinOptions) same(p JoinOptions) bool {
	return o.Kind == p.Kind && o.NullsEqual == p.NullsEqual && o.Suffix == p.Suffix && o.AnyOrder == p.AnyOrder && slices.Equal(o.Bounds, p.Bounds) && o.Where.Same(p.Where) &&
		slices.EqualFunc(o.Keys, p.Keys, func(a, b JoinKey) bool { return a.Left.Same(b.Left) && a.Right.Same(b.Right) })
}
