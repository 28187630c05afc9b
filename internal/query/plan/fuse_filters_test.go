package plan_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
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

func TestFuseFiltersOfUnions(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, qty, price := expr.Col("id"), expr.Col("qty"), expr.Col("price")
	all := table(t, "")
	few, valid := id.Lt(expr.Lit(5)), qty.IsValid()
	columns := func(n plan.Node, names ...string) plan.Node {
		made, err := plan.NewColumns(n, names...)
		return b.node(made, err)
	}
	groups := func(n plan.Node) plan.Node { return b.aggregate(n, []expr.Expr{id}, sums("qty")...) }
	held := b.sort(all, 3, qty)
	inner := b.union(b.filter(all, few), b.filter(all, few.And(valid)))
	compare(t, "fuse filters", map[string]c{
		"one condition": {groups(b.union(b.filter(all, few), b.filter(all, few))),
			"group by id: s_qty = sum(qty) of rows where id < 5\n union of 2 tables\n  scan 0 records\n  scan 0 records"},
		"one in common": {groups(b.union(b.filter(all, few.And(valid)), b.filter(all, few))),
			"group by id: s_qty = sum(qty) of rows where id < 5\n union of 2 tables\n  filter is_valid(qty)\n   scan 0 records\n  scan 0 records"},
		"none in common": {groups(b.union(b.filter(all, valid), b.filter(all, few))),
			"group by id: s_qty = sum(qty)\n union of 2 tables\n  filter is_valid(qty)\n   scan 0 records\n  filter id < 5\n   scan 0 records"},
		"an input without": {groups(b.union(b.filter(all, few), all)),
			"group by id: s_qty = sum(qty)\n union of 2 tables\n  filter id < 5\n   scan 0 records\n  scan 0 records"},
		"a column of conditions": {groups(b.union(columns(b.filter(all, price.IsValid()), "id", "qty"), columns(b.filter(all, price.IsValid()), "qty", "id"))),
			"group by id: s_qty = sum(qty) of rows where is_valid(price)\n union of 2 tables\n  select id, price, qty\n   scan 0 records\n  select id, price, qty\n   scan 0 records"},
		"of another type": {groups(b.union(columns(b.filter(all, price.IsValid()), "id", "qty"),
			columns(b.filter(b.project(all, id, qty, expr.Col("city").As("price")), price.IsValid()), "id", "qty"))),
			"group by id: s_qty = sum(qty)\n union of 2 tables\n  select id, qty\n   filter is_valid(price)\n    scan 0 records\n  select id, qty\n   filter is_valid(price)\n    select id, qty, price = city\n     scan 0 records"},
		"a union of unions": {groups(b.union(inner, b.filter(all, few))),
			"group by id: s_qty = sum(qty) of rows where id < 5\n union of 2 tables\n  union of 2 tables\n   scan 0 records\n   filter is_valid(qty)\n    scan 0 records\n  scan 0 records"},
		"read by two": {groups(b.union(b.filter(held, few), columns(b.filter(held, few), "id", "price", "qty", "city", "flag"))),
			"group by id: s_qty = sum(qty) of rows where id < 5\n union of 2 tables\n  top 3 by qty\n   scan 0 records\n  top 3 by qty\n   scan 0 records"},
	})
}
