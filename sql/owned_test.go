package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/sql"
)

// TestDroppedTables tests that DROP and CREATE OR REPLACE release the memory of a table when no query is on it.
func TestDroppedTables(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		engine, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(24<<20))
		require.NoError(t, err)
		defer func() { require.NoError(t, engine.Close()) }()
		session := sql.New(engine)
		inUse := func() uint64 { return engine.Manager().Stats().InUse }
		exec := func(text string) {
			t.Helper()
			_, err := session.Exec(t.Context(), text)
			require.NoError(t, err, text)
		}
		const create = "create or replace table big as select range as n, range * 2 as m from range(500000)" // 8 MB
		exec(create)
		size := inUse()
		require.Greater(t, size, uint64(4<<20))
		for range 5 { // the budget has no room for many
			exec(create)
		}
		require.LessOrEqual(t, inUse(), 2*size)
		await.Collected(t, func() bool { exec("create or replace table small as select 1 as n"); return inUse() < size+size/2 }, "the replaced tables are released")

		query, err := session.Query(t.Context(), "select count(*) as n, sum(n) as s from big")
		require.NoError(t, err)
		exec("create view odd as select count(*) as n from big where n % 2 = 1")
		exec("drop table big")
		require.GreaterOrEqual(t, inUse(), size, "a query and a view are on the table")
		frame, err := query.Collect(t.Context())
		require.NoError(t, err)
		require.NoError(t, frame.Release())
		require.Equal(t, "n; 250000", answer(t, session, "from odd"))
		exec("drop view odd")
		query = gpuframe.Query{}
		await.Collected(t, func() bool {
			exec("drop table small")
			exec("create table small as select 2 as n")
			return inUse() < size/2
		}, "the dropped table is released")
		require.NoError(t, session.Close())
		require.Zero(t, inUse())
	})
}

// TestReclaimedTables tests that a dropped table makes room when the budget is short.
func TestReclaimedTables(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(12<<20))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	session := sql.New(engine)
	defer func() { require.NoError(t, session.Close()) }()
	for range 40 { // of half a megabyte: none of them starts the garbage collector
		_, err := session.Exec(t.Context(), "create or replace table t as select range as n from range(65000)")
		require.NoError(t, err)
	}
	require.Equal(t, "n; 65000", answer(t, session, "select count(*) as n from t"))
}
