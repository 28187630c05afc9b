package plan_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

func TestPruneColumns(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, qty, price, city := expr.Col("id"), expr.Col("qty"), expr.Col("price"), expr.Col("city")
	all := table(t, "")
	key := []plan.JoinKey{{Left: id, Right: id}}
	count := plan.Aggregation{Function: "count", Name: "n"}
	both := b.window(all, []expr.Expr{id}, sums("qty", "price")...)
	joined := b.join(all, table(t, ""), plan.JoinOptions{Kind: join.Left, Keys: key})
	compare(t, "prune columns", map[string]c{
		"scan":            {b.project(all, qty, id), "select qty, id\n scan 0 records, 2 of 5 columns"},
		"order of scan":   {b.project(all, id, qty), "scan 0 records, 2 of 5 columns"},
		"filter":          {b.project(b.filter(all, price.Gt(expr.Lit(1))), id), "filter price > 1, 1 of 2 columns\n scan 0 records, 2 of 5 columns"},
		"sort":            {b.project(b.sort(all, plan.All, qty), id), "select id\n sort by qty\n  scan 0 records, 2 of 5 columns"},
		"projections":     {b.project(b.project(all, id.Add(expr.Lit(1)).As("n"), qty, price), expr.Col("n").Mul(expr.Col("n")).As("square")), "select square = (id + 1) * (id + 1)\n scan 0 records, 1 of 5 columns"},
		"types stay":      {b.project(b.project(all, expr.Lit(1).As("one"), id), expr.Col("one").Add(id).As("n")), "select n = 1 of int64 + id\n scan 0 records, 1 of 5 columns"},
		"nothing to do":   {b.project(all, id, price, qty, city, expr.Col("flag")), "scan 0 records"},
		"group":           {b.project(b.aggregate(all, []expr.Expr{id}, sums("qty", "price")...), expr.Col("s_qty")), "select s_qty\n group by id: s_qty = sum(qty)\n  scan 0 records, 2 of 5 columns"},
		"group of values": {b.aggregate(b.project(all, id.Add(expr.Lit(1)).As("k"), qty.Mul(expr.Lit(2)).As("qty")), []expr.Expr{expr.Col("k")}, sums("qty")...), "group by k = id + 1: s_qty = sum(qty * 2)\n scan 0 records, 2 of 5 columns"},
		"count":           {b.aggregate(b.filter(all, price.Gt(expr.Lit(1))), nil, count), "aggregate n = count()\n filter price > 1\n  scan 0 records, 1 of 5 columns"},
		"count of a scan": {b.aggregate(all, nil, count), "aggregate n = count()\n scan 0 records, 0 of 5 columns"},
		"one row":         {b.aggregate(b.aggregate(all, nil, sums("qty", "price")...), nil, count), "aggregate n = count()\n aggregate s_qty = sum(qty)\n  scan 0 records, 1 of 5 columns"},
		"window":          {b.project(both, expr.Col("s_price")), "select s_price\n over id: s_price = sum(price)\n  scan 0 records, 2 of 5 columns"},
		"ordered window":  {b.project(b.over(all, -6), expr.Col("n")), "select n\n over id order by qty: n = row_number()\n  scan 0 records, 2 of 5 columns"},
		"frame":           {b.project(b.over(all, -6), expr.Col("s_price")), "select s_price\n over id order by qty: s_price = sum(price) rows -6 to 0\n  scan 0 records, 3 of 5 columns"},
		"no window":       {b.project(both, qty), "scan 0 records, 1 of 5 columns"},
		"distinct":        {b.project(b.distinct(all, "id"), qty), "select qty\n first rows by id\n  scan 0 records, 2 of 5 columns"},
		"union":           {b.project(b.union(all, b.project(b.filter(all, price.Gt(expr.Lit(1))), city, id, price, qty, expr.Col("flag"))), qty), "union of 2 tables\n scan 0 records, 1 of 5 columns\n filter price > 1, 1 of 2 columns\n  scan 0 records, 2 of 5 columns"},
		"read by two":     {b.union(b.project(both, id, qty), b.project(both, id, expr.Col("s_qty").As("qty"))), "union of 2 tables\n select id, qty\n  over id: s_qty = sum(qty)\n   scan 0 records, 2 of 5 columns\n select id, qty = s_qty\n  over id: s_qty = sum(qty)\n   scan 0 records, 2 of 5 columns"},
		"join":            {b.project(joined, qty, expr.Col("qty_right")), "select qty, qty_right\n left join on id\n  scan 0 records, 2 of 5 columns\n  scan 0 records, 2 of 5 columns"},
		"names of a join": {b.project(joined, expr.Col("qty_right")), "select qty_right = qty\n left join on id\n  scan 0 records, 1 of 5 columns\n  scan 0 records, 2 of 5 columns"},
		"condition of a join": {b.project(b.join(all, table(t, ""), plan.JoinOptions{Kind: join.Left, Keys: key, Where: expr.Col("qty_right").Gt(price)}), id),
			"select id\n left join on id where qty > price\n  scan 0 records, 2 of 5 columns\n  scan 0 records, 2 of 5 columns"},
		"semi join": {b.project(b.join(all, all, plan.JoinOptions{Kind: join.Semi, Keys: key}), qty), "select qty\n semi join on id\n  scan 0 records, 2 of 5 columns\n  scan 0 records, 1 of 5 columns"},
	})
}
