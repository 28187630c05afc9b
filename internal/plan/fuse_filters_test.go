package plan_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

func TestFuseFilters(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, qty := expr.Col("id"), expr.Col("qty")
	all := table(t, "")
	some := b.filter(all, id.Lt(expr.Lit(5)).And(qty.IsValid()))
	held := b.filter(b.sort(all, 3, qty), qty.IsValid())
	groups := func(n plan.Node) plan.Node { return b.aggregate(n, []expr.Expr{id}, sums("qty")...) }
	compare(t, "fuse filters", map[string]c{
		"group":         {groups(some), "group by id: s_qty = sum(qty) of rows where (id < 5) and is_valid(qty)\n scan 0 records"},
		"all rows":      {b.aggregate(some, nil, sums("qty")...), "aggregate s_qty = sum(qty) of rows where (id < 5) and is_valid(qty)\n scan 0 records"},
		"distinct":      {b.distinct(some), "distinct id, price, qty, city, flag of rows where (id < 5) and is_valid(qty)\n scan 0 records"},
		"two filters":   {groups(b.filter(some, id.Gt(expr.Lit(1)))), "group by id: s_qty = sum(qty) of rows where id > 1\n filter (id < 5) and is_valid(qty)\n  scan 0 records"},
		"read by two":   {b.union(groups(held), groups(held)), "union of 2 tables\n group by id: s_qty = sum(qty)\n  filter is_valid(qty)\n   top 3 by qty\n    scan 0 records\n group by id: s_qty = sum(qty)\n  filter is_valid(qty)\n   top 3 by qty\n    scan 0 records"},
		"a scan of two": {b.union(groups(some), groups(some)), "union of 2 tables\n group by id: s_qty = sum(qty) of rows where (id < 5) and is_valid(qty)\n  scan 0 records\n group by id: s_qty = sum(qty) of rows where (id < 5) and is_valid(qty)\n  scan 0 records"},
		"window":        {b.window(some, []expr.Expr{id}, sums("qty")...), "over id: s_qty = sum(qty)\n filter (id < 5) and is_valid(qty)\n  scan 0 records"},
	})
}
