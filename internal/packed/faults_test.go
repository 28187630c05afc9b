package packed_test

import (
	"maps"
	"slices"
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
	unpack := func() error {
		list, err := packed.Unpack(t.Context(), m, columns, packed.Options{})
		driver.Arm(nil)
		for i, c := range list {
			got, err := c.Array(t.Context())
			require.NoError(t, err)
			require.NoError(t, c.Release())
			requireSame(t, want[i:i+1], got)
		}
		return err
	}
	require.NoError(t, unpack())
	before := m.Stats().InUse
	var calls map[string]int
	driver.Arm(func(faulttest.Call) error { return nil })
	list, err := packed.Unpack(t.Context(), m, columns, packed.Options{})
	require.NoError(t, err)
	calls = driver.Counts()
	driver.Arm(nil)
	for _, c := range list {
		require.NoError(t, c.Release())
	}
	failures := 0
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if slices.Contains(givesBack, name) {
			continue
		}
		for nth := 1; nth <= calls[name]; nth++ {
			driver.Arm(func(c faulttest.Call) error {
				if c.Operation == name && c.Nth == nth {
					return faulttest.ErrDriver
				}
				return nil
			})
			if err := unpack(); err != nil {
				require.ErrorIs(t, err, faulttest.ErrDriver, "%s %d", name, nth)
				require.ErrorContains(t, err, "packed: ")
				failures++
			}
			require.Equal(t, before, m.Stats().InUse, "%s %d", name, nth)
		}
	}
	require.Greater(t, failures, 5)
	require.NoError(t, unpack())
}
