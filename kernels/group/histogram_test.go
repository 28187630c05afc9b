package group_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/group"
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
	even := func(low, high float64, bins int) group.HistogramOptions {
		return group.HistogramOptions{Low: low, High: high, Bins: bins}
	}
	// All edges of the bins of equal width are exact, so that the model can compare with them.
	all := []group.HistogramOptions{
		even(0, 256, 256), even(-128, 128, 8), even(0, 99, 33), even(-0.5, 63.5, 128), even(16, 17, 1), even(0, 1<<32, 256), even(-1<<31, 1<<31, 1<<10), even(-1<<40, 1<<40, 4), even(0, 1<<32, 1), even(0, 1<<16, 1<<14),
		{Edges: []float64{-100, 0, 0.125, 1, 1, 50, 100}}, {Edges: []float64{math.Inf(-1), 0, math.Inf(1)}},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range columntest.AllTypes {
			for sample, s := range columntest.Samples(t, of, columntest.LengthsFor(dev)...) {
				c := columntest.Upload(t, mgr, s.Array)
				for i, options := range all {
					if options.Bins > 1000 && s.Array.Len() > 5001 {
						continue // the model would take long
					}
					if testing.Short() && (i+sample)%8 != 0 {
						continue
					}
					options.CountOutside = i%2 == s.Array.Len()%2
					options.Manager = mgr
					edges := options.Edges
					for bin := 0; len(edges) <= options.Bins && len(options.Edges) == 0; bin++ {
						edges = append(edges, options.Low+float64(bin)*(options.High-options.Low)/float64(options.Bins))
					}
					result, err := group.Histogram(t.Context(), c, options)
					require.NoError(t, err)
					got := columntest.Download(t, result).(*array.Int64).Int64Values()
					require.NoError(t, result.Release())
					want := make([]int64, len(edges)-1)
					for row := range s.Array.Len() {
						if bin := binOf(columntest.Number(s.Array, row), edges, options.CountOutside); bin >= 0 && s.Array.IsValid(row) {
							want[bin]++
						}
					}
					require.Equal(t, want, got, "%s, options %d", s.Name, i)
				}
			}
		}
	})
}

func TestCountIntegers(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range columntest.IntegerTypes {
			for sample, s := range columntest.Samples(t, of, columntest.LengthsFor(dev)...) {
				c := columntest.Upload(t, mgr, s.Array)
				for i, low := range []int64{0, 3, -5, math.MinInt64} {
					if testing.Short() && (i+sample)%2 != 0 {
						continue
					}
					options := group.HistogramOptions{}
					options.Manager = mgr
					result, err := group.CountIntegers(t.Context(), c, low, 10, options)
					if columntest.IsUnsigned(of) && low < 0 {
						require.ErrorIs(t, err, device.ErrInvalidValue)
						continue
					}
					require.NoError(t, err)
					got := columntest.Download(t, result).(*array.Int64).Int64Values()
					require.NoError(t, result.Release())
					want := make([]int64, 10)
					for row := range s.Array.Len() {
						x := columntest.Integer(s.Array, row)
						if s.Array.IsValid(row) && x >= low && x < low+10 {
							want[x-low]++
						}
					}
					require.Equal(t, want, got, "%s from %d", s.Name, low)
				}
			}
		}
	})
}

// TestHotBins has all rows in one bin, and row counts on the device.
func TestHotBins(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		n := 50_000
		if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
			n = 10_000_000
		}
		mgr := devicetest.Manager(t, dev, memory.Options{})
		c := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Uint32, make([]uint32, n))
		for _, counted := range []int64{0, 77, int64(n)} {
			result, err := group.CountIntegers(t.Context(), columntest.WithRows(t, mgr, c, counted), 0, 256)
			require.NoError(t, err)
			want := make([]int64, 256)
			want[0] = counted
			require.Equal(t, want, columntest.Download(t, result).(*array.Int64).Int64Values())
			require.NoError(t, result.Release())
		}
	})
}

func TestHistogramRefusals(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	c := columntest.Upload(t, mgr, columntest.Samples(t, arrow.PrimitiveTypes.Int32, 10)[0].Array)
	_, err := group.CountIntegers(t.Context(), c, 0, 1, group.HistogramOptions{}, group.HistogramOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	for i, options := range []group.HistogramOptions{
		{}, {Bins: -1, High: 1}, {Bins: 3}, {Bins: 3, Low: 1}, {Bins: 3, High: math.NaN()}, {Bins: 3, High: math.Inf(1)},
		{Bins: group.MaxBins + 1, High: 1}, {Edges: []float64{1}}, {Edges: []float64{1, 0}}, {Edges: []float64{0, math.NaN()}},
		{Bins: 1, Low: -math.MaxFloat64, High: math.MaxFloat64},
	} {
		_, err := group.Histogram(t.Context(), c, options)
		require.ErrorIs(t, err, device.ErrInvalidValue, "%d", i)
		require.ErrorContains(t, err, "group: histogram: ")
	}
	booleans := arraytest.NewGenerator(1).Array(arrow.FixedWidthTypes.Boolean, 10)
	defer booleans.Release()
	flags := columntest.Upload(t, mgr, booleans)
	_, err = group.Histogram(t.Context(), flags, group.HistogramOptions{Bins: 2, High: 1})
	require.ErrorIs(t, err, device.ErrNotSupported)
	_, err = group.CountIntegers(t.Context(), flags, 0, 2)
	require.ErrorIs(t, err, device.ErrNotSupported)
	_, err = group.Histogram(t.Context(), nil, group.HistogramOptions{Bins: 2, High: 1})
	require.ErrorIs(t, err, memory.ErrReleased)
	for _, integers := range []int{0, group.MaxBins + 1} {
		_, err = group.CountIntegers(t.Context(), c, 0, integers)
		require.ErrorIs(t, err, device.ErrInvalidValue)
	}
	_, err = group.CountIntegers(t.Context(), c, math.MaxInt64, 10)
	require.ErrorIs(t, err, device.ErrInvalidValue)
}
