package selection_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// TestTakeIsOneLaunch checks the driver calls for a column of numbers.
func TestTakeIsOneLaunch(t *testing.T) {
	parameters := slices.Repeat([]int{8}, 14)
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"take_8_32": {Parameters: parameters}}}
	mgr := devicetest.Manager(t, launchtest.Open(t, gpu), memory.Options{})
	g := arraytest.NewGenerator(1)
	values := g.Array(arrow.PrimitiveTypes.Float64, 1000)
	defer values.Release()
	c := upload(t, mgr, values, 0, 0)
	rows := upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, randomRows(g.Rand, 5000, 1000, true)), 0, 0)
	for _, bounds := range []selection.Bounds{selection.Null, selection.Trust, selection.Null} {
		calls, launches := len(gpu.Calls()), len(gpu.Launches())
		taken, err := selection.TakeColumnWith(t.Context(), c, rows, selection.TakeOptions{Bounds: bounds})
		require.NoError(t, err)
		require.Len(t, gpu.Launches(), launches+1)
		require.EqualValues(t, 3, gpu.Launches()[launches].Config.Grid.X, "tiles of 2,048 rows")
		for _, call := range gpu.Calls()[calls:] {
			require.False(t, strings.Contains(call, "Memset") || strings.Contains(call, "Copy") || strings.Contains(call, "Synchronize"), call)
		}
		require.NoError(t, taken.Release())
	}
}
