package gpuframe_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// gated is a record reader that stops before its second record until it is opened.
type gated struct {
	array.RecordReader
	read   int
	inside chan struct{}
	open   chan struct{}
}

func newGated(t *testing.T, records []arrow.Record) *gated {
	t.Helper()
	reader, err := array.NewRecordReader(records[0].Schema(), records)
	require.NoError(t, err)
	return &gated{RecordReader: reader, inside: make(chan struct{}), open: make(chan struct{})}
}

func (g *gated) Next() bool {
	if g.read++; g.read == 2 {
		close(g.inside)
		<-g.open
	}
	return g.RecordReader.Next()
}

// smallEngine is an engine on the host with a budget, which is closed without memory in use.
func smallEngine(t *testing.T, budget uint64) *gpuframe.Engine {
	t.Helper()
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(budget))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, e.Manager().Stats().InUse)
		require.NoError(t, e.Close())
	})
	return e
}

// statsOf returns the statistics of the queries with a tag.
func statsOf(e *gpuframe.Engine, tag string) gpuframe.QueryStats {
	list := e.Queries()
	at := slices.IndexFunc(list, func(s gpuframe.QueryStats) bool { return s.Tag == tag })
	if at < 0 {
		return gpuframe.QueryStats{}
	}
	return list[at]
}

// outcome is the end of a query on another goroutine.
type outcome struct {
	lines []string
	err   error
}

// start collects a query on another goroutine.
func start(t *testing.T, ctx context.Context, q gpuframe.Query, options ...gpuframe.RunOption) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		f, err := q.Collect(ctx, options...)
		if err != nil {
			done <- outcome{err: err}
			return
		}
		list, err := textOf(f)
		done <- outcome{list, errors.Join(err, f.Release())}
	}()
	return done
}

// textOf returns the rows of a frame as text.
func textOf(f *gpuframe.Frame) (list []string, err error) {
	record, err := f.Record(context.Background())
	if err != nil {
		return nil, err
	}
	defer record.Release()
	for i := range int(record.NumRows()) {
		line := ""
		for _, c := range record.Columns() {
			line += c.ValueStr(i) + " "
		}
		list = append(list, strings.TrimSuffix(line, " "))
	}
	return list, nil
}

// TestQueryWaitsForMemory runs a query next to one that holds most of the memory and cannot
// give it up. It waits until the other has ended, and then runs.
func TestQueryWaitsForMemory(t *testing.T) {
	records := drawn(t, 1, 2, 40000)
	little, half := records[1].NewSlice(0, 10), records[1].NewSlice(0, 10000)
	defer little.Release()
	defer half.Release()
	id, key := gpuframe.Col("id"), gpuframe.Col("key")
	// All rows of a partition must be in memory together. Because of the filter, the query
	// does not know their number in advance.
	whole := func(e *gpuframe.Engine) gpuframe.Query {
		return e.Records(nil, half).Filter(id.Ge(0)).With(id.Sum().Over(gpuframe.By(gpuframe.Col("few"))).As("sum")).Select(gpuframe.Count().As("n"), gpuframe.Col("sum").Max())
	}
	alone := smallEngine(t, 1<<30)
	want := collect(t, whole(alone))
	needed := alone.Manager().Stats().Peak
	e := smallEngine(t, 1<<30)
	tenant, err := e.Tenant("tenant", 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, tenant.Close()) }()
	for _, on := range []*gpuframe.Engine{e, tenant} {
		name := on.Manager().Name()
		reader := newGated(t, []arrow.Record{records[0], little})
		open := sync.OnceFunc(func() { close(reader.open) })
		defer open()
		// A sort holds its first table while it reads the second one.
		holds := start(t, t.Context(), e.Reader(reader).Sort(key).Select(id.Sum().As("sum")), gpuframe.Tag("holder "+name))
		select {
		case <-reader.inside:
		case done := <-holds:
			t.Fatal(done.err)
		}
		require.Equal(t, 1, statsOf(e, "holder "+name).Running)
		held := e.Manager().Stats().InUse
		require.Positive(t, held)
		const free = 60_000 // less than the rows that must be in memory together
		require.GreaterOrEqual(t, held+free, needed)
		require.NoError(t, e.Manager().SetBudget(held+free))

		_, err := whole(on).Collect(t.Context(), gpuframe.NoWait())
		require.ErrorIs(t, err, memory.ErrBudget)
		require.Equal(t, held, e.Manager().Stats().InUse)

		ctx, cancel := context.WithCancel(t.Context())
		cancelled := start(t, ctx, whole(on), gpuframe.Tag("cancelled "+name))
		untilWaiting(t, on, "cancelled "+name)
		cancel()
		require.ErrorIs(t, (<-cancelled).err, context.Canceled)

		waits := start(t, t.Context(), whole(on), gpuframe.Tag("waits "+name))
		untilWaiting(t, on, "waits "+name)
		_, err = whole(on).Collect(t.Context(), gpuframe.NoWait(), gpuframe.Tag("third"))
		require.ErrorIs(t, err, gpuframe.ErrBusy)
		require.ErrorIs(t, err, memory.ErrBudget)
		require.Equal(t, held, e.Manager().Stats().InUse, "a query that waits holds nothing")

		open()
		require.NoError(t, (<-holds).err)
		done := <-waits
		require.NoError(t, done.err)
		require.Equal(t, want, done.lines)
		stats := statsOf(on, "waits "+name)
		require.Equal(t, gpuframe.QueryStats{Tag: "waits " + name, Completed: 1, Waits: 1, Peak: stats.Peak}, stats)
		require.Positive(t, stats.Peak)
		require.EqualValues(t, 1, statsOf(on, "third").Failed)
		require.Zero(t, e.Manager().Stats().InUse)
		require.NoError(t, e.Manager().SetBudget(1<<30))
	}
}

