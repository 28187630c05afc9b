package packed_test

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

// givesBack holds the calls after a failure of which memory cannot be reused.
var givesBack = []string{"Free", "FreeAsync", "HostFree", "PhysicalRelease", "AddressFree", "Unmap"}

// After any driver call that fails nothing is held, and the columns can be unpacked again.
func TestEveryDriverCallFails(t *testing.T) {
	dev, driver := faulttest.OpenEmulator(t)
	m := devicetest.Manager(t, dev, memory.Options{})
	g := arraytest.NewGenerator(3)
	var columns []packed.Column
	var want []arrow.Array
	for _, dataType := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String} {
		values := g.Array(dataType, 300)
		columns, want = append(columns, pack(t, dataType, []arrow.Array{values})), append(want, values)
	}
	eachCallFails(t, driver, m, func() error {
		list, err := packed.Unpack(t.Context(), m, columns, packed.Options{})
		driver.Arm(nil)
		for i, c := range list {
			got, err := c.Array(t.Context())
			require.NoError(t, err)
			require.NoError(t, c.Release())
			requireSame(t, want[i:i+1], got)
		}
		return err
	})
}

// mostCalls is the number of calls of an operation of the driver that fail, one after the other.
const mostCalls = 12

// eachCallFails fails driver calls of an operation, which disarms the driver before it checks its result. Then the
// operation fails or has its result, holds nothing, and succeeds in the end.
func eachCallFails(t *testing.T, driver *faulttest.Driver, m *memory.Manager, run func() error) {
	require.NoError(t, run())
	before := m.Stats().InUse
	var counting sync.Mutex
	counts := map[string]int{}
	driver.Arm(func(c faulttest.Call) error {
		counting.Lock()
		defer counting.Unlock()
		counts[c.Operation] = max(counts[c.Operation], c.Nth)
		return nil
	})
	require.NoError(t, run())
	failures := 0
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if slices.Contains(givesBack, name) {
			continue
		}
		for nth := 1; nth <= min(counts[name], mostCalls); nth++ {
			driver.Arm(func(c faulttest.Call) error {
				if c.Operation == name && c.Nth == nth {
					return faulttest.ErrDriver
				}
				return nil
			})
			err := run()
			driver.Arm(nil)
			if err != nil {
				require.ErrorIs(t, err, faulttest.ErrDriver, "%s %d", name, nth)
				failures++
			}
			require.Equal(t, before, m.Stats().InUse, "%s %d", name, nth)
		}
	}
	require.Greater(t, failures, 5)
	require.NoError(t, run())
}
