package sql_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// TestConcurrentCreate tests that one of several statements that create a table of one name makes it, that the others
// fail or, with IF NOT EXISTS, do nothing, and that their memory is released at once.
func TestConcurrentCreate(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(256<<20))
	require.NoError(t, err)
	session := sql.New(engine)
	inUse := func() uint64 { return engine.Manager().Stats().InUse }
	for _, c := range []struct {
		create   string
		ofLosers bool // whether these fail
		size     uint64
	}{
		{"create table a as select range as n from range(20000)", true, 8 * 20000},
		{"create view b as select 1 as n", true, 0},
		{"create table if not exists c as select range as n from range(20000)", false, 8 * 20000},
	} {
		before := inUse()
		var group errgroup.Group
		var winners, losers atomic.Int64
		for range 8 {
			group.Go(func() error {
				rows, err := session.Exec(t.Context(), c.create)
				var exists *parse.Error
				switch {
				case err != nil && (!c.ofLosers || !errors.As(err, &exists)):
					return err
				case err != nil || rows == 0 && c.size > 0:
					losers.Add(1)
				default:
					winners.Add(1)
				}
				return nil
			})
		}
		require.NoError(t, group.Wait(), c.create)
		require.Equal(t, [2]int64{1, 7}, [2]int64{winners.Load(), losers.Load()}, c.create)
		require.Less(t, inUse()-before, c.size+c.size/2+1, c.create)
	}
	require.Equal(t, "n; 20000", answer(t, session, "select count(*) as n from a"))
	require.NoError(t, session.Close())
	require.Zero(t, inUse())
	require.NoError(t, engine.Close())
}
