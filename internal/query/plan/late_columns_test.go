package plan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

func TestLateColumns(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	parquet, err := source.ParquetReaderAt("f", bytes.NewReader(nil), 0)
	require.NoError(t, err)
	file := func(rows int64) plan.Node { return b.node(plan.NewScan(parquet, table(t, "").Schema(), rows, true)) }
	id, qty, price, city := expr.Col("id"), expr.Col("qty"), expr.Col("price"), expr.Col("city")
	all, records := file(10_000), ofRows(t, "", 10_000)
	filtered := b.filter(all, expr.Col("flag"))
	unchanged := func(n plan.Node) c { return c{n, strings.Join(lines(n), "\n")} }
	compare(t, "late columns", map[string]c{
		"file":           {b.sort(all, 5, qty), "select id, price, qty, city, flag\n fetch 4 columns of parquet f\n  top 5 by qty\n   number rows\n    scan parquet f, 1 of 5 columns"},
		"filter":         {b.sort(filtered, 5, qty), "select id, price, qty, city, flag\n fetch 3 columns of parquet f\n  top 5 by qty\n   filter flag\n    number rows\n     scan parquet f, 2 of 5 columns"},
		"two filters":    {b.sort(b.filter(filtered, id.Gt(expr.Lit(int32(1)))), 5, price), "select id, price, qty, city, flag\n fetch 2 columns of parquet f\n  top 5 by price\n   filter id > 1\n    filter flag\n     number rows\n      scan parquet f, 3 of 5 columns"},
		"projection":     {b.sort(b.project(filtered, id.As("i"), qty.Add(id).As("sum"), city, price), 5, expr.Col("sum")), "select i = id, sum = qty + id, city, price\n select id, price, qty, city, flag\n  fetch 2 columns of parquet f\n   top 5 by qty + id\n    filter flag\n     number rows\n      scan parquet f, 3 of 5 columns"},
		"unknown rows":   unchanged(b.sort(file(-1), 5, qty)),
		"few rows":       unchanged(b.sort(file(1000), 5, qty)),
		"a large limit":  unchanged(b.sort(file(1<<30), 5000, qty)),
		"no limit":       unchanged(b.sort(all, plan.All, qty)),
		"records":        unchanged(b.sort(records, 5, qty)),
		"narrow":         unchanged(b.sort(b.filter(all, city.IsValid()), 5, price)),
		"read by two":    unchanged(b.union(b.sort(filtered, 5, qty), filtered)),
		"an operation":   unchanged(b.sort(b.slice(all, 0, 9000), 5, qty)),
		"limit of scans": unchanged(b.sort(all.(*plan.Scan).WithLimit(9000), 5, qty)),
	})
}
