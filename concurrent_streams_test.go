package gpuframe_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestQueriesAtTheSameTime runs queries of several kinds at the same time on the same tables, one of
// which is a result of another query. Each has a separate stream, and the answers are those of queries
// alone.
func TestQueriesAtTheSameTime(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		rows, rounds := 20_000, 12
		if devicetest.Emulated(dev) {
			rows, rounds = 1500, 2
		}
		type row struct {
			N    int64  `gpuframe:"n"`
			Name string `gpuframe:"name"`
		}
		values := make([]row, rows)
		for i := range values {
			values[i] = row{int64(i * 7919 % rows), []string{"ada", "bo", "cy", "dee"}[i%4]}
		}
		table, err := gpuframe.From(e, values).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		n := gpuframe.Col("n")
		result, err := table.Query().With(n.Mod(int64(50)).As("k")).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, result.Release()) }()
		all := func() []gpuframe.Query {
			q, r := table.Query(), result.Query()
			return []gpuframe.Query{
				q.Filter(n.Gt(int64(100))).GroupBy(gpuframe.Col("name")).Agg(n.Sum().As("s"), n.Max().As("m")).Sort(gpuframe.Col("name")),
				r.GroupBy(gpuframe.Col("k")).Agg(n.Mean().As("s")).Sort(gpuframe.Col("k")),
				r.With(n.Sum().Over(gpuframe.By(gpuframe.Col("k")).OrderBy(n)).As("w")).Sort(n).Head(300),
				q.Join(r.Filter(gpuframe.Col("k").Eq(int64(3))).Select(n, gpuframe.Col("k")), gpuframe.Inner, gpuframe.On(n, n)).Sort(n),
				q.Sort(n.Desc()).Head(40),
				q,
			}
		}
		var want [][]string
		for _, q := range all() {
			want = append(want, collect(t, q))
		}
		group, _ := errgroup.WithContext(t.Context())
		for client := range 6 {
			group.Go(func() error {
				for round := range rounds {
					i := (client + round) % len(want)
					if got := collect(t, all()[i]); !slices.Equal(want[i], got) {
						return fmt.Errorf("query %d: %v, alone %v", i, got, want[i])
					}
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
	})
}
