package gpuframe_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestSmallestBudget runs queries with the budgets that they report, on data of many times
// that size, and with one byte less.
func TestSmallestBudget(t *testing.T) {
	batches, rows := 3, 5000
	if !testing.Short() {
		batches = 6
	}
	records, others := drawn(t, 1, batches, rows), drawn(t, 2, batches, rows)
	large := engineOn(t, devicetest.Open(t, "host"))
	id, key, few, text := gpuframe.Col("id"), gpuframe.Col("key"), gpuframe.Col("few"), gpuframe.Col("text")
	from := func(e *gpuframe.Engine) gpuframe.Query { return e.Records(nil, records...) }
	for name, query := range map[string]func(e *gpuframe.Engine) gpuframe.Query{
		"scan":   from,
		"column": func(e *gpuframe.Engine) gpuframe.Query { return from(e).Select(id) },
		"filter": func(e *gpuframe.Engine) gpuframe.Query { return from(e).Filter(id.Gt(7)) },
		"few":    func(e *gpuframe.Engine) gpuframe.Query { return from(e).Select(few).Filter(few.Gt(1)) },
		"project": func(e *gpuframe.Engine) gpuframe.Query {
			return from(e).With(id.Add(key).As("x"), text.Upper().As("u"))
		},
		"sort":    func(e *gpuframe.Engine) gpuframe.Query { return from(e).Sort(key, text, id) },
		"numbers": func(e *gpuframe.Engine) gpuframe.Query { return from(e).Select(key).Sort(key) },
		"groups":  func(e *gpuframe.Engine) gpuframe.Query { return from(e).GroupBy(key).Agg(id.Sum(), text.Min()) },
		"fewgroups": func(e *gpuframe.Engine) gpuframe.Query {
			return from(e).GroupBy(few).Agg(id.Sum(), key.Mean().As("mean"))
		},
		"sum": func(e *gpuframe.Engine) gpuframe.Query { return from(e).Select(id.Sum(), key.Min()) },
		"computed sums": func(e *gpuframe.Engine) gpuframe.Query {
			var sums []gpuframe.Expression
			for i := range 9 {
				sums = append(sums, few.Add(i).Sum().As(fmt.Sprint("sum ", i)))
			}
			return from(e).Select(sums)
		},
		"computed sum": func(e *gpuframe.Engine) gpuframe.Query { return from(e).Select(few.Add(1).Sum().As("sum")) },
		"top":          func(e *gpuframe.Engine) gpuframe.Query { return from(e).Top(50, text, id) },
		"join": func(e *gpuframe.Engine) gpuframe.Query {
			return from(e).Join(e.Records(nil, others...), gpuframe.Inner, key)
		},
		"several": func(e *gpuframe.Engine) gpuframe.Query {
			return from(e).Filter(few.Lt(2)).With(id.Mul(2).As("twice")).Join(e.Records(nil, others...).Select(key, text), gpuframe.Left, key).
				GroupBy(key).Agg(gpuframe.Col("twice").Sum(), gpuframe.Count().As("n")).Sort(key)
		},
	} {
		t.Run(name, func(t *testing.T) {
			needs, err := query(large).Needs(t.Context())
			require.NoError(t, err)
			e := smallEngine(t, needs.Smallest)
			got, want := lines(t, query(e)), lines(t, query(large))
			slices.Sort(got)
			slices.Sort(want)
			require.True(t, slices.Equal(want, got), "%d and %d rows", len(want), len(got))
			require.LessOrEqual(t, e.Manager().Stats().Peak, needs.Smallest)

			require.NoError(t, e.Manager().SetBudget(needs.Smallest-1))
			_, err = query(e).Collect(t.Context(), gpuframe.Tag("small"))
			var refused *gpuframe.NeedsError
			require.ErrorAs(t, err, &refused)
			require.ErrorIs(t, err, memory.ErrBudget)
			assert.Equal(t, gpuframe.NeedsError{Tag: "small", Needed: needs.Smallest, Budget: needs.Smallest - 1}, *refused)
		})
	}
}

// TestRefusedQueryReadsNothing leaves a reader that can be read once as it is.
func TestRefusedQueryReadsNothing(t *testing.T) {
	record := sales(t)
	reader, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
	require.NoError(t, err)
	e := smallEngine(t, 100)
	q := e.Reader(reader).Sort(qty)
	_, err = q.Collect(t.Context())
	require.ErrorContains(t, err, "the budget is 100 B: open the engine with a larger Budget")
	require.NoError(t, e.Manager().SetBudget(1<<20))
	require.Len(t, collect(t, q), 6)
}

// TestRefusedResultReadsNothing refuses a result that cannot fit as one frame, and reads it in parts.
func TestRefusedResultReadsNothing(t *testing.T) {
	records := drawn(t, 1, 20, 2000)
	e := smallEngine(t, 300_000)
	q := e.Records(nil, records...).Select(gpuframe.Col("id"), gpuframe.Col("text")).Sort(gpuframe.Col("text")).Tail(36_000)
	_, err := q.Collect(t.Context(), gpuframe.Tag("large"))
	var refused *gpuframe.NeedsError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, gpuframe.NeedsError{Tag: "large", Needed: 36_000 * 12, Budget: 300_000, Rows: 36_000}, *refused)
	require.ErrorContains(t, err, "has 36,000 rows, which need 422 KiB of device memory at least as one frame, and the budget is 293 KiB: read it in parts with Batches")
	require.Zero(t, e.Manager().Stats().Peak)
	require.Len(t, lines(t, q), 36_000)
	require.Len(t, collect(t, q.Tail(10)), 10)
	// Columns of a frame, and a column that is yielded twice, share their memory.
	f, err := e.Records(nil, records...).Select(gpuframe.Col("id").Mul(2), gpuframe.Col("id").Mul(2).As("twice")).Head(8000).Collect(t.Context())
	require.NoError(t, err)
	again, err := f.Query().Select(gpuframe.Col("id"), gpuframe.Col("id").As("b"), gpuframe.Col("twice"), gpuframe.Col("twice").As("c")).Collect(t.Context())
	require.NoError(t, err)
	require.NoError(t, errors.Join(f.Release(), again.Release()))
}

func TestNeeds(t *testing.T) {
	record := sales(t)
	e := engineOn(t, devicetest.Open(t, "host"))
	q := e.Records(nil, record).Select(qty)
	needs, err := q.Needs(t.Context())
	require.NoError(t, err)
	assert.Equal(t, gpuframe.Needs{Rows: 6, Exact: true, Bytes: 24, Smallest: needs.Smallest}, needs)
	text, err := q.Explain(t.Context())
	require.NoError(t, err)
	assert.Contains(t, text, "result of 6 rows, 24 B; smallest budget ")
	assert.Equal(t, "result of unknown size; smallest budget 1.0 KiB", gpuframe.Needs{Rows: -1, Smallest: 1024}.String())
	_, err = q.Filter(gpuframe.Col("missing").Gt(1)).Needs(t.Context())
	var refused *gpuframe.QueryError
	require.ErrorAs(t, err, &refused)
}
