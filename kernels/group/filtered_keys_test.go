package group_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/callcount"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// filteredQuery is a query of a condition on rows of manyRows.
type filteredQuery struct {
	keys      []string
	condition expr.Expr
	options   group.ByOptions
}

func filteredQueries() (list []filteredQuery) {
	x, tiny, small := expr.Col("x"), expr.Col("tiny"), expr.Col("small")
	for _, condition := range []expr.Expr{
		x.Gt(expr.Lit(0.5)), tiny.Gt(expr.Lit(uint8(4))), tiny.Eq(expr.Lit(uint8(3))), x.Gt(expr.Lit(100.0)), small.IsValid(), small.IsNull(),
	} {
		for _, keys := range [][]string{{"tiny"}, {"small"}, {"small", "tiny"}, {"tiny", "none"}, {"large"}} {
			list = append(list, filteredQuery{keys, condition, group.ByOptions{Order: group.ByKey}})
		}
	}
	dropping := group.ByOptions{Order: group.ByKey, Nulls: group.DropNulls}
	return append(list, filteredQuery{[]string{"small"}, x.Gt(expr.Lit(0.5)), dropping}, filteredQuery{[]string{"tiny", "none"}, x.Gt(expr.Lit(0.5)), dropping})
}

func (q filteredQuery) run(t *testing.T, table *buffer.Buffer) arrow.Record {
	t.Helper()
	x := expr.Col("x")
	groups, err := group.By(table, group.Columns(q.keys...)...).Where(q.condition).Aggregate(
		strategy.WithGroup(t.Context(), strategy.Group{MeasuredRows: 1, Add: strategy.Tiles}),
		[]group.Aggregate{group.Sum(x.Mul(expr.Lit(2.0))), group.Mean(x), group.CountAll(), group.Min(expr.Col("large"))}, q.options)
	require.NoError(t, err, "%v", q)
	return columntest.Fetch(t, groups)
}

// TestKeysOfFilteredRows compares groups of filtered rows with those of the host, in two orders of the queries: what
// the queries before have learned of the table changes no answer, and no strategy.
func TestKeysOfFilteredRows(t *testing.T) {
	mgr, counted, _ := ofQuantiles(t)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := manyRows(3000)
	defer record.Release()
	queries := filteredQueries()
	tableOf := func(m *memory.Manager) *buffer.Buffer {
		table, err := buffer.FromRecord(m, record)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, table.Release()) })
		return table
	}
	expected, kernels := make([]arrow.Record, len(queries)), make([]map[string]int, len(queries))
	onHost := tableOf(host)
	for i, q := range queries {
		expected[i] = q.run(t, onHost)
	}
	run := func(table *buffer.Buffer, i int) map[string]int {
		counted.Take()
		got := queries[i].run(t, table)
		require.True(t, array.RecordEqual(expected[i], got), "%v:\n%v\n%v", queries[i], expected[i], got)
		calls := counted.Take().Kernels
		for _, measuring := range []string{"reduce", "sketch_keys"} {
			delete(calls, measuring)
		}
		return calls
	}
	table := tableOf(mgr)
	for i := range queries {
		kernels[i] = run(table, i)
	}
	reversed := tableOf(mgr)
	for i := len(queries) - 1; i >= 0; i-- {
		require.Equal(t, kernels[i], run(reversed, i), "%v", queries[i])
	}
}

// TestSecondFilterWaitsOnce pins what the driver does for groups of filtered rows when the table's keys are known: it
// waits for the windows of a sum alone, which count the groups too, and removes no places if all have rows.
func TestSecondFilterWaitsOnce(t *testing.T) {
	mgr, counted, _ := ofQuantiles(t)
	table := fewTable(t, mgr, 3000)
	value := expr.Col("value")
	sum := []group.Aggregate{group.Sum(value.Mul(expr.Lit(2.0))).As("sum")}
	for _, q := range []struct {
		least  float64
		groups int64
		calls  map[string]int
	}{
		{10, 100, map[string]int{callcount.Launch: 7, callcount.Fill: 1, callcount.Download: 1}},
		{980, 59, map[string]int{callcount.Launch: 9, callcount.Fill: 1, callcount.Download: 1}},
	} {
		for i := range 3 {
			counted.Take()
			groups, err := group.By(table, group.Columns("key")...).Where(value.Gt(expr.Lit(q.least))).Aggregate(
				strategy.WithGroup(t.Context(), strategy.Group{MeasuredRows: 1, Add: strategy.Tiles}), sum)
			require.NoError(t, err)
			calls := counted.Take()
			rows, known := groups.HostRows()
			require.True(t, known)
			require.Equal(t, q.groups, rows, fmt.Sprint(q.least))
			require.NoError(t, groups.Release())
			if i > 0 {
				delete(calls.Count, callcount.Query)
				delete(calls.Count, callcount.Event)
				require.Equal(t, q.calls, calls.Count, "%v", calls.Kernels)
			}
		}
	}
}
