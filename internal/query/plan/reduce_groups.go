package plan

import (
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// fewerKeys is how many times as many rows a group must be expected to read as the other side
// of the join has, for a semi join below the group to be worth it.
const fewerKeys = 4

// reduceGroups adds a semi join below a group on one side of a join, if the other side is
// expected to have far fewer rows than the group reads: rows of groups that match nothing are not
// grouped. The other side is computed once for both joins, if it holds rows.
func (o *optimization) reduceGroups(root Node) (Node, error) {
	parents := parents(root)
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		j, ok := n.(*Join)
		if !ok {
			return withInputs(n, inputs...)
		}
		for side := range inputs {
			if !j.dropsUnmatched(side) {
				continue
			}
			if reduced := o.reducedGroup(j, side, inputs, parents); reduced != nil {
				inputs[side] = reduced
				break // the other side would be reduced by this one
			}
		}
		return withInputs(j, inputs...)
	})
}

// dropsUnmatched reports whether rows of a side without a match have no effect on the result.
func (j *Join) dropsUnmatched(side int) bool {
	switch j.options.Kind {
	case join.Inner:
		return true
	case join.Semi:
		return true
	case join.Left, join.Anti:
		return side == 1
	case join.Right:
		return side == 0
	}
	return false
}

// reducedGroup returns a side of a join with a semi join below its group, or nil.
func (o *optimization) reducedGroup(j *Join, side int, inputs []Node, parents map[Node]int) Node {
	keys := make([]expr.Expr, len(j.options.Keys))
	other := make([]expr.Expr, len(keys))
	for i, k := range j.options.Keys {
		keys[i], other[i] = k.Left, k.Right
		if side == 1 {
			keys[i], other[i] = k.Right, k.Left
		}
	}
	return reduceBelow(j.Inputs()[side], inputs[side], parents, func(a *Aggregate, definition func(string) (expr.Expr, bool)) Node {
		few, many := o.rowsOf(inputs[1-side]).Rows, o.rowsOf(a.input).Rows
		if few < 0 || many < 0 || few > many/fewerKeys {
			return nil
		}
		options := JoinOptions{Kind: join.Semi, NullsEqual: j.options.NullsEqual}
		for i, k := range keys {
			if name, ok := plainColumn(k); ok {
				if defined, ok := definition(name); ok {
					options.Keys = append(options.Keys, JoinKey{Left: defined, Right: other[i]})
				}
			}
		}
		if len(options.Keys) == 0 {
			return nil
		}
		reduced, err := NewJoin(a.input, inputs[1-side], options)
		if err != nil {
			return nil // the type of a literal key depends on its context, for example
		}
		grouped, err := a.WithInputs(reduced)
		if err != nil {
			return nil
		}
		return grouped
	})
}

// reduceBelow finds the group below filters and projections that nothing else reads, and
// returns the node with the group that change returns, or nil. definition returns the key of the
// group that a column of the node is. before is the node before its inputs were rewritten.
func reduceBelow(before, n Node, parents map[Node]int, change func(a *Aggregate, definition func(string) (expr.Expr, bool)) Node) Node {
	if parents[before] != 1 {
		return nil
	}
	if a, ok := n.(*Aggregate); ok {
		if a.options.Order != group.Unspecified {
			return nil
		}
		return change(a, a.keyNamed)
	}
	if !isFilterOrProjection(n) {
		return nil
	}
	return onInput(n, reduceBelow(before.Inputs()[0], n.Inputs()[0], parents, func(a *Aggregate, definition func(string) (expr.Expr, bool)) Node {
		return change(a, func(name string) (expr.Expr, bool) {
			input, from := n.origin(name)
			if input == nil {
				return expr.Expr{}, false
			}
			return definition(from)
		})
	}))
}

// isFilterOrProjection reports whether the rows of a node are those of its only input, perhaps not all.
func isFilterOrProjection(n Node) bool { return len(n.Inputs()) == 1 && n.rowsFrom() != nil }

// onInput returns a node on another input, or nil if that is nil.
func onInput(n, input Node) Node {
	if input == nil {
		return nil
	}
	rewritten, err := n.WithInputs(input)
	if err != nil {
		return nil
	}
	return rewritten
}