// untilWaiting returns when a query with a tag waits.
func untilWaiting(t *testing.T, e *gpuframe.Engine, tag string) {
	t.Helper()
	await.Until(t, func() bool {
		stats := statsOf(e, tag)
		require.Zero(t, stats.Completed+stats.Failed, "the query has ended without waiting: %+v", stats)
		return stats.Waiting == 1
	}, "the query waits")
}

// TestManyQueriesUnderASmallBudget runs queries of all kinds at the same time. Together they
// need many times the budget, and each of them needs most of it. None fails.
func TestManyQueriesUnderASmallBudget(t *testing.T) {
	rows, rounds := 1000, 1
	if !testing.Short() {
		rows, rounds = 6000, 3
	}
	records, others := drawn(t, 3, 4, rows), drawn(t, 4, 4, rows)
	e := smallEngine(t, 350_000)
	tenant, err := e.Tenant("half", 300_000)
	require.NoError(t, err)
	defer func() { require.NoError(t, tenant.Close()) }()
	id, key, text := gpuframe.Col("id"), gpuframe.Col("key"), gpuframe.Col("text")
	queries := []func(e *gpuframe.Engine) gpuframe.Query{
		func(e *gpuframe.Engine) gpuframe.Query { return e.Records(nil, records...).Sort(text, id).Head(20) },
		func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).GroupBy(key).Agg(id.Sum()).Select(gpuframe.Count().As("n"), id.Sum().As("id"))
		},
		func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Join(e.Records(nil, others...), gpuframe.Inner, key).Select(gpuframe.Count().As("n"), id.Sum().As("id"))
		},
		func(e *gpuframe.Engine) gpuframe.Query { return e.Records(nil, records...).Top(20, text, id) },
	}
	large := engineOn(t, e.Device())
	want := make([][]string, len(queries))
	for i, q := range queries {
		want[i] = collect(t, q(large))
	}
	folder := t.TempDir()
	var group sync.WaitGroup
	for round := range rounds {
		for i, q := range queries {
			for on, engine := range []*gpuframe.Engine{e, tenant} {
				group.Go(func() {
					got := <-start(t, t.Context(), q(engine))
					if got.err != nil || !slices.Equal(got.lines, want[i]) {
						t.Errorf("query %d: %v, rows as expected: %v", i, got.err, slices.Equal(got.lines, want[i]))
					}
				})
				if i > 0 {
					continue
				}
				group.Go(func() {
					path := filepath.Join(folder, fmt.Sprint(round, i, on))
					n, err := q(engine).WriteFile(t.Context(), path, gpuframe.CSV())
					if err != nil || int(n) != len(want[i]) {
						t.Errorf("query %d: %d rows were written: %v", i, n, err)
					}
				})
			}
		}
	}
	group.Wait()
	for _, s := range append(e.Queries(), tenant.Queries()...) {
		require.Zero(t, s.Waiting+s.Running, s.Tag)
		require.Zero(t, s.InUse, s.Tag)
	}
}

