package plan_test

import (
	"strings"
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/join"
)

func TestGroupEarly(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, city := expr.Col("id"), expr.Col("city")
	all := table(t, "")
	// whole has a row for every 40 of all.
	whole := ofRows(t, "_f", 25)
	one := func(function, column string) plan.Aggregation {
		return plan.Aggregation{Function: function, Values: []expr.Expr{expr.Col(column)}, Name: function}
	}
	of := func(kind join.Kind, left, right plan.Node, l, r string) plan.Node {
		return b.join(left, right, plan.JoinOptions{Kind: kind, Keys: []plan.JoinKey{{Left: expr.Col(l), Right: expr.Col(r)}}})
	}
	inner, left := of(join.Inner, all, whole, "id", "id_f"), of(join.Left, whole, all, "id_f", "id")
	ordered, err := plan.NewAggregate(inner, []expr.Expr{expr.Col("city_f")}, []plan.Aggregation{one("sum", "id")}, plan.GroupOptions{Order: group.FirstAppearance})
	b.node(ordered, err)
	by := func(n plan.Node, key expr.Expr, list ...plan.Aggregation) plan.Node {
		return b.aggregate(n, []expr.Expr{key}, list...)
	}
	unchanged := func(n plan.Node) c { return c{n, strings.Join(lines(n), "\n")} }
	const (
		scan     = "scan 0 records"
		fewRows  = scan
		joinFew  = "inner join on id = id_f"
		leftJoin = "left join on id_f = id"
	)
	cityF, idF := expr.Col("city_f"), expr.Col("id_f")
	compare(t, "group early", map[string]c{
		"inner": {by(inner, cityF, one("sum", "id"), one("max", "price")), "group by city_f: sum = sum(`early 0`), max = max(`early 1`)\n " + joinFew + "\n  group by id: early 0 = sum(id), early 1 = max(price)\n   " + scan + "\n  " + fewRows},
		"left":  {by(left, idF, one("count_values", "qty")), "select id_f, count_values = fill_null(count_values, 0 of int64)\n group by id_f: count_values = sum(`early 0`)\n  " + leftJoin + "\n   " + fewRows + "\n   group by id: early 0 = count_values(qty)\n    " + scan},
		"key of the values": {b.aggregate(inner, []expr.Expr{id.As("k"), city.IsNull().As("n")}, one("min", "qty")),
			"group by k = id, n = `early key 1`: min = min(`early 0`)\n " + joinFew + "\n  group by id, early key 1 = is_null(city): early 0 = min(qty)\n   " + scan + "\n  " + fewRows},
		"many keys":      unchanged(b.aggregate(inner, []expr.Expr{cityF, city}, one("min", "qty"))),
		"mean":           unchanged(by(inner, cityF, one("mean", "qty"))),
		"sum of int64":   unchanged(by(inner, cityF, one("sum", "qty"))),
		"sum of floats":  unchanged(by(inner, cityF, one("sum", "price"))),
		"both sides":     unchanged(by(inner, cityF, plan.Aggregation{Function: "max", Values: []expr.Expr{expr.Col("price").Add(expr.Col("price_f"))}, Name: "m"})),
		"small side":     unchanged(by(inner, city, one("max", "price_f"))),
		"filtered":       unchanged(by(of(join.Inner, all, b.filter(whole, idF.Eq(expr.Lit(1))), "id", "id_f"), cityF, one("sum", "id"))),
		"float key":      unchanged(by(of(join.Inner, all, whole, "price", "price_f"), cityF, one("sum", "id"))),
		"in order":       unchanged(ordered),
		"semi":           unchanged(by(of(join.Semi, all, whole, "id", "id_f"), id, one("sum", "id"))),
		"rows, left":     unchanged(by(left, idF, plan.Aggregation{Function: "count", Where: expr.Col("qty").Gt(expr.Lit(1)), Name: "n"})),
		"filled, left":   unchanged(by(left, idF, plan.Aggregation{Function: "sum", Values: []expr.Expr{id.FillNull(expr.Lit(int32(1)))}, Name: "s"})),
		"nulls, left":    unchanged(by(left, idF, plan.Aggregation{Function: "count_values", Values: []expr.Expr{city.IsNull()}, Name: "n"})),
		"least, left":    unchanged(by(left, idF, plan.Aggregation{Function: "min", Values: []expr.Expr{expr.If(city.IsNull(), expr.Lit(1), expr.Lit(2))}, Name: "n"})),
		"null key, left": unchanged(b.aggregate(left, []expr.Expr{city.IsNull().As("n")}, one("max", "qty"))),
		"read twice":     unchanged(b.union(by(inner, id, one("max", "id")), b.project(inner, id, id.As("max")))),
	})
}
