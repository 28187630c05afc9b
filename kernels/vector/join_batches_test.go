package vector

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// slicesOf divides a table into random parts, some of them empty.
func slicesOf(t *testing.T, table *buffer.Buffer, random *rand.Rand) (parts []*buffer.Buffer) {
	rows := table.Capacity()
	for at := int64(0); at < rows; {
		n := min(random.Int64N(rows), rows-at)
		part, err := table.Slice(at, n)
		require.NoError(t, err)
		parts, at = append(parts, part), at+n
	}
	return parts
}

// TestBatches compares joins with the rows of several tables with those of one.
func TestBatches(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		random := rand.New(rand.NewPCG(1, 5))
		table := vectorTable(t, m, 60)
		for i := range 12 {
			o := JoinOptions{
				K: 1 + i*i, Metric: Metric(i % 3), MatchedOnly: i%2 == 0, Distance: "d", Rank: "r",
				Columns: []JoinColumn{{From: "x", Name: "a"}, {Right: true, From: "y", Name: "place"}, {Right: true, From: "x", Name: "c"}},
			}
			x, y := expr.Col("x"), expr.Col("y")
			rows, err := NewRows(t.Context(), table, table.Schema(), x, y, o)
			require.NoError(t, err)
			whole, err := rows.Join(t.Context(), table, o)
			require.NoError(t, err)
			parts := slicesOf(t, table, random)
			if i%3 == 0 {
				for range 2 {
					none, err := table.Slice(0, 0)
					require.NoError(t, err)
					parts = append([]*buffer.Buffer{none}, parts...)
				}
			}
			b := Batches{Schema: table.Schema(), Rows: table.Capacity(), Each: func(_ context.Context, f func(*buffer.Buffer) error) error {
				for _, part := range parts {
					if err := f(part); err != nil {
						return err
					}
				}
				return nil
			}}
			joined, err := b.Join(t.Context(), table, x, y, o)
			require.NoError(t, err)
			want, err := whole.Record(t.Context())
			require.NoError(t, err)
			got, err := joined.Record(t.Context())
			require.NoError(t, err)
			require.True(t, want.Schema().Equal(got.Schema()), "%v, expected %v", got.Schema(), want.Schema())
			require.Equal(t, want.NumRows(), got.NumRows())
			for c := range int(want.NumCols()) {
				require.Equal(t, want.Column(c).String(), got.Column(c).String(), "column %d, %+v", c, o)
			}
			want.Release()
			got.Release()
			for _, each := range append(parts, whole, joined) {
				require.NoError(t, each.Release())
			}
			require.NoError(t, rows.Release())
		}
		require.NoError(t, table.Release())
	})
}
