package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

func TestShareSums(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	all := table(t, "")
	id, qty, city := expr.Col("id"), expr.Col("qty"), expr.Col("city")
	wide := id.Cast(arrow.PrimitiveTypes.Int64)
	sums := func(values ...expr.Expr) (list []plan.Aggregation) {
		for i, value := range values {
			list = append(list, plan.Aggregation{Function: "sum", Values: []expr.Expr{value}, Name: fmt.Sprint("s", i)})
		}
		return list
	}
	byCity := func(list ...plan.Aggregation) plan.Node { return b.aggregate(all, []expr.Expr{city}, list...) }
	unchanged := func(n plan.Node) c { return c{n, strings.Join(lines(n), "\n")} }
	most := sums(wide.Add(expr.Lit(1)), expr.Lit(2).Add(wide), wide.Sub(expr.Lit(3)), id)
	filtered := sums(wide.Add(expr.Lit(1)), wide.Add(expr.Lit(2)), wide)
	filtered[1].Where = id.Gt(expr.Lit(5))
	many := func(n plan.Node, values ...expr.Expr) plan.Node {
		return b.aggregate(n, []expr.Expr{city}, sums(values...)...)
	}
	narrow := id.Cast(arrow.PrimitiveTypes.Int16).Cast(arrow.PrimitiveTypes.Int64)
	compare(t, "share sums", map[string]c{
		"constants": {byCity(most...), "select city, s0 = `shared sum 0` + (`shared count 0` * 1 of int64), s1 = `shared sum 0` + (`shared count 0` * 2 of int64), " +
			"s2 = `shared sum 0` + (`shared count 0` * -3 of int64), s3 = `shared sum 0`\n" +
			" group by city: shared sum 0 = sum(id), shared count 0 = count_values(id)\n  scan 0 records"},
		"cast to their type": {many(all, wide.Add(expr.Lit(1)).Cast(arrow.PrimitiveTypes.Int64), wide.Add(expr.Lit(2)).Cast(arrow.PrimitiveTypes.Int64), wide), "select city, s0 = `shared sum 0` + (`shared count 0` * 1 of int64), s1 = `shared sum 0` + (`shared count 0` * 2 of int64), s2 = `shared sum 0`\n" +
			" group by city: shared sum 0 = sum(id), shared count 0 = count_values(id)\n  scan 0 records"},
		"many rows": unchanged(many(ofRows(t, "", 1<<31), wide.Add(expr.Lit(1)), wide.Add(expr.Lit(2)), wide.Add(expr.Lit(3)))),
		"narrow terms": {many(b.distinct(all), narrow.Add(expr.Lit(1)), narrow.Add(expr.Lit(2)), narrow), "select city, s0 = `shared sum 0` + (`shared count 0` * 1 of int64), s1 = `shared sum 0` + (`shared count 0` * 2 of int64), s2 = `shared sum 0`\n" +
			" group by city: shared sum 0 = sum(cast(id as int16)), shared count 0 = count_values(cast(id as int16))\n  distinct id, price, qty, city, flag\n   scan 0 records"},
		"few and filtered": {many(b.filter(all, expr.Col("flag")), wide.Add(expr.Lit(1)), wide.Add(expr.Lit(2)), wide), "select city, s0 = `shared sum 0` + (`shared count 0` * 1 of int64), s1 = `shared sum 0` + (`shared count 0` * 2 of int64), s2 = `shared sum 0`\n" +
			" group by city: shared sum 0 = sum(id), shared count 0 = count_values(id)\n  filter flag\n   scan 0 records"},
		"unknown rows":     unchanged(many(b.distinct(all), wide.Add(expr.Lit(1)), wide.Add(expr.Lit(2)), wide.Add(expr.Lit(3)))),
		"may wrap around":  unchanged(byCity(sums(id.Add(expr.Lit(1)), id.Add(expr.Lit(2)), id.Add(expr.Lit(3)))...)),
		"may overflow":     unchanged(byCity(sums(qty.Add(expr.Lit(1)), qty.Add(expr.Lit(2)), qty.Add(expr.Lit(3)))...)),
		"large constants":  unchanged(byCity(sums(wide.Add(expr.Lit(int64(1)<<40)), wide.Add(expr.Lit(int64(1)<<41)), wide.Add(expr.Lit(int64(1)<<42)))...)),
		"two":              unchanged(byCity(sums(wide.Add(expr.Lit(1)), wide.Add(expr.Lit(2)))...)),
		"other conditions": unchanged(byCity(filtered...)),
		"floats":           unchanged(byCity(sums(expr.Col("price").Add(expr.Lit(1)), expr.Col("price").Add(expr.Lit(2)), expr.Col("price"))...)),
		"other term":       unchanged(byCity(sums(expr.Lit(1).Sub(wide), expr.Lit(2).Sub(wide), wide.Mul(expr.Lit(2)))...)),
	})
}