// TestQueriesThatShareABudget runs twenty queries in a budget for four at the same time. They have their
// memory, and do not halve their tables: they make few more requests than one after another.
func TestQueriesThatShareABudget(t *testing.T) {
	records, others := drawn(t, 1, 8, 4000), drawn(t, 2, 2, 4000)
	e := smallEngine(t, 1<<30)
	id, key, text := gpuframe.Col("id"), gpuframe.Col("key"), gpuframe.Col("text")
	run := func(i int) error {
		q := e.Records(nil, records...).Filter(id.Gt(i)).Join(e.Records(nil, others...).Select(key, text.As("other")), gpuframe.Inner, key).
			GroupBy(key).Agg(id.Sum(), text.Min()).Sort(key)
		f, err := q.Collect(t.Context())
		if err != nil {
			return err
		}
		return f.Release()
	}
	require.NoError(t, run(0))
	require.NoError(t, e.Manager().SetBudget(4*e.Manager().Stats().Peak))
	const queries = 20
	e.Manager().ResetCounts()
	for i := range queries {
		require.NoError(t, run(i))
	}
	alone := e.Manager().Stats()
	require.Zero(t, alone.Failures)
	e.Manager().ResetCounts()
	var group sync.WaitGroup
	for i := range queries {
		group.Go(func() {
			if err := run(i); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	together := e.Manager().Stats()
	require.LessOrEqual(t, together.Allocations, alone.Allocations*13/10)
	require.Zero(t, together.Failures)
}

// TestRetriesAreNoFailures divides the rows of a query, which is no failure, and reports one of a query
// that fails.
func TestRetriesAreNoFailures(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		e, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(600_000))
		require.NoError(t, err)
		reported := 0
		stop := e.Manager().Observe(memory.Observer{Failed: func(f memory.Failure) {
			reported++
			require.Equal(t, "fails", f.Tag)
		}})
		defer stop()
		q := e.Records(nil, drawn(t, 1, 4, 8000)...)
		sorted := q.Sort(gpuframe.Col("text")).Select(gpuframe.Col("id"))
		require.Len(t, lines(t, sorted), 32_000)
		stats := e.Manager().Stats()
		require.Zero(t, stats.Failures)
		require.Positive(t, stats.Retries)
		_, err = q.Filter(gpuframe.Col("id").Ge(0)).Distinct("id").Collect(t.Context(), gpuframe.Tag("fails"))
		require.ErrorIs(t, err, memory.ErrBudget)
		require.EqualValues(t, 1, e.Manager().Stats().Failures)
		require.Equal(t, 1, reported)
		require.NoError(t, e.Close())
	})
}

// TestManyIterationsUnderASmallBudget iterates over results at the same time, with queries
// inside of the loops. A query may fail because an iteration holds memory; no row is wrong,
// and nothing waits forever.
func TestManyIterationsUnderASmallBudget(t *testing.T) {
	records, others := drawn(t, 3, 4, 1000), drawn(t, 4, 4, 1000)
	e := smallEngine(t, 250_000)
	id, key, text := gpuframe.Col("id"), gpuframe.Col("key"), gpuframe.Col("text")
	queries := []gpuframe.Query{
		e.Records(nil, records...).Sort(text, id).Select(text, id),
		e.Records(nil, records...).GroupBy(key).Agg(id.Sum()).Select(gpuframe.Count().As("n"), id.Sum().As("id")),
		e.Records(nil, records...).Join(e.Records(nil, others...), gpuframe.Inner, key).Select(gpuframe.Count().As("n"), id.Sum().As("id")),
	}
	want := make([][]string, len(queries))
	for i, q := range queries {
		want[i] = collectBatches(t, q, nil)
	}
	var group sync.WaitGroup
	for i, q := range queries {
		for range 2 {
			group.Go(func() {
				inner := func() {
					if f, err := queries[1].Collect(t.Context()); err == nil {
						err = f.Release()
						if err != nil {
							t.Error(err)
						}
					} else if !errors.Is(err, memory.ErrBudget) {
						t.Error(err)
					}
				}
				if got := collectBatches(t, q, inner); got != nil && !slices.Equal(got, want[i]) {
					t.Errorf("query %d: %d other rows", i, len(got))
				}
			})
		}
	}
	group.Wait()
}

// collectBatches returns the rows of a query, or nil if memory was short. It calls inside in the loop.
func collectBatches(t *testing.T, q gpuframe.Query, inside func()) (list []string) {
	for f, err := range q.Batches(t.Context()) {
		if err != nil {
			if !errors.Is(err, memory.ErrBudget) {
				t.Error(err)
			}
			return nil
		}
		lines, err := textOf(f)
		if inside != nil && len(list) == 0 {
			inside()
		}
		if err = errors.Join(err, f.Release()); err != nil {
			t.Error(err)
		}
		list = append(list, lines...)
	}
	return list
}
