package plan_test

import (
	"strings"
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

func TestNarrowJoins(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	left, right := table(t, ""), ofRows(t, "_r", 500)
	cross := b.join(left, right, plan.JoinOptions{Kind: join.Cross})
	id, qty, idR, qtyR := expr.Col("id"), expr.Col("qty"), expr.Col("id_r"), expr.Col("qty_r")
	bounds := id.Lt(qtyR).And(idR.Le(qty))
	unchanged := func(n plan.Node) c { return c{n, strings.Join(lines(n), "\n")} }
	compare(t, "narrow joins", map[string]c{
		"bounds":      {b.filter(cross, bounds), "cross join where (id < qty_r) and (id_r <= qty)\n scan 0 records\n scan 0 records"},
		"more":        {b.filter(cross, id.Add(expr.Lit(1)).Gt(idR).And(id.Lt(qtyR)).And(expr.Col("city").Eq(expr.Col("city_r")))), "cross join where (((id + 1) > id_r) and (id < qty_r)) and (city == city_r)\n scan 0 records\n scan 0 records"},
		"inner":       {b.join(left, right, plan.JoinOptions{Kind: join.Inner, Where: bounds}), "cross join where (id < qty_r) and (id_r <= qty)\n scan 0 records\n scan 0 records"},
		"one bound":   unchanged(b.filter(cross, id.Lt(qtyR).And(id.Le(idR)))),
		"equality":    unchanged(b.filter(cross, id.Eq(idR))),
		"mixed sides": unchanged(b.filter(cross, id.Add(idR).Gt(qty))),
		"one side":    unchanged(b.filter(cross, id.Gt(qty))),
		"few rows":    unchanged(b.filter(b.join(left, ofRows(t, "_r", 1), plan.JoinOptions{Kind: join.Cross}), bounds)),
		"read twice":  unchanged(b.union(b.filter(cross, bounds), cross)),
		"keys":        unchanged(b.filter(b.join(left, right, plan.JoinOptions{Kind: join.Inner, Keys: []plan.JoinKey{{Left: id, Right: idR}}}), bounds)),
	})
}
