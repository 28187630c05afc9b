package runner

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// open loads the tables of a set on a device.
func open(t *testing.T, dev *device.Device, set question.Set, rows int) *Session {
	e, err := gpuframe.Managed(devicetest.Manager(t, dev, memory.Options{}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	s, err := Open(t.Context(), e, set, rows)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// TestDevices compares the answers of all devices with those of the host. bench/workloads/duckdb compares those with
// DuckDB.
func TestDevices(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		rows := 3000
		if devicetest.Emulated(dev) {
			rows = 200
		}
		for _, set := range Sets {
			t.Run(set.Name, func(t *testing.T) {
				s, host := open(t, dev, set, rows), open(t, devicetest.Open(t, "host"), set, rows)
				for _, q := range set.Questions {
					got, err := s.Answer(t.Context(), q)
					require.NoError(t, err, q.Name)
					want, err := host.Answer(t.Context(), q)
					require.NoError(t, err, q.Name)
					require.Empty(t, got.Difference(want, q.Order), q.Name)
				}
			})
		}
	})
}

// TestQuestions checks what the programs print: names are different, and each function has lines.
func TestQuestions(t *testing.T) {
	names := map[string]bool{}
	for _, set := range Sets {
		lines, err := set.Lines()
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(set.Questions), 26, set.Name)
		for _, q := range set.Questions {
			require.False(t, names[q.Name], q.Name)
			require.True(t, (q.Go == nil) != (q.Fit == nil), q.Name)
			require.Positive(t, lines[q.Name], q.Name)
			require.Greater(t, q.Clauses(), 1, q.Name)
			names[q.Name] = true
		}
	}
}

func TestTotals(t *testing.T) {
	var total Totals
	total.Add(Pair{Cost{2, 8}, Cost{1, 1}})
	total.Add(Pair{Cost{1, 1}, Cost{2, 2}})
	wall, processors := total.Means()
	require.InDelta(t, 1, wall, 1e-12)
	require.InDelta(t, 2, processors, 1e-12)
	require.InDelta(t, 1, total.Wall(), 1e-12)
	require.InDelta(t, 3, total.Processors(), 1e-12)
	require.Equal(t, Cost{1, 2}, Cost{1, 3}.Least(Cost{5, 2}))
}
