package memory_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func testPadded[T memory.Element](t *testing.T, mgr *memory.Manager, value, padding T) {
	t.Helper()
	for _, n := range []int{0, 1, 3, 100_000} {
		for _, room := range []int{0, 1, 7, 200_000} {
			slice, err := memory.NewSlice[T](mgr, n+room, memory.AllocateOptions{})
			require.NoError(t, err)
			source, got := make([]T, n), make([]T, n+room)
			for i := range source {
				source[i] = value
			}
			require.NoError(t, slice.UploadPadded(t.Context(), nil, source, padding))
			require.NoError(t, slice.Download(t.Context(), nil, got))
			for i, each := range got {
				want := padding
				if i < n {
					want = value
				}
				if each != want {
					require.Equal(t, want, each, "element %d of %d and %d", i, n, room)
				}
			}
			require.NoError(t, slice.Release())
		}
	}
}

func TestUploadPadded(t *testing.T) {
	eachTransferDevice(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Staging: memory.StagingOptions{ChunkBytes: 300_000}})
		testPadded[uint8](t, mgr, 1, 0)
		testPadded[uint8](t, mgr, 1, 0xff)
		testPadded[int32](t, mgr, 5, -1)
		testPadded(t, mgr, 1.5, math.Inf(-1))
		testPadded(t, mgr, [2]uint64{1, 2}, [2]uint64{3, 4})
	})
}

func TestRanges(t *testing.T) {
	eachTransferDevice(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		slice, err := memory.NewSlice[int16](mgr, 1000, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, slice.Fill(nil, 1))
		require.NoError(t, slice.UploadRange(t.Context(), nil, 997, []int16{2, 3, 4}))
		own := []int16{-1, -1, -1, -1, -1}
		require.NoError(t, slice.DownloadRange(t.Context(), nil, 996, own[1:4]))
		assert.Equal(t, []int16{-1, 1, 2, 3, -1}, own, "only what was asked for, where it was asked for")
		require.NoError(t, slice.DownloadRange(t.Context(), nil, 1000, nil))

		for _, from := range []int{-1, 998, 1001, math.MaxInt, math.MinInt} {
			require.ErrorIs(t, slice.DownloadRange(t.Context(), nil, from, own[:3]), memory.ErrRange, "from %d", from)
			require.ErrorIs(t, slice.UploadRange(t.Context(), nil, from, own[:3]), memory.ErrRange, "from %d", from)
		}
		require.ErrorIs(t, slice.UploadPadded(t.Context(), nil, make([]int16, 1001), 0), memory.ErrRange)
		assert.Equal(t, []int16{-1, 1, 2, 3, -1}, own)
		require.NoError(t, slice.Release())
		require.ErrorIs(t, slice.DownloadRange(t.Context(), nil, 0, own), memory.ErrReleased)
		require.ErrorIs(t, slice.UploadPadded(t.Context(), nil, own, 7), memory.ErrReleased)
	})
}

// Repeated downloads allocate no additional memory.
func TestDownloadRangeIntoTheSameSlice(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	slice, err := memory.NewSlice[float64](mgr, 1000, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, slice.Fill(nil, 1))
	own := make([]float64, 10)
	first := &own[0]
	for from := range 100 {
		require.NoError(t, slice.DownloadRange(t.Context(), nil, from, own))
		require.Same(t, first, &own[0])
	}
	require.NoError(t, slice.Release())
}

func TestTrimStaging(t *testing.T) {
	dev, f := openFaulty(t)
	const chunk = 128 << 10
	mgr := devicetest.Manager(t, dev, memory.Options{Staging: memory.StagingOptions{Workers: 2, ChunkBytes: chunk, Chunks: 4}})
	slice, err := memory.NewSlice[uint8](mgr, 2<<20, memory.AllocateOptions{})
	require.NoError(t, err)
	assert.Equal(t, memory.StagingStats{Limit: 4 * chunk}, mgr.StagingStats(), "nothing is pinned before it is needed")
	source := random(slice.Len())
	for range 3 {
		require.NoError(t, slice.Upload(t.Context(), nil, source))
		require.NoError(t, slice.Block().Synchronize(t.Context()))
		pinned := mgr.StagingStats().Pinned
		require.Positive(t, pinned)
		require.LessOrEqual(t, pinned, uint64(4*chunk))

		released, err := mgr.TrimStaging(chunk + chunk/2)
		require.NoError(t, err)
		assert.Equal(t, memory.StagingStats{Limit: 4 * chunk, Pinned: chunk}, mgr.StagingStats())
		assert.Equal(t, pinned-chunk, released)
		released, err = mgr.TrimStaging(0)
		require.NoError(t, err)
		assert.EqualValues(t, chunk, released)
		assert.Zero(t, mgr.StagingStats().Pinned)
	}

	// A chunk that cannot be freed stays in the ring.
	require.NoError(t, slice.Upload(t.Context(), nil, source))
	require.NoError(t, slice.Block().Synchronize(t.Context()))
	before := mgr.StagingStats()
	f.hostFree = errDriver
	released, err := mgr.TrimStaging(0)
	require.ErrorIs(t, err, errDriver)
	assert.Zero(t, released)
	assert.Equal(t, before, mgr.StagingStats())
	f.hostFree = nil
	require.NoError(t, slice.Upload(t.Context(), nil, source))
	require.NoError(t, slice.Release())
}
