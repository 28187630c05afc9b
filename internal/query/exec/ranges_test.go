package exec_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// arrivals counts the rows that move to each manager.
type arrivals struct {
	mu   sync.Mutex
	rows map[*memory.Manager]int64
}

// move is the Move of settings.
func (a *arrivals) move(ctx context.Context, table *buffer.Buffer, m *memory.Manager) (*buffer.Buffer, error) {
	rows, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.rows[m] += rows
	a.mu.Unlock()
	return exchange.Copy(ctx, table, m)
}

// scatter is the Scatter of settings.
func (a *arrivals) scatter(ctx context.Context, parts []*buffer.Buffer, to []*memory.Manager) ([]*buffer.Buffer, error) {
	for i, part := range parts {
		if part == nil {
			continue
		}
		rows, err := part.NumRows(ctx)
		if err != nil {
			return nil, err
		}
		a.mu.Lock()
		a.rows[to[i]] += rows
		a.mu.Unlock()
	}
	return exchange.Scatter(ctx, parts, to)
}

// settingsOnSeveral are for a number of devices of the host.
func settingsOnSeveral(t *testing.T, devices int) (exec.Settings, *arrivals) {
	t.Helper()
	var settings exec.Settings
	for i, dev := range devicetest.Hosts(t, devices) {
		m := devicetest.Manager(t, dev, memory.Options{})
		spilling := &exec.Spilling{Manager: m}
		t.Cleanup(func() { require.NoError(t, spilling.Close()) })
		if i == 0 {
			settings = exec.Settings{Manager: m, Spilling: spilling, Turns: &exec.Turns{}}
		} else {
			settings.Others = append(settings.Others, exec.Member{Manager: m, Spilling: spilling})
		}
	}
	counts := &arrivals{rows: map[*memory.Manager]int64{}}
	settings.Move, settings.Scatter = counts.move, counts.scatter
	return settings, counts
}

// TestSortSharesRows sorts rows by keys of which many or all are equal. Each device gets about as
// many rows as the others, and the order of rows with equal keys stays.
func TestSortSharesRows(t *testing.T) {
	const devices, rows = 4, 4000
	n := expr.Col("n")
	for name, c := range map[string]struct {
		key expr.Expr
		of  func(int32) int32
	}{
		"equal keys":     {n.Mod(expr.Lit(1)), func(int32) int32 { return 0 }},
		"two keys":       {n.Mod(expr.Lit(2)), func(n int32) int32 { return n % 2 }},
		"one common key": {n.Mod(expr.Lit(50)).Eq(expr.Lit(7)), func(n int32) int32 { return map[bool]int32{true: 1}[n%50 == 7] }},
		"in order":       {n, func(n int32) int32 { return n }},
		"reversed":       {n.Neg(), func(n int32) int32 { return -n }},
		"mixed":          {n.Mul(expr.Lit(1237)).Mod(expr.Lit(1009)), func(n int32) int32 { return n * 1237 % 1009 }},
	} {
		t.Run(name, func(t *testing.T) {
			scan, _ := numbers(t, rows)
			sort, err := plan.NewSort(scan, []plan.SortKey{{Value: c.key}}, plan.All)
			require.NoError(t, err)
			made, err := plan.Distribute(sort, plan.Devices{Count: devices, Way: "peer copies"})
			require.NoError(t, err)
			settings, counts := settingsOnSeveral(t, devices)
			settings.BatchRows = 40
			values := column(t, made, settings)
			require.Len(t, values, rows)
			for i := 1; i < rows; i++ {
				before, key := c.of(values[i-1]), c.of(values[i])
				require.True(t, before < key || before == key && values[i-1] < values[i], "rows %d and %d", values[i-1], values[i])
			}
			for _, place := range settings.Others {
				// A quarter of a device's quarter was there before.
				arrived := counts.rows[place.Manager]
				require.Less(t, arrived, int64(rows/devices*11/10))
				if name != "in order" && name != "reversed" {
					require.Greater(t, arrived, int64(rows/devices/2))
				}
			}
		})
	}
}
