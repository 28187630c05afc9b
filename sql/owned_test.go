package sql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
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

// TestCreateAfterClose tests that CREATE TABLE of a closed session fails and keeps no memory, also if the session is closed
// while it runs.
func TestCreateAfterClose(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	var session *sql.Session
	session = sql.NewWith(engine, sql.Options{Table: func(string) (gpuframe.Query, error) {
		return gpuframe.From(engine, []order{{ID: 1}}), session.Close()
	}})
	_, err = session.Exec(t.Context(), "create table before as select 1 as n")
	require.NoError(t, err)
	_, err = session.Exec(t.Context(), "create table during as select id from closes")
	require.ErrorIs(t, err, gpuframe.ErrClosed)
	_, err = session.Exec(t.Context(), "create table after as select 1 as n")
	require.ErrorIs(t, err, gpuframe.ErrClosed)
	require.ErrorContains(t, err, "the session is closed")
	require.Empty(t, answer(t, session, "show tables")[len("name"):])
	require.NoError(t, session.Close())
	require.Zero(t, engine.Manager().Stats().InUse)
}

// TestTwoSessions tests that the dropped tables of a session make room for those of another one.
func TestTwoSessions(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(12<<20))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	first, second := sql.New(engine), sql.New(engine)
	for i := range 60 {
		session := []*sql.Session{first, second}[i%2]
		_, err := session.Exec(t.Context(), "create or replace table t as select range as n from range(65000)")
		require.NoError(t, err)
	}
	require.NoError(t, first.Close())
	require.Equal(t, "n; 65000", answer(t, second, "select count(*) as n from t"))
	_, err = second.Exec(t.Context(), "drop table t")
	require.NoError(t, err)
	require.NoError(t, second.Close())
	require.Zero(t, engine.Manager().Stats().InUse)
}

// TestConcurrentDrops tests that queries have all rows of their table while it is replaced and dropped.
func TestConcurrentDrops(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(64<<20))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	session := sql.New(engine)
	var group errgroup.Group
	for range 2 {
		group.Go(func() error {
			for i := range 30 {
				text := "create or replace table t as select range as n from range(200000)"
				if i%3 == 2 {
					text = "drop table if exists t"
				}
				if _, err := session.Exec(t.Context(), text); err != nil {
					return err
				}
			}
			return nil
		})
		group.Go(func() error {
			for range 60 {
				rows, err := session.Exec(t.Context(), "select n from t where n >= 100000")
				var fault *parse.Error
				if errors.As(err, &fault) && strings.Contains(fault.Message, "no table is called") {
					continue
				}
				if err != nil || rows != 100_000 {
					return errors.Join(err, fmt.Errorf("%d rows", rows))
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.NoError(t, session.Close())
	require.Zero(t, engine.Manager().Stats().InUse)
}
