package plan_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// TestShareSubplans makes pairs of plans that are equal, and of plans that are not.
func TestShareSubplans(t *testing.T) {
	b := builder{t}
	all := table(t, "")
	id, qty := expr.Col("id"), expr.Col("qty")
	one := func() expr.Expr { return qty.Gt(expr.Lit(1)) }
	variants := []func() plan.Node{
		func() plan.Node { return b.filter(all, one()) },
		func() plan.Node { return b.filter(all, qty.Gt(expr.Lit(2))) },
		func() plan.Node { return b.project(all, id, one().As("large")) },
		func() plan.Node { return b.project(all, id, one().As("other")) },
		func() plan.Node { return b.slice(all, 1, 2) },
		func() plan.Node { return b.slice(all, 0, 2) },
		func() plan.Node { return b.sort(all, plan.All, qty) },
		func() plan.Node { return b.sort(all, 5, qty) },
		func() plan.Node { return b.sort(all, plan.All, qty, id) },
		func() plan.Node { return b.distinct(all, "id") },
		func() plan.Node { return b.distinct(all, "qty") },
		func() plan.Node { return b.aggregate(all, []expr.Expr{id}, sums("qty")...) },
		func() plan.Node { return b.aggregate(all, []expr.Expr{qty}, sums("qty")...) },
		func() plan.Node { return b.aggregate(all, []expr.Expr{id}, sums("price")...) },
		func() plan.Node { return b.window(all, []expr.Expr{id}, sums("qty")...) },
		func() plan.Node { return b.window(all, nil, sums("qty")...) },
		func() plan.Node { return b.over(all, 0) },
		func() plan.Node { return b.over(all, -1) },
		func() plan.Node { return b.union(all, all) },
		func() plan.Node { return b.union(all, all, all) },
	}
	for _, kind := range []join.Kind{join.Inner, join.Left} {
		for _, nulls := range []bool{false, true} {
			variants = append(variants, func() plan.Node {
				return b.join(all, all, plan.JoinOptions{Kind: kind, NullsEqual: nulls, Where: one(), Keys: []plan.JoinKey{{Left: id, Right: id}}})
			})
		}
	}
	others := slices.DeleteFunc(plan.Passes(), func(name string) bool { return name == "share subplans" })
	for i, first := range variants {
		for j, second := range variants {
			below, above := first(), second()
			// Both are sides of a cross join, so their columns may differ.
			n := b.join(b.project(below, id1(below)), b.project(above, id1(above)), plan.JoinOptions{Kind: join.Cross})
			made, err := plan.OptimizeWithout(t.Context(), n, nil, others...)
			require.NoError(t, err)
			sides := made.Inputs()
			require.Equal(t, i == j, sides[0].Inputs()[0] == sides[1].Inputs()[0], "%v and %v", below, above)
		}
	}
}

// id1 is the first column of a node.
func id1(n plan.Node) expr.Expr { return expr.Col(n.Schema().Field(0).Name).As("first") }
