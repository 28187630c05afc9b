package gpuframe_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// TestSlicesOfSlices compares slices whose offsets add up to more than an int64 with a model.
func TestSlicesOfSlices(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		values := []int64{0, 1, 2, 5, math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64}
		q := e.Records(nil, counting(t, 6))
		rows := collect(t, q)
		cut := func(rows []string, offset, length int64) []string {
			rows = rows[min(offset, int64(len(rows))):]
			return rows[:min(length, int64(len(rows)))]
		}
		for i := range len(values) * len(values) {
			a, b := values[i%len(values)], values[i/len(values)]
			for _, length := range []int64{2, math.MaxInt64} {
				want := cut(cut(rows, a, length), b, length)
				got := collect(t, q.Slice(a, length).Slice(b, length))
				require.Equal(t, want, append([]string{}, got...), "Slice(%d, %d).Slice(%d, %d)", a, length, b, length)
			}
		}
	})
}

// TestLargestArguments passes the largest and the smallest int to functions with a whole number.
func TestLargestArguments(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, twoColumns(t))
		most := math.MaxInt
		w := gpuframe.By().OrderBy(planA)
		require.Equal(t, []string{"1", "2", "3"}, collect(t, q.Select(gpuframe.Tile(most).Over(w))))
		for _, n := range []int{most, most - 1, math.MinInt, math.MinInt + 1} {
			require.Equal(t, []string{"(null)", "(null)", "(null)"}, collect(t, q.Select(planA.Lag(n).Over(w))))
			require.Equal(t, []string{"(null)", "(null)", "(null)"}, collect(t, q.Select(planA.Lead(n).Over(w))))
		}
		require.Equal(t, []string{"[3,2,1]"}, collect(t, q.Select(planA.Largest(most))))
		require.Equal(t, []string{"[1,2,3]"}, collect(t, q.Select(planA.Smallest(most-1))))
		text, err := q.Select(planA.Largest(most)).Explain(t.Context())
		require.NoError(t, err)
		require.Contains(t, text, fmt.Sprintf("largest(a, %d)", most))
		for _, wrong := range []gpuframe.Expr{gpuframe.Tile(math.MinInt).Over(w), planA.Nth(math.MinInt).Over(w), planA.Nth(0).Over(w)} {
			_, err := q.Select(wrong).Collect(t.Context())
			require.Error(t, err)
		}
	})
}
