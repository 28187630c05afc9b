package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/groupby"
	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/joins"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestJoins compares the answers to the questions of joins row by row.
func TestJoins(t *testing.T) {
	p, err := openPeer(2)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.close()) }()
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, d := range []groupby.Data{{Rows: 30_000, Seed: 1}, {Rows: 5000, Nulls: 10, Sorted: true, Seed: 2}} {
			require.NoError(t, joinings(t.Context(), mgr, p, d, 1))
		}
	})
}

// TestWrongJoins requires that another answer is found to differ.
func TestWrongJoins(t *testing.T) {
	p, err := openPeer(2)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.close()) }()
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		tables := joins.Data{Rows: 3000, Seed: 3}.Generate()
		defer tables.Release()
		loaded, err := tables.Load(mgr)
		require.NoError(t, err)
		require.NoError(t, p.load(t.Context(), tables))
		q := joins.Questions[4]
		for _, change := range []string{
			"update x set v1 = v1 + 1 where id3 = (select min(id3) from big join x using (id3))",
			"update big set v2 = v2 + 1 where id3 = (select min(id3) from big join x using (id3))",
			"update big set id6 = 'id1' where id3 = (select max(id3) from big join x using (id3))",
			"delete from big where id3 = (select min(id3) from big join x using (id3))",
		} {
			require.NoError(t, p.execute(change))
			_, err := p.measure(q.SQL(), 1)
			require.NoError(t, err)
			require.Error(t, compareJoins(t.Context(), q, loaded, p), change)
			require.NoError(t, p.load(t.Context(), tables))
		}
		_, err = p.measure(q.SQL(), 1)
		require.NoError(t, err)
		require.NoError(t, compareJoins(t.Context(), q, loaded, p))
		require.NoError(t, loaded.Release())
	})
}
