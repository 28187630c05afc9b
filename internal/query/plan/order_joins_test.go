package plan_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// rowsOf is a scan of some rows of integer columns.
func rowsOf(t *testing.T, rows int64, columns ...string) plan.Node {
	t.Helper()
	fields := make([]arrow.Field, len(columns))
	for i, name := range columns {
		fields[i] = arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64}
	}
	schema := arrow.NewSchema(fields, nil)
	of, err := source.Records(schema)
	require.NoError(t, err)
	scan, err := plan.NewScan(of, schema, rows, true)
	require.NoError(t, err)
	return scan
}

func (b builder) inner(left plan.Node, leftKey string, right plan.Node, rightKey string) plan.Node {
	b.Helper()
	return b.join(left, right, plan.JoinOptions{Kind: join.Inner, Keys: []plan.JoinKey{{Left: expr.Col(leftKey), Right: expr.Col(rightKey)}}})
}

// free is a join whose order is free.
func (b builder) free(n plan.Node) plan.Node {
	b.Helper()
	options := n.(*plan.Join).Options()
	options.AnyOrder = true
	return b.join(n.Inputs()[0], n.Inputs()[1], options)
}

func TestOrderJoins(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	region, nation := rowsOf(t, 5, "r"), rowsOf(t, 25, "n", "nr")
	customer, order := rowsOf(t, 1000, "c", "cn"), rowsOf(t, 10_000, "o", "oc")
	count := plan.Aggregation{Function: "sum", Values: []expr.Expr{expr.Col("o")}, Name: "s"}
	first := plan.Aggregation{Function: "first", Values: []expr.Expr{expr.Col("o")}, Name: "s"}
	one := b.filter(region, expr.Col("r").Eq(expr.Lit(3)))
	chain := b.inner(b.inner(b.inner(order, "oc", customer, "c"), "cn", nation, "n"), "nr", one, "r")
	sum := func(n plan.Node) plan.Node { return b.aggregate(n, nil, count) }
	small := b.inner(customer, "c", order, "oc")
	compare(t, "order joins", map[string]c{
		// The only region first: a fifth of the nations, of the customers and of the orders.
		"chain": {sum(chain), "aggregate s = sum(o)\n" +
			" inner join on oc = c\n  scan 0 records\n" +
			"  inner join on cn = n\n   scan 0 records\n" +
			"   inner join on nr = r\n    scan 0 records\n    filter r == 3\n     scan 0 records"},
		"condition": {sum(b.filter(b.inner(small, "cn", nation, "n"), expr.Col("o").Gt(expr.Col("n")))), "aggregate s = sum(o)\n select c, cn, o, oc, n, nr\n" +
			"  inner join on oc = c where o > n\n   scan 0 records\n   inner join on cn = n\n    scan 0 records\n    scan 0 records"},
		"sides":           {sum(small), "aggregate s = sum(o)\n select c, cn, o, oc\n  inner join on oc = c\n   scan 0 records\n   scan 0 records"},
		"order is read":   {small, "inner join on c = oc\n scan 0 records\n scan 0 records"},
		"any order":       {b.inner(b.free(small), "cn", nation, "n"), "inner join on cn = n\n select c, cn, o, oc\n  inner join on oc = c in any order\n   scan 0 records\n   scan 0 records\n scan 0 records"},
		"the first value": {b.aggregate(small, nil, first), "aggregate s = first(o)\n inner join on c = oc\n  scan 0 records\n  scan 0 records"},
		"top":             {sum(b.sort(small, 3, expr.Col("c"))), "aggregate s = sum(o)\n top 3 by c\n  inner join on c = oc\n   scan 0 records\n   scan 0 records"},
		"renamed": {sum(b.join(rowsOf(t, 10, "a", "o"), rowsOf(t, 20, "b", "o"), plan.JoinOptions{Kind: join.Inner, Keys: []plan.JoinKey{{Left: expr.Col("a"), Right: expr.Col("b")}}})),
			"aggregate s = sum(o)\n inner join on a = b\n  scan 0 records\n  scan 0 records"},
		"a semi join's right side": {b.join(region, small, plan.JoinOptions{Kind: join.Semi, Keys: []plan.JoinKey{{Left: expr.Col("r"), Right: expr.Col("cn")}}}),
			"semi join on r = cn\n scan 0 records\n select c, cn, o, oc\n  inner join on oc = c\n   scan 0 records\n   scan 0 records"},
	})
}

func TestRelaxOrder(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	pairs := b.inner(rowsOf(t, 10, "a", "x"), "a", rowsOf(t, 10, "b"), "b")
	sum := plan.Aggregation{Function: "sum", Values: []expr.Expr{expr.Col("x")}, Name: "s"}
	const scans = "\n  scan 0 records\n  scan 0 records"
	compare(t, "relax order", map[string]c{
		"group":        {b.aggregate(pairs, []expr.Expr{expr.Col("a")}, sum), "group by a: s = sum(x)\n inner join on a = b in any order" + scans},
		"key of float": {b.aggregate(pairs, []expr.Expr{expr.Col("a").Cast(arrow.PrimitiveTypes.Float64)}, sum), "group by cast(a as float64): s = sum(x)\n inner join on a = b" + scans},
		"distinct":     {b.distinct(pairs), "distinct a, x, b\n inner join on a = b" + scans},
		"sort":         {b.sort(pairs, plan.All, expr.Col("a")), "sort by a\n inner join on a = b" + scans},
		"head":         {b.aggregate(b.slice(pairs, 0, 5), nil, sum), "aggregate s = sum(x)\n head 5\n  inner join on a = b\n   scan 0 records\n   scan 0 records"},
		"window":       {b.window(pairs, nil, sum), "over all rows: s = sum(x)\n inner join on a = b" + scans},
		"both":         {b.union(pairs, b.aggregate(pairs, []expr.Expr{expr.Col("a"), expr.Col("x"), expr.Col("b")})), "union of 2 tables\n inner join on a = b" + scans + "\n distinct a, x, b\n  inner join on a = b\n   scan 0 records\n   scan 0 records"},
	})
}
