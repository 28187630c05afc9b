package plan_test

import (
	"strings"
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

func TestDropKeys(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, qty, price, city, literal := expr.Col("id"), expr.Col("qty"), expr.Col("price"), expr.Col("city"), expr.Lit(int32(1))
	all := table(t, "")
	by := func(keys ...expr.Expr) plan.Node { return b.aggregate(all, keys, sums("qty")...) }
	with := func(options plan.GroupOptions) plan.Node {
		grouped, err := plan.NewAggregate(all, []expr.Expr{id, id.Add(literal).As("next")}, sums("qty"), options)
		return b.node(grouped, err)
	}
	unchanged := func(n plan.Node) c { return c{n, strings.Join(lines(n), "\n")} }
	const scan = "scan 0 records"
	compare(t, "drop keys", map[string]c{
		"computed":          {by(id, id.Sub(literal).As("before"), id.Add(literal).As("next")), "select id, before = id - 1, next = id + 1, s_qty\n group by id: s_qty = sum(qty)\n  " + scan},
		"of two, renamed":   {by(id.As("i"), expr.Coalesce(qty, expr.Lit(int64(0))).Gt(id).As("more"), qty.As("q")), "select i, more = coalesce(q, 0) > i, q, s_qty\n group by i = id, q = qty: s_qty = sum(qty)\n  " + scan},
		"text":              {by(city, city.IsNull().As("none")), "select city, none = is_null(city), s_qty\n group by city: s_qty = sum(qty)\n  " + scan},
		"twice":             {by(id, id.As("again")), "select id, again = id, s_qty\n group by id: s_qty = sum(qty)\n  " + scan},
		"a literal":         {by(literal.As("one"), id), "select one = 1, id, s_qty\n group by id: s_qty = sum(qty)\n  " + scan},
		"only literals":     unchanged(by(literal.As("one"), expr.Lit("x").As("x"))),
		"no column as key":  unchanged(by(id.Add(literal).As("next"), id.Sub(literal).As("before"))),
		"of another column": unchanged(by(id, qty.Add(expr.Lit(int64(1))).As("more"))),
		"a float":           unchanged(by(price, expr.Lit(1.0).Div(price).As("inverse"), price.As("again"))),
		"without nulls":     unchanged(with(plan.GroupOptions{DropNulls: true})),
		"sorted":            unchanged(with(plan.GroupOptions{Order: group.ByKey})),
		"one row":           unchanged(b.aggregate(all, nil, sums("qty")...)),
	})
}
