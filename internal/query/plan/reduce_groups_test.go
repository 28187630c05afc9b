package plan_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/join"
)

func TestReduceGroups(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, city := expr.Col("id"), expr.Col("city")
	all, other := table(t, ""), table(t, "_r")
	few := b.filter(other, expr.Col("id_r").Eq(expr.Lit(1)))
	groups := b.aggregate(all, []expr.Expr{id}, sums("qty")...)
	byTwo := b.project(b.filter(b.aggregate(all, []expr.Expr{id.Add(expr.Lit(1)).As("next"), city}, sums("qty")...), expr.Col("s_qty").Gt(expr.Lit(2))), city, expr.Col("next").As("n"), expr.Col("s_qty"))
	ordered, err := plan.NewAggregate(all, []expr.Expr{id}, sums("qty"), plan.GroupOptions{Order: group.FirstAppearance})
	b.node(ordered, err)
	on := func(pairs ...string) (keys []plan.JoinKey) {
		for i := 0; i < len(pairs); i += 2 {
			keys = append(keys, plan.JoinKey{Left: expr.Col(pairs[i]), Right: expr.Col(pairs[i+1])})
		}
		return keys
	}
	of := func(kind join.Kind, left, right plan.Node, pairs ...string) plan.Node {
		return b.join(left, right, plan.JoinOptions{Kind: kind, Keys: on(pairs...)})
	}
	const (
		scan    = "scan 0 records"
		fewRows = "filter id_r == 1\n"
		reduced = " group by id: s_qty = sum(qty)\n  semi join on id = id_r\n   " + scan + "\n   " + fewRows + "    " + scan + "\n"
		plain   = " group by id: s_qty = sum(qty)\n  " + scan + "\n"
		right   = " " + fewRows + "  " + scan
	)
	compare(t, "reduce groups", map[string]c{
		"inner, left":  {of(join.Inner, groups, few, "id", "id_r"), "inner join on id = id_r\n" + reduced + right},
		"inner, right": {of(join.Inner, few, groups, "id_r", "id"), "inner join on id_r = id\n" + right + "\n" + reduced[:len(reduced)-1]},
		"semi":         {of(join.Semi, groups, few, "id", "id_r"), "semi join on id = id_r\n" + reduced + right},
		"left":         {of(join.Left, groups, few, "id", "id_r"), "left join on id = id_r\n" + plain + right},
		"left, right":  {of(join.Left, few, groups, "id_r", "id"), "left join on id_r = id\n" + right + "\n" + reduced[:len(reduced)-1]},
		"anti, right":  {of(join.Anti, few, groups, "id_r", "id"), "anti join on id_r = id\n" + right + "\n" + reduced[:len(reduced)-1]},
		"right":        {of(join.Right, groups, few, "id", "id_r"), "right join on id = id_r\n" + reduced + right},
		"full":         {of(join.Full, groups, few, "id", "id_r"), "full join on id = id_r\n" + plain + right},
		"many":         {of(join.Inner, groups, other, "id", "id_r"), "inner join on id = id_r\n" + plain + " " + scan},
		"a sum":        {of(join.Inner, groups, few, "s_qty", "id_r"), "inner join on s_qty = id_r\n" + plain + right},
		"in order":     {of(join.Inner, ordered, few, "id", "id_r"), "inner join on id = id_r\n" + plain + right},
		"two keys": {of(join.Inner, few, byTwo, "city_r", "city", "id_r", "n", "qty_r", "s_qty"),
			"inner join on city_r = city, id_r = n, qty_r = s_qty\n" + right + "\n select city, n = next, s_qty\n  filter s_qty > 2\n   group by next = id + 1, city: s_qty = sum(qty)\n    semi join on city = city_r, id + 1 = id_r\n     " + scan + "\n     " + fewRows + "      " + scan},
		"read twice": {b.union(groups, b.project(of(join.Semi, groups, few, "id", "id_r"), id, expr.Col("s_qty"))),
			"union of 2 tables\n" + plain + " select id, s_qty\n  semi join on id = id_r\n   group by id: s_qty = sum(qty)\n    " + scan + "\n   " + fewRows + "    " + scan},
	})
}
