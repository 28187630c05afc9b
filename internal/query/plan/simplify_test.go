package plan_test

import (
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

func TestSimplifyConditions(t *testing.T) {
	b := builder{t}
	flag, qty, id, price := expr.Col("flag"), expr.Col("qty"), expr.Col("id"), expr.Col("price")
	large, null := qty.Gt(expr.Lit(5)), expr.Null(arrow.FixedWidthTypes.Boolean)
	scan := "\n scan 0 records"
	type c = struct {
		plan plan.Node
		want string
	}
	cases := map[string]c{}
	for name, of := range map[string]struct {
		condition expr.Expr
		want      string
	}{
		"true":                   {large.And(expr.Lit(true)), "filter qty > 5" + scan},
		"always":                 {expr.Lit(true).Or(large), "scan 0 records"},
		"never":                  {large.And(expr.Lit(2).Lt(expr.Lit(1))), "no rows"},
		"null is false":          {large.Or(null), "filter qty > 5" + scan},
		"null is not false":      {large.And(flag.Eq(null)).Not(), "filter not(qty > 5) or (flag != null of bool)" + scan},
		"double not":             {flag.Not().Not(), "filter flag" + scan},
		"not of or":              {flag.Or(qty.Eq(expr.Lit(1))).Not(), "filter not(flag) and (qty != 1)" + scan},
		"arithmetic":             {qty.Gt(expr.Lit(2).Mul(expr.Lit(3))), "filter qty > 6 of int64" + scan},
		"twice":                  {large.And(flag).And(qty.Gt(expr.Lit(5))), "filter (qty > 5) and flag" + scan},
		"common":                 {large.And(flag).Or(price.IsNull().And(qty.Gt(expr.Lit(5)))), "filter (qty > 5) and (flag or is_null(price))" + scan},
		"absorbed":               {large.Or(large.And(flag)), "filter qty > 5" + scan},
		"no nulls":               {id.IsValid().And(flag), "filter flag" + scan},
		"not null":               {id.IsNull(), "no rows"},
		"nullable":               {price.IsValid(), "filter is_valid(price)" + scan},
		"choice":                 {expr.If(expr.Lit(1).Gt(expr.Lit(2)), large, flag), "filter flag" + scan},
		"exponential stays":      {price.Gt(expr.Lit(1.0).Exp()), "filter price > exp(1)" + scan},
		"comparison of floats":   {price.Lt(expr.Lit(1)).Not(), "filter not(price < 1)" + scan},
		"equal floats":           {price.Eq(expr.Lit(1)).Not(), "filter price != 1" + scan},
		"other columns are kept": {price.Eq(price), "filter price == price" + scan},
		"dates":                  {expr.Lit(time.Unix(0, 0)).Year().Eq(expr.Lit(1970)).And(flag), "filter flag" + scan},
	} {
		cases[name] = c{b.filter(table(t, ""), of.condition), of.want}
	}
	compare(t, "simplify", cases)
}

func TestSimplifyOperations(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	all := table(t, "")
	id := []expr.Expr{expr.Col("id")}
	none := b.filter(all, expr.Lit(false))
	keys := []plan.JoinKey{{Left: expr.Col("id"), Right: expr.Col("id")}}
	compare(t, "simplify", map[string]c{
		"projection":         {b.project(all, expr.Lit(1).Add(expr.Lit(1)).As("two"), expr.Col("id").IsNull()), "select two = 2 of int64, is_null(id) = false\n scan 0 records"},
		"sort by constants":  {b.sort(all, 3, expr.Lit(1), expr.Lit(2).Add(expr.Lit(2))), "head 3\n scan 0 records"},
		"sort twice":         {b.sort(all, plan.All, expr.Col("id"), expr.Lit(1), expr.Col("id")), "sort by id\n scan 0 records"},
		"none of a sort":     {b.sort(all, 0, expr.Col("id")), "no rows"},
		"none of a slice":    {b.slice(all, 3, 0), "no rows"},
		"up":                 {b.sort(b.window(b.project(none, expr.Col("id"), expr.Col("qty")), id, sums("qty")...), plan.All, expr.Col("id")), "no rows"},
		"groups":             {b.aggregate(none, id, sums("qty")...), "no rows"},
		"one row":            {b.aggregate(none, nil, sums("qty")...), "aggregate s_qty = sum(qty)\n no rows"},
		"union":              {b.union(none, all), "scan 0 records"},
		"union of some":      {b.union(all, none, all), "union of 2 tables\n scan 0 records\n scan 0 records"},
		"union of none":      {b.union(none, none), "no rows"},
		"inner join":         {b.join(all, none, plan.JoinOptions{Kind: join.Inner, Keys: keys}), "no rows"},
		"left join":          {b.join(all, none, plan.JoinOptions{Kind: join.Left, Keys: keys}), "left join on id\n scan 0 records\n no rows"},
		"right join":         {b.join(all, none, plan.JoinOptions{Kind: join.Right, Keys: keys}), "no rows"},
		"anti join":          {b.join(all, none, plan.JoinOptions{Kind: join.Anti, Keys: keys}), "scan 0 records"},
		"condition of joins": {b.join(all, all, plan.JoinOptions{Kind: join.Full, Keys: keys, Where: expr.Lit(1).Lt(expr.Lit(2))}), "full join on id\n scan 0 records\n scan 0 records"},
	})
}
