package sql_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestKeptStatements tests that a statement with the same arguments has the same query until a name changes, and that
// statements which may have another query each time do not.
func TestKeptStatements(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	csv := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(csv, []byte("a\n1\n"), 0o600))
	_, err := session.Exec(t.Context(), fmt.Sprintf("create view file as from '%s'", csv))
	require.NoError(t, err)
	isKept := func(text string, arguments ...any) bool {
		first, err := session.Query(t.Context(), text, arguments...)
		require.NoError(t, err, text)
		second, err := session.Query(t.Context(), text, arguments...)
		require.NoError(t, err, text)
		return first == second
	}
	for _, text := range []string{
		"select id, price * 2 as p from orders where buyer = 1", "with o as (from orders) select count(*) from o join customers c on o.buyer = c.id",
		"values (1), (2)", "select 1", "from orders tablesample reservoir(2 rows) repeatable (3)", "select (select max(price) from orders) as m",
	} {
		require.True(t, isKept(text), text)
	}
	for _, text := range []string{
		"from orders using sample 2 rows", "pivot orders on note using sum(price)", "explain from orders", "describe orders", "summarize orders",
		"with recursive r as (select 1 as n union all select n + 1 from r where n < 3) from r", "from orders limit (select count(*) from file)",
		"from file", "select count(*) from orders, file", fmt.Sprintf("describe select * from '%s'", csv),
	} {
		require.False(t, isKept(text), text)
	}
	moment := time.Date(2024, 2, 3, 4, 5, 6, 7000, time.UTC)
	require.True(t, isKept("select id from orders where id > $1 and note = $2 and $3 > date '2020-01-01'", 1, "gift", moment))
	for _, arguments := range [][2]any{{1, 2}, {1, int32(1)}, {"1", 1}, {1, nil}, {true, 1}, {moment, moment.Add(time.Microsecond)}, {1.5, 2.5}} {
		first, err := session.Query(t.Context(), "select $1 as v", arguments[0])
		require.NoError(t, err)
		second, err := session.Query(t.Context(), "select $1 as v", arguments[1])
		require.NoError(t, err)
		require.NotEqual(t, first, second, arguments)
	}
	require.Equal(t, "id; 2; 3; 4; 5", answer(t, session, "select id from orders where id > $1", 1))
	require.Equal(t, "id; 4; 5", answer(t, session, "select id from orders where id > $1", 3))

	const all = "select * from numbers"
	for n := range 3 {
		_, err := session.Exec(t.Context(), fmt.Sprintf("create or replace table numbers as select %d as n%d", n, n))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("n%d; %d", n, n), answer(t, session, all))
		require.True(t, isKept(all))
	}
	_, err = session.Exec(t.Context(), "drop table numbers")
	require.NoError(t, err)
	_, err = session.Query(t.Context(), all)
	require.ErrorContains(t, err, "numbers")
	for i := range 200 { // more than are kept
		require.Equal(t, fmt.Sprintf("v; %d", i), answer(t, session, fmt.Sprintf("select %d as v", i)))
	}
}

// TestKeptStatementsTogether runs statements from several goroutines while their table is replaced: each sees the old
// rows or the new ones, and after the last change none sees old rows.
func TestKeptStatementsTogether(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	_, err := session.Exec(t.Context(), "create table t as select 0 as n")
	require.NoError(t, err)
	var tasks errgroup.Group
	for range 4 {
		tasks.Go(func() error {
			for range 50 {
				query, err := session.Query(t.Context(), "select n from t")
				if err != nil {
					return err
				}
				frame, err := query.Collect(t.Context())
				if err != nil {
					return err
				}
				if err := frame.Release(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for i := range 20 {
		_, err := session.Exec(t.Context(), fmt.Sprintf("create or replace table t as select %d as n", i))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("n; %d", i), answer(t, session, "select n from t"))
	}
	require.NoError(t, tasks.Wait())
}

// TestKeptStatementsEnd tests that a statement that is kept ends with its context, as others do.
func TestKeptStatementsEnd(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	_, err := session.Query(t.Context(), "select 1")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = session.Query(ctx, "select 1")
	require.ErrorIs(t, err, context.Canceled)
}
