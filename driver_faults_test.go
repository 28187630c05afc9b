package gpuframe_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

var errBroken = errors.New("the device is broken")

// TestQueriesFailInTheDriver fails kernel loads, launches, transfers and allocations of a query,
// each by itself. The query fails with the cause, leaves nothing behind, and runs afterwards.
func TestQueriesFailInTheDriver(t *testing.T) {
	dev, driver := faulttest.OpenEmulator(t)
	m := devicetest.Manager(t, dev, memory.Options{})
	e := gpuframe.EngineOn(m)
	defer func() { require.NoError(t, e.Close()) }()
	query, want := faultyQuery(t, e)
	run := func(operation string, nth int) error {
		driver.Arm(func(call faulttest.Call) error {
			if call.Operation == operation && call.Nth == nth {
				return errBroken
			}
			return nil
		})
		f, err := query.Collect(t.Context())
		failed := driver.Failed()[operation]
		driver.Arm(nil)
		if err == nil {
			err = f.Release()
			require.Zero(t, failed, "%s, call %d did not fail the query", operation, nth)
		} else {
			require.ErrorIs(t, err, errBroken, "%s, call %d", operation, nth)
		}
		require.Zero(t, m.Stats().InUse, "%s, call %d", operation, nth)
		return err
	}
	loads := 0
	for nth := 1; run("ModuleLoad", nth) != nil; nth = 2 { // each run loads one more module
		loads++
	}
	require.Positive(t, loads)
	driver.Arm(nil)
	require.Equal(t, want, collect(t, query))
	counts := driver.Counts()
	for _, operation := range []string{"Launch", "CopyToDeviceAsync", "CopyToHostAsync", "CopyOnDeviceAsync", "MemsetAsync"} {
		calls := counts[operation]
		for _, nth := range slices.Compact([]int{1, calls / 3, calls / 2, calls - 1, calls}) {
			if nth < 1 || nth > calls { // the query may have no such calls, such as copies on the device
				continue
			}
			// Later calls are reached unless fewer batches are read together.
			if err := run(operation, nth); nth == 1 {
				require.Error(t, err, "%s, %d calls", operation, calls)
			}
		}
	}
	require.Equal(t, want, collect(t, query))
	t.Logf("%d kernel loads failed; driver calls of a run: %v", loads, counts)
}

// faultyQuery is a query on a file and on records, and its result on the host.
func faultyQuery(t *testing.T, e *gpuframe.Engine) (q gpuframe.Query, want []string) {
	records, others := drawn(t, 1, 2, 60), drawn(t, 2, 1, 40)
	path := filepath.Join(t.TempDir(), "rows.parquet")
	host := engineOn(t, devicetest.Open(t, "host"))
	_, err := host.Records(nil, records...).WriteFile(t.Context(), path, gpuframe.Parquet())
	require.NoError(t, err)
	id, key, text := gpuframe.Col("id"), gpuframe.Col("key"), gpuframe.Col("text")
	on := func(e *gpuframe.Engine) gpuframe.Query {
		return e.Parquet(path).Filter(id.Gt(7)).Join(e.Records(nil, others...).Select(key, text.As("other")), gpuframe.Inner, key).
			GroupBy(text).Agg(id.Sum(), gpuframe.Col("other").Min()).Sort(text)
	}
	return on(e), collect(t, on(host))
}
