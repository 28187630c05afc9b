package plan_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

func TestPushLimits(t *testing.T) {
	b := builder{t}
	type c = struct {
		plan plan.Node
		want string
	}
	id, qty := expr.Col("id"), expr.Col("qty")
	all := table(t, "")
	sorted := b.sort(all, plan.All, qty)
	next := id.Add(expr.Lit(1)).As("next")
	compare(t, "push limits", map[string]c{
		"scan":             {b.slice(all, 0, 5), "head 5\n scan 0 records, at most 5 rows"},
		"scan of a slice":  {b.slice(all, 2, 5), "slice of 5 rows after 2\n scan 0 records, at most 7 rows"},
		"more than all":    {b.slice(all, 0, 5000), "head 5000\n scan 0 records"},
		"tail":             {b.slice(all, -5, 5), "tail 5\n scan 0 records"},
		"skip":             {b.slice(all, 5, plan.All), "skip 5\n scan 0 records"},
		"top":              {b.slice(sorted, 0, 5), "top 5 by qty\n scan 0 records"},
		"top of fewer":     {b.slice(b.sort(all, 3, qty), 0, 5), "top 3 by qty\n scan 0 records"},
		"middle of a sort": {b.slice(sorted, 2, 5), "slice of 5 rows after 2\n top 7 by qty\n  scan 0 records"},
		"projection":       {b.slice(b.project(all, next), 0, 5), "select next = id + 1\n head 5\n  scan 0 records, at most 5 rows"},
		"top, projected":   {b.slice(b.project(sorted, next), 0, 5), "select next = id + 1\n top 5 by qty\n  scan 0 records"},
		"slice of a slice": {b.slice(b.slice(all, 10, 20), 5, 30), "slice of 15 rows after 15\n scan 0 records, at most 30 rows"},
		"filter":           {b.slice(b.filter(all, qty.IsValid()), 0, 5), "head 5\n filter is_valid(qty)\n  scan 0 records"},
		"union":            {b.slice(b.union(all, sorted), 0, 5), "head 5\n union of 2 tables\n  head 5\n   scan 0 records, at most 5 rows\n  top 5 by qty\n   scan 0 records"},
		"group":            {b.slice(b.aggregate(sorted, []expr.Expr{id}), 0, 5), "head 5\n distinct id\n  sort by qty\n   scan 0 records"},
		"read by two":      {b.union(b.slice(sorted, 0, 5), sorted), "union of 2 tables\n head 5\n  sort by qty\n   scan 0 records\n sort by qty\n  scan 0 records"},
		"a scan of two":    {b.union(b.slice(all, 0, 5), all), "union of 2 tables\n head 5\n  scan 0 records, at most 5 rows\n scan 0 records"},
	})
}
