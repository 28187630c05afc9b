package parallel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

func TestRunCoversEveryRowOnce(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 1000, 4096} {
		for _, parts := range []int{1, 2, 3, 7, 100} {
			rows := make([]int, n)
			require.NoError(t, parallel.Run(t.Context(), n, parts, func(_, begin, end int) {
				assert.True(t, begin%64 == 0 || begin == end, "rows %d to %d of %d", begin, end, n)
				for i := begin; i < end; i++ {
					rows[i]++
				}
			}))
			for i, times := range rows {
				require.Equal(t, 1, times, "row %d of %d in %d parts", i, n, parts)
			}
		}
	}
}

func TestRunEndsWithTheContext(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	assert.ErrorIs(t, parallel.Run(ctx, 100, 2, func(part, _, _ int) {
		if part == 0 {
			end()
		}
	}), context.Canceled)
	assert.ErrorIs(t, parallel.Run(ctx, 100, 1, func(int, int, int) { t.Error("ran after the end of the context") }), context.Canceled)
}

func TestPartsAreWorthAGoroutine(t *testing.T) {
	assert.Equal(t, 1, parallel.Parts(0))
	assert.Equal(t, 1, parallel.Parts(2*parallel.PartRows-1))
	assert.LessOrEqual(t, parallel.Parts(1<<30), 1<<30/parallel.PartRows)
}
