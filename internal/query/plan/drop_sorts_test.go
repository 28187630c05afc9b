package plan_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

func TestDropSorts(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, qty, city := expr.Col("id"), expr.Col("qty"), expr.Col("city")
	all := table(t, "")
	sorted := b.sort(all, plan.All, id, qty)
	first := plan.Aggregation{Function: "first", Values: []expr.Expr{city}, Name: "f"}
	const two = "sort by id, qty\n"
	pair := plan.JoinOptions{Kind: join.Inner, Keys: []plan.JoinKey{{Left: id, Right: expr.Col("id_r")}}}
	compare(t, "drop sorts", map[string]c{
		"same":          {b.sort(sorted, plan.All, id, qty), two + " scan 0 records"},
		"fewer keys":    {b.sort(sorted, plan.All, id), two + " scan 0 records"},
		"more keys":     {b.sort(sorted, plan.All, id, qty, city), "sort by id, qty, city\n sort by id, qty\n  scan 0 records"},
		"other order":   {b.sort(sorted, plan.All, qty), "sort by qty\n sort by id, qty\n  scan 0 records"},
		"top":           {b.sort(sorted, 3, id), "head 3\n sort by id, qty\n  scan 0 records"},
		"filter, head":  {b.sort(b.slice(b.filter(sorted, qty.IsValid()), 0, 5), plan.All, id), "head 5\n filter is_valid(qty)\n  sort by id, qty\n   scan 0 records"},
		"renamed":       {b.sort(b.project(sorted, id.As("n")), plan.All, expr.Col("n")), "select n = id\n sort by id, qty\n  scan 0 records"},
		"replaced":      {b.sort(b.project(sorted, qty.As("id")), plan.All, id), "sort by id\n select id = qty\n  sort by id, qty\n   scan 0 records"},
		"left side":     {b.sort(b.join(sorted, table(t, "_r"), pair), plan.All, id), "sort by id\n inner join on id = id_r\n  sort by id, qty\n   scan 0 records\n  scan 0 records"},
		"group":         {b.aggregate(sorted, []expr.Expr{id}, sums("qty")...), "group by id: s_qty = sum(qty)\n scan 0 records"},
		"first of each": {b.aggregate(sorted, []expr.Expr{id}, first), "group by id: f = first(city)\n sort by id, qty\n  scan 0 records"},
		"group of few":  {b.aggregate(b.sort(all, 3, id), []expr.Expr{id}, sums("qty")...), "group by id: s_qty = sum(qty)\n top 3 by id\n  scan 0 records"},
	})
}
