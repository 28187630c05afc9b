package plan_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

func TestPushFilters(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, qty, price := expr.Col("id"), expr.Col("qty"), expr.Col("price")
	all := table(t, "")
	small, cheap := id.Lt(expr.Lit(5)), price.Lt(expr.Lit(2.5))
	const scan = "scan 0 records"
	top := b.sort(all, 3, qty)
	compare(t, "push filters", map[string]c{
		"scan":                              {b.filter(b.filter(all, small), small.And(cheap)), "filter (id < 5) and (price < 2.5)\n scan 0 records, may skip rows unless id < 5 and price < 2.5"},
		"projection":                        {b.filter(b.project(all, id.Add(expr.Lit(1)).As("n"), qty), expr.Col("n").Gt(expr.Lit(2)).And(qty.IsValid())), "select n = id + 1, qty\n filter ((id + 1) > 2) and is_valid(qty)\n  scan 0 records, may skip rows unless (id + 1) > 2 and is_valid(qty)"},
		"costly":                            {b.filter(b.project(all, price.Exp().As("e"), qty), expr.Col("e").Gt(expr.Lit(2)).And(qty.IsValid())), "filter e > 2\n select e = exp(price), qty\n  filter is_valid(qty)\n   scan 0 records, may skip rows unless is_valid(qty)"},
		"literal":                           {b.filter(b.project(all, expr.Lit(7).As("n"), id), expr.Col("n").Mul(id).Gt(expr.Lit(2))), "select n = 7, id\n filter (7 of int64 * id) > 2\n  scan 0 records, may skip rows unless (7 of int64 * id) > 2"},
		"sort":                              {b.filter(b.sort(all, plan.All, qty), small), "sort by qty\n filter id < 5\n  scan 0 records, may skip rows unless id < 5"},
		"top":                               {b.filter(top, small), "filter id < 5\n top 3 by qty\n  scan 0 records"},
		"slice":                             {b.filter(b.slice(all, 0, 9), small), "filter id < 5\n head 9\n  scan 0 records"},
		"union":                             {b.filter(b.union(all, all), small), "union of 2 tables\n filter id < 5\n  scan 0 records, may skip rows unless id < 5\n filter id < 5\n  scan 0 records, may skip rows unless id < 5"},
		"groups":                            {b.filter(b.aggregate(all, []expr.Expr{id.Add(expr.Lit(1)).As("k")}, sums("qty")...), expr.Col("k").Gt(expr.Lit(1)).And(expr.Col("s_qty").Gt(expr.Lit(2)))), "filter s_qty > 2\n group by k = id + 1: s_qty = sum(qty)\n  filter (id + 1) > 1\n   scan 0 records, may skip rows unless (id + 1) > 1"},
		"one row":                           {b.filter(b.aggregate(all, nil, sums("qty")...), expr.Lit(false)), "filter false\n aggregate s_qty = sum(qty)\n  scan 0 records"},
		"key of floats":                     {b.filter(b.aggregate(all, []expr.Expr{price}, sums("qty")...), cheap.And(price.Sign().Lt(expr.Lit(1)))), "filter sign(price) < 1\n group by price: s_qty = sum(qty)\n  filter price < 2.5\n   scan 0 records, may skip rows unless price < 2.5"},
		"window":                            {b.filter(b.window(all, []expr.Expr{id}, sums("qty")...), small.And(cheap)), "filter price < 2.5\n over id: s_qty = sum(qty)\n  filter id < 5\n   scan 0 records, may skip rows unless id < 5"},
		"ordered window":                    {b.filter(b.over(all, 0), small.And(cheap)), "filter price < 2.5\n over id order by qty: n = row_number(), s_price = sum(price) rows 0 to 0\n  filter id < 5\n   scan 0 records, may skip rows unless id < 5"},
		"computed key of a window":          {b.filter(b.window(all, []expr.Expr{id.Mod(expr.Lit(2)).As("id")}, sums("qty")...), small), "filter id < 5\n over id = id % 2: s_qty = sum(qty)\n  scan 0 records"},
		"renamed key of a window":           {b.filter(b.window(all, []expr.Expr{id.As("qty")}, sums("qty")...), small.And(qty.Lt(expr.Lit(9)))), "filter qty < 9\n over qty = id: s_qty = sum(qty)\n  filter id < 5\n   scan 0 records, may skip rows unless id < 5"},
		"computed key of an ordered window": {b.filter(b.overOf(all, id.Mod(expr.Lit(2)).As("id"), 0), small), "filter id < 5\n over id = id % 2 order by qty: n = row_number(), s_price = sum(price) rows 0 to 0\n  scan 0 records"},
		"distinct":                          {b.filter(b.distinct(all, "id"), small.And(cheap)), "filter price < 2.5\n first rows by id\n  filter id < 5\n   scan 0 records, may skip rows unless id < 5"},
		"read by two":                       {b.union(b.filter(top, small), top), "union of 2 tables\n filter id < 5\n  top 3 by qty\n   " + scan + "\n top 3 by qty\n  " + scan},
		"two conditions":                    {b.filter(b.sort(b.filter(all, cheap), plan.All, qty), small), "sort by qty\n filter (price < 2.5) and (id < 5)\n  scan 0 records, may skip rows unless price < 2.5 and id < 5"},
	})
}

