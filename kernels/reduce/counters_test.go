package reduce

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestStreamsHaveCountersOfTheirOwn also uses more streams than there are counters.
func TestStreamsHaveCountersOfTheirOwn(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		b := array.NewInt64Builder(arrowmemory.DefaultAllocator)
		defer b.Release()
		const n = 3 * leastPart
		for i := range n {
			b.Append(int64(i))
		}
		a := b.NewArray()
		defer a.Release()
		c, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Release()) }()

		seen := map[uint64]bool{}
		var open []*device.Stream
		for i := range maxCounters + 3 {
			stream, err := dev.NewStream()
			require.NoError(t, err)
			open = append(open, stream)
			number, ok := counterOf(stream)
			require.False(t, ok && seen[number], "stream %d shares counter %d", i, number)
			seen[number] = true
			again, stillOk := counterOf(stream)
			require.Equal(t, number, again)
			require.Equal(t, ok, stillOk)
			if i < 2 || i > maxCounters {
				require.Equal(t, i < 2, ok)
				for range 2 { // the second run finds the counter as the first left it
					sum, err := Column(t.Context(), c, Sum, kernels.Options{Stream: stream})
					require.NoError(t, err)
					got, err := sum.Array(t.Context())
					require.NoError(t, err)
					require.EqualValues(t, n*(n-1)/2, got.(*array.Int64).Value(0))
					got.Release()
					require.NoError(t, sum.Release())
				}
			}
		}
		for _, stream := range open {
			require.NoError(t, stream.Close())
		}
		// The numbers of closed streams are reused, each by one stream at a time.
		again := map[uint64]bool{}
		for range 3 * maxCounters {
			stream, err := dev.NewStream()
			require.NoError(t, err)
			number, ok := counterOf(stream)
			require.NoError(t, stream.Close())
			if ok {
				require.True(t, seen[number])
				again[number] = true
			}
		}
		require.Greater(t, len(again), maxCounters/2)
	})
}

// TestPartsCoverAllRows also checks that the blocks cover all parts.
func TestPartsCoverAllRows(t *testing.T) {
	for _, n := range []int64{0, 1, leastPart, leastPart + 1, 10 * leastPart, leastPart * mostParts, leastPart*mostParts + 1, 1 << 27, 1<<31 + 5, 1 << 40} {
		count, rows := parts(n), rowsOfPart(n)
		require.LessOrEqual(t, count, int64(mostParts))
		require.GreaterOrEqual(t, count*rows, n)
		require.Less(t, (count-1)*rows, max(n, 1))
		require.Zero(t, rows%(mostRows*lanes), "parts are whole steps")
		require.GreaterOrEqual(t, blocksFor(n, false), count)
		for _, fewer := range []int64{n, n / 2, n / 3 * 2, n - 1, 0} {
			require.GreaterOrEqual(t, blocksFor(n, true), parts(max(fewer, 0)))
		}
	}
}
