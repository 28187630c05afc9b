package summary_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/summary"
	"github.com/gpuframe/gpuframe/memory"
)

// binOf is a plain model: the bin of a number, looked for from the first edge on.
func binOf(x float64, edges []float64, outside bool) int {
	last := len(edges) - 1
	switch {
	case math.IsNaN(x):
		return -1
	case x < edges[0] && outside:
		return 0
	case x > edges[last] && outside, x == edges[last]:
		return last - 1
	}
	for bin := range last {
		if edges[bin] <= x && x < edges[bin+1] {
			return bin
		}
	}
	return -1
}

func TestHistogram(t *testing.T) {
	even := func(low, high float64, bins int) summary.HistogramOptions {
		return summary.HistogramOptions{Low: low, High: high, Bins: bins}
	}
	// Of the equal bins all edges are exact, so that the model can look for them.
	all := []summary.HistogramOptions{
		even(0, 256, 256), even(-128, 128, 8), even(0, 99, 33), even(-0.5, 63.5, 128), even(16, 17, 1), even(0, 1<<32, 256), even(-1<<31, 1<<31, 1<<10), even(-1<<40, 1<<40, 4), even(0, 1<<32, 1), even(0, 1<<16, 1<<14),
		{Edges: []float64{-100, 0, 0.125, 1, 1, 50, 100}}, {Edges: []float64{math.Inf(-1), 0, math.Inf(1)}},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range allTypes {
			for _, s := range samples(t, of, lengthsFor(dev)...) {
				c := upload(t, mgr, s.array)
				for i, options := range all {
					if options.Bins > 1000 && s.array.Len() > 5001 {
						continue // the model would take long
					}
					options.CountOutside = i%2 == s.array.Len()%2
					options.Manager = mgr
					edges := options.Edges
					for bin := 0; len(edges) <= options.Bins && len(options.Edges) == 0; bin++ {
						edges = append(edges, options.Low+float64(bin)*(options.High-options.Low)/float64(options.Bins))
					}
					result, err := summary.Histogram(t.Context(), c, options)
					require.NoError(t, err)
					got := download(t, result).(*array.Int64).Int64Values()
					require.NoError(t, result.Release())
					want := make([]int64, len(edges)-1)
					for row := range s.array.Len() {
						if bin := binOf(number(s.array, row), edges, options.CountOutside); bin >= 0 && s.array.IsValid(row) {
							want[bin]++
						}
					}
					require.Equal(t, want, got, "%s, options %d", s.name, i)
				}
			}
		}
	})
}

func TestCountIntegers(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range integerTypes {
			for _, s := range samples(t, of, lengthsFor(dev)...) {
				c := upload(t, mgr, s.array)
				for _, low := range []int64{0, 3, -5, math.MinInt64} {
					options := summary.HistogramOptions{}
					options.Manager = mgr
					result, err := summary.CountIntegers(t.Context(), c, low, 10, options)
					if isUnsigned(of) && low < 0 {
						require.ErrorIs(t, err, device.ErrInvalidValue)
						continue
					}
					require.NoError(t, err)
					got := download(t, result).(*array.Int64).Int64Values()
					require.NoError(t, result.Release())
					want := make([]int64, 10)
					for row := range s.array.Len() {
						x := integer(s.array, row)
						if s.array.IsValid(row) && x >= low && x < low+10 {
							want[x-low]++
						}
					}
					require.Equal(t, want, got, "%s from %d", s.name, low)
				}
			}
		}
	})
}

// TestHotBins has all rows meet in one bin, and rows that are left out.
func TestHotBins(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		n := 50_000
		if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
			n = 10_000_000
		}
		mgr := devicetest.Manager(t, dev, memory.Options{})
		values, err := memory.NewSlice[uint8](mgr, 4*n, memory.AllocateOptions{})
		require.NoError(t, err)
		defer values.Release()
		require.NoError(t, values.Fill(nil, 0))
		c := columnOf(t, arrow.PrimitiveTypes.Uint32, n, values)
		for _, counted := range []int64{0, 77, int64(n)} {
			result, err := summary.CountIntegers(t.Context(), withRows(t, mgr, c, counted), 0, 256)
			require.NoError(t, err)
			want := make([]int64, 256)
			want[0] = counted
			require.Equal(t, want, download(t, result).(*array.Int64).Int64Values())
			require.NoError(t, result.Release())
		}
	})
}

func TestHistogramRefusals(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	c := upload(t, mgr, samples(t, arrow.PrimitiveTypes.Int32, 10)[0].array)
	_, err := summary.CountIntegers(t.Context(), c, 0, 1, summary.HistogramOptions{}, summary.HistogramOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = summary.TopK(t.Context(), c, 1, summary.TopOptions{}, summary.TopOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	for i, options := range []summary.HistogramOptions{
		{}, {Bins: -1, High: 1}, {Bins: 3}, {Bins: 3, Low: 1}, {Bins: 3, High: math.NaN()}, {Bins: 3, High: math.Inf(1)},
		{Bins: summary.MaxBins + 1, High: 1}, {Edges: []float64{1}}, {Edges: []float64{1, 0}}, {Edges: []float64{0, math.NaN()}},
		{Bins: 1, Low: -math.MaxFloat64, High: math.MaxFloat64},
	} {
		_, err := summary.Histogram(t.Context(), c, options)
		require.ErrorIs(t, err, device.ErrInvalidValue, "%d", i)
		require.ErrorContains(t, err, "summary: histogram: ")
	}
	flags := upload(t, mgr, samplesOfBooleans(t))
	_, err = summary.Histogram(t.Context(), flags, summary.HistogramOptions{Bins: 2, High: 1})
	require.ErrorIs(t, err, device.ErrNotSupported)
	_, err = summary.CountIntegers(t.Context(), flags, 0, 2)
	require.ErrorIs(t, err, device.ErrNotSupported)
	_, err = summary.Histogram(t.Context(), nil, summary.HistogramOptions{Bins: 2, High: 1})
	require.ErrorIs(t, err, memory.ErrReleased)
	for _, integers := range []int{0, summary.MaxBins + 1} {
		_, err = summary.CountIntegers(t.Context(), c, 0, integers)
		require.ErrorIs(t, err, device.ErrInvalidValue)
	}
	_, err = summary.CountIntegers(t.Context(), c, math.MaxInt64, 10)
	require.ErrorIs(t, err, device.ErrInvalidValue)
}