func TestPushFiltersIntoJoins(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, qty := expr.Col("id"), expr.Col("qty")
	left, right := table(t, ""), table(t, "_r")
	pair := []plan.JoinKey{{Left: id, Right: expr.Col("id_r")}}
	joined := func(kind join.Kind) plan.Node { return b.join(left, right, plan.JoinOptions{Kind: kind, Keys: pair}) }
	onLeft, onRight := qty.Gt(expr.Lit(1)).Or(qty.IsNull()), expr.Col("qty_r").Gt(expr.Lit(1)).Or(expr.Col("qty_r").IsNull())
	key := id.Lt(expr.Lit(5))
	filtered := func(text string) string {
		return " filter " + text + "\n  scan 0 records, may skip rows unless " + text
	}
	const (
		scan      = " scan 0 records"
		leftText  = "(qty > 1) or is_null(qty)"
		rightText = "(qty_r > 1) or is_null(qty_r)"
	)
	shared := []plan.JoinKey{{Left: id, Right: id}}
	withShared := func(kind join.Kind) plan.Node {
		return b.join(left, left, plan.JoinOptions{Kind: kind, Keys: shared})
	}
	compare(t, "push filters", map[string]c{
		"inner":                 {b.filter(joined(join.Inner), onLeft.And(onRight)), "inner join on id = id_r\n" + filtered(leftText) + "\n" + filtered(rightText)},
		"left":                  {b.filter(joined(join.Left), onLeft.And(onRight)), "filter " + rightText + "\n left join on id = id_r\n " + " filter " + leftText + "\n   scan 0 records, may skip rows unless " + leftText + "\n " + scan},
		"right":                 {b.filter(joined(join.Right), onRight), "right join on id = id_r\n" + scan + "\n" + filtered(rightText)},
		"right, left columns":   {b.filter(joined(join.Right), onLeft), "filter " + leftText + "\n right join on id = id_r\n " + scan + "\n " + scan},
		"full":                  {b.filter(joined(join.Full), onLeft), "filter " + leftText + "\n full join on id = id_r\n " + scan + "\n " + scan},
		"anti":                  {b.filter(joined(join.Anti), onLeft), "anti join on id = id_r\n" + filtered(leftText) + "\n" + scan},
		"key":                   {b.filter(joined(join.Inner), key), "inner join on id = id_r\n" + filtered("id < 5") + "\n" + filtered("id_r < 5")},
		"key of the right side": {b.filter(joined(join.Inner), expr.Col("id_r").Lt(expr.Lit(5))), "inner join on id = id_r\n" + filtered("id < 5") + "\n" + filtered("id_r < 5")},
		"key of a left join":    {b.filter(joined(join.Left), key), "left join on id = id_r\n" + filtered("id < 5") + "\n" + filtered("id_r < 5")},
		"key of a full join":    {b.filter(withShared(join.Full), key), "full join on id\n" + filtered("id < 5") + "\n" + filtered("id < 5")},
		"left becomes inner":    {b.filter(joined(join.Left), expr.Col("qty_r").Gt(expr.Lit(1))), "inner join on id = id_r\n" + scan + "\n" + filtered("qty_r > 1")},
		"right becomes inner":   {b.filter(joined(join.Right), qty.Gt(expr.Lit(1))), "inner join on id = id_r\n" + filtered("qty > 1") + "\n" + scan},
		"full becomes left":     {b.filter(joined(join.Full), qty.Gt(expr.Lit(1))), "left join on id = id_r\n" + filtered("qty > 1") + "\n" + scan},
		"full becomes right":    {b.filter(joined(join.Full), expr.Col("qty_r").Gt(expr.Lit(1))), "right join on id = id_r\n" + scan + "\n" + filtered("qty_r > 1")},
		"full becomes inner":    {b.filter(joined(join.Full), expr.Col("qty_r").Gt(qty)), "filter qty_r > qty\n inner join on id = id_r\n " + scan + "\n " + scan},
		"suffix":                {b.filter(withShared(join.Inner), expr.Col("qty_right").IsNull()), "inner join on id\n" + scan + "\n" + filtered("is_null(qty)")},
		"condition of the join": {b.join(left, right, plan.JoinOptions{Kind: join.Left, Keys: pair, Where: onLeft.And(onRight)}), "left join on id = id_r where " + leftText + "\n" + scan + "\n" + filtered(rightText)},
		"condition of an inner": {b.join(left, right, plan.JoinOptions{Kind: join.Inner, Keys: pair, Where: onLeft.And(onRight)}), "inner join on id = id_r\n" + filtered(leftText) + "\n" + filtered(rightText)},
		"condition of an anti":  {b.join(left, right, plan.JoinOptions{Kind: join.Anti, Keys: pair, Where: onLeft.And(onRight)}), "anti join on id = id_r where " + leftText + "\n" + scan + "\n" + filtered(rightText)},
	})
}
