package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
)

// TestCombineKeepsASinglePartialResult: a single table is not in the list of held tables. It was lost
// if memory was short for its merge.
func TestCombineKeepsASinglePartialResult(t *testing.T) {
	table := &buffer.Buffer{}
	partials := &held{first: table}
	combined, err := (&grouping{}).combine(t.Context(), partials)
	require.NoError(t, err)
	require.False(t, combined)
	require.Same(t, table, partials.first)
}
