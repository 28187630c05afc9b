package allocations

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/race"
)

var kept *[100]byte

func TestPerRun(t *testing.T) {
	calls := 0
	require.Zero(t, PerRun(func() { calls++ }))
	require.Positive(t, calls)
	if !race.Enabled {
		require.EqualValues(t, 1, PerRun(func() { kept = new([100]byte) }))
		first := true
		require.Zero(t, PerRun(func() {
			if first {
				for range runs - 1 {
					kept = new([100]byte)
				}
			}
			first = false
		}), "allocations of others")
	}
}
