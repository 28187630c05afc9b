package sql

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// forcedCollections is the number of calls of runtime.GC.
func forcedCollections() int {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.NumForcedGC)
}

// opened returns a session on an engine, which are closed by the caller, with tables of half a megabyte.
func opened(t *testing.T, options []gpuframe.Option, tables ...string) (*gpuframe.Engine, *Session) {
	t.Helper()
	engine, err := gpuframe.Open(options...)
	require.NoError(t, err)
	session := New(engine)
	for _, name := range tables {
		_, err := session.Exec(t.Context(), "create table "+name+" as select range as n from range(65000)")
		require.NoError(t, err)
	}
	return engine, session
}

// TestCollections tests that shortages of memory do not start the garbage collector each time while a query is on a
// dropped table.
func TestCollections(t *testing.T) {
	engine, session := opened(t, []gpuframe.Option{gpuframe.Device("host"), gpuframe.Budget(4 << 20)}, "old")
	query, err := session.Query(t.Context(), "select sum(n) as s from old")
	require.NoError(t, err)
	_, err = session.Exec(t.Context(), "drop table old")
	require.NoError(t, err)
	before, begin := forcedCollections(), time.Now()
	const shortages = 200
	for range shortages {
		_, err := session.Exec(t.Context(), "create table big as select range as n from range(2000000)")
		require.ErrorIs(t, err, memory.ErrBudget)
	}
	require.Less(t, forcedCollections()-before, 3+int(time.Since(begin)/collectionInterval))
	frame, err := query.Collect(t.Context())
	require.NoError(t, err)
	require.NoError(t, frame.Release())
	require.NoError(t, session.Close())
	require.Zero(t, engine.Manager().Stats().InUse)
	require.NoError(t, engine.Close())
}

// TestReclaimedDevice tests that a shortage of one manager releases its own tables alone.
func TestReclaimedDevice(t *testing.T) {
	engine, session := opened(t, []gpuframe.Option{gpuframe.Device("host")}, "old")
	query, err := session.Query(t.Context(), "from old")
	require.NoError(t, err)
	_, err = session.Exec(t.Context(), "drop table old")
	require.NoError(t, err)
	size := session.owned.list[0].frame.Table().Bytes()
	reclaim := func(m *memory.Manager) uint64 {
		released, err := (&droppedTables{&session.owned, m}).Reclaim(t.Context(), size)
		require.NoError(t, err)
		return released
	}
	require.Zero(t, reclaim(engine.Manager()), "a query is on it")
	runtime.KeepAlive(query)
	query = gpuframe.Query{}
	session.owned.collector.drop() // else the next run is a second later

	before := forcedCollections()
	require.Zero(t, reclaim(devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})), "the table is of another manager")
	require.Equal(t, before, forcedCollections())
	var released uint64
	await.Collected(t, func() bool { released = reclaim(engine.Manager()); return released > 0 }, "the table is released")
	require.Equal(t, size, released)
	require.NoError(t, session.Close())
	require.NoError(t, engine.Close())
}

// TestFailingRelease tests that a release that fails is the error of Close, and not of the statement that has dropped the
// table.
func TestFailingRelease(t *testing.T) {
	engine, session := opened(t, []gpuframe.Option{gpuframe.Device("host")}, "old", "other")
	for _, owned := range session.owned.list {
		require.NoError(t, owned.frame.Release())
		owned.inUse = func() bool { return false }
	}
	rows, err := session.Exec(t.Context(), "create or replace table old as select 1 as n")
	require.NoError(t, err)
	require.EqualValues(t, 1, rows)
	_, err = session.Exec(t.Context(), "drop table other")
	require.NoError(t, err)
	require.Error(t, session.Close())
	require.NoError(t, session.Close())
	require.Zero(t, engine.Manager().Stats().InUse)
	require.NoError(t, engine.Close())
}
