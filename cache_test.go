package gpuframe_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// onceReader is a query on records that can be read once.
func onceReader(t *testing.T, e *gpuframe.Engine, records ...arrow.Record) gpuframe.Query {
	t.Helper()
	reader, err := array.NewRecordReader(records[0].Schema(), records)
	require.NoError(t, err)
	t.Cleanup(reader.Release)
	return e.Reader(reader)
}

// TestCache reads a source once for several queries.
func TestCache(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		cached := onceReader(t, e, record, record).Filter(price.Gt(50)).Cache()
		text, err := cached.Explain(t.Context())
		require.NoError(t, err)
		require.Contains(t, text, "cache, empty")
		want := e.Records(nil, record, record).Filter(price.Gt(50))
		for _, verbs := range []func(q gpuframe.Query) gpuframe.Query{
			func(q gpuframe.Query) gpuframe.Query { return q.Select(qty).Head(3) }, // fills it with all rows
			func(q gpuframe.Query) gpuframe.Query { return q },
			func(q gpuframe.Query) gpuframe.Query { return q.Filter(qty.Gt(3)).Union(q.Sort(city)) },
			func(q gpuframe.Query) gpuframe.Query { return q.Join(q, gpuframe.Inner, city) },
			func(q gpuframe.Query) gpuframe.Query { return q.GroupBy(city).Agg(price.Sum()).Sort(city).Cache() },
		} {
			require.Equal(t, collect(t, verbs(want)), collect(t, verbs(cached)))
		}
		text, err = cached.Sort(city).Explain(t.Context())
		require.NoError(t, err)
		require.Contains(t, text, "cache, 8 rows in ")
		require.Positive(t, e.Manager().Stats().InUse)
		frame, err := cached.Collect(t.Context())
		require.NoError(t, err)
		require.NoError(t, cached.Evict())
		require.EqualValues(t, 8, frame.NumRows(), "the frame has its rows")
		require.NoError(t, frame.Release())
		require.NoError(t, cached.Evict(), "a second time")
		_, err = cached.Collect(t.Context())
		require.ErrorIs(t, err, gpuframe.ErrUsed)
	})
}

// TestCacheWith shares the rows of a cache with queries that are made again.
func TestCacheWith(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	first := onceReader(t, e, record).Filter(price.Gt(50)).Cache()
	want := collect(t, first)
	unread, err := array.NewRecordReader(record.Schema(), nil)
	require.NoError(t, err)
	t.Cleanup(unread.Release)
	again := e.Reader(unread).Filter(price.Gt(50)).CacheWith(first)
	require.Equal(t, want, collect(t, again), "nothing is read")
	require.Equal(t, collect(t, first.Sort(city)), collect(t, again.Sort(city)))
	_, err = e.Records(nil, record).Select(city).CacheWith(first).Collect(t.Context())
	require.ErrorIs(t, err, buffer.ErrSchema)
	_, err = e.Records(nil, record).CacheWith(e.Records(nil, record)).Collect(t.Context())
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.NoError(t, again.Evict())
	require.Zero(t, e.Manager().Stats().InUse)
}

// TestCacheFails leaves a cache empty by a query that fails.
func TestCacheFails(t *testing.T) {
	e := smallEngine(t, 1<<20)
	ctx, cancel := context.WithCancelCause(t.Context())
	reader := newGated(t, []arrow.Record{sales(t), sales(t)})
	cached := e.Reader(reader).Cache()
	failing := start(t, ctx, cached)
	<-reader.inside
	waiting := start(t, ctx, cached.Head(1), gpuframe.Tag("waiting"))
	cause := errors.New("no longer needed")
	cancel(cause)
	require.ErrorIs(t, (<-waiting).err, cause, "while it waits for the first one")
	close(reader.open)
	require.ErrorIs(t, (<-failing).err, cause)
	text, err := cached.Explain(t.Context())
	require.NoError(t, err)
	require.Contains(t, text, "cache, empty")
}

// TestCacheIsFilledOnce runs queries at the same time on a source that can be read once.
func TestCacheIsFilledOnce(t *testing.T) {
	e := smallEngine(t, 1<<20)
	record := sales(t)
	cached := onceReader(t, e, record, record).Cache()
	want := collect(t, e.Records(nil, record, record).GroupBy(city).Agg(qty.Sum()))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got := <-start(t, t.Context(), cached.GroupBy(city).Agg(qty.Sum()))
			if got.err != nil || !slices.Equal(got.lines, want) {
				t.Errorf("%v, %v", got.lines, got.err)
			}
		})
	}
	group.Wait()
	require.NoError(t, cached.Evict())
}

// TestCacheBeyondTheBudget caches three times as many bytes as the budget: the cache keeps its
// rows in host memory, and keeps none of them if the host has no room.
func TestCacheBeyondTheBudget(t *testing.T) {
	records := drawn(t, 1, 12, 3000)
	const budget = 12 * 3000 * 29 / 3
	query := func(e *gpuframe.Engine) gpuframe.Query {
		return e.Records(nil, records...).Filter(gpuframe.Col("id").Gt(5))
	}
	want := lines(t, query(engineOn(t, devicetest.Open(t, "host"))))
	for name, c := range map[string]struct {
		options []gpuframe.Option
		kept    string
	}{
		"in host memory": {nil, "cache, 35,994 rows in "},
		"nowhere":        {[]gpuframe.Option{gpuframe.SpillBudget(1000)}, "cache, empty"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := gpuframe.Open(append(c.options, gpuframe.Device("host"), gpuframe.Budget(budget))...)
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Close()) }()
			cached := query(e).Cache()
			for range 2 {
				require.True(t, slices.Equal(want, lines(t, cached)))
				text, err := cached.Explain(t.Context())
				require.NoError(t, err)
				require.Contains(t, text, c.kept)
			}
			require.LessOrEqual(t, e.Manager().Stats().Peak, uint64(budget))
		})
	}
}

// TestCachesMakeRoom lets a query run that needs the memory of a cache.
func TestCachesMakeRoom(t *testing.T) {
	record := drawn(t, 1, 1, 6000)[0]
	id := gpuframe.Col("id")
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<20), gpuframe.SpillBudget(1))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	whole := e.Records(nil, record).Filter(id.Ge(0)).With(id.Sum().Over(gpuframe.By(gpuframe.Col("few"))).As("sum")).Select(gpuframe.Count().As("n"), gpuframe.Col("sum").Max())
	want := collect(t, whole)
	cached := e.Records(nil, record).Cache()
	rows := collect(t, cached)
	require.Positive(t, e.Manager().Stats().InUse)
	require.NoError(t, e.Manager().SetBudget(e.Manager().Stats().InUse+100_000))
	require.Equal(t, want, collect(t, whole))
	require.Zero(t, e.Manager().Stats().InUse, "the cache was released")
	require.NoError(t, e.Manager().SetBudget(1<<20))
	require.Equal(t, rows, collect(t, cached))
}
