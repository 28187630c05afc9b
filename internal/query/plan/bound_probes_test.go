package plan_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

func TestBoundProbes(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, city := expr.Col("id"), expr.Col("city")
	left, right := table(t, ""), table(t, "_r")
	pair := []plan.JoinKey{{Left: id, Right: expr.Col("id_r")}}
	of := func(kind join.Kind, left plan.Node) plan.Node {
		return b.join(left, right, plan.JoinOptions{Kind: kind, Keys: pair})
	}
	const (
		scan    = "scan 0 records"
		bounded = scan + ", may skip rows unless id is within the bounds of id_r"
	)
	compare(t, "bound probes", map[string]c{
		"inner":      {of(join.Inner, left), "inner join on id = id_r\n " + bounded + "\n " + scan},
		"semi":       {of(join.Semi, left), "semi join on id = id_r\n " + bounded + "\n " + scan},
		"left":       {of(join.Left, left), "left join on id = id_r\n " + scan + "\n " + scan},
		"anti":       {of(join.Anti, left), "anti join on id = id_r\n " + scan + "\n " + scan},
		"filter":     {of(join.Inner, b.filter(left, city.IsValid())), "inner join on id = id_r\n filter is_valid(city)\n  " + bounded + "\n " + scan},
		"renamed":    {of(join.Inner, b.project(left, expr.Col("qty").As("id"))), "inner join on id = id_r\n select id = qty\n  " + scan + ", may skip rows unless qty is within the bounds of id_r\n " + scan},
		"computed":   {of(join.Inner, b.project(left, id.Add(id).As("id"))), "inner join on id = id_r\n select id = id + id\n  " + scan + "\n " + scan},
		"group":      {of(join.Inner, b.aggregate(left, []expr.Expr{id})), "inner join on id = id_r\n distinct id\n  " + bounded + "\n " + scan},
		"head":       {of(join.Inner, b.slice(left, 0, 5)), "inner join on id = id_r\n head 5\n  " + scan + "\n " + scan},
		"top":        {of(join.Inner, b.sort(left, 5, city)), "inner join on id = id_r\n top 5 by city\n  " + scan + "\n " + scan},
		"read twice": {b.union(of(join.Semi, left), left), "union of 2 tables\n semi join on id = id_r\n  " + scan + "\n  " + scan + "\n " + scan},
		"two joins": {b.join(of(join.Inner, left), table(t, "_s"), plan.JoinOptions{Kind: join.Inner, Keys: []plan.JoinKey{{Left: expr.Col("qty_r"), Right: expr.Col("qty_s")}}}),
			"inner join on qty_r = qty_s\n inner join on id = id_r\n  " + bounded + "\n  " + scan + ", may skip rows unless qty_r is within the bounds of qty_s\n " + scan},
	})
}
