package group_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

func histogramKernels() map[string]launchtest.Kernel {
	return map[string]launchtest.Kernel{"histogram_whole_32": {}, "histogram_i32": {}}
}

// TestHistogramLaunches tests what reaches the driver.
func TestHistogramLaunches(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: histogramKernels()}
	mgr := devicetest.Manager(t, launchtest.Open(t, gpu), memory.Options{})
	launches := func(rows int, options group.HistogramOptions) []launchtest.Launch {
		in := arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int32, rows)
		defer in.Release()
		c, before := columntest.Upload(t, mgr, in), len(gpu.Launches())
		counts, err := group.Histogram(t.Context(), c, options)
		require.NoError(t, err)
		require.NoError(t, counts.Release())
		return gpu.Launches()[before:]
	}
	few := launches(1000, group.HistogramOptions{Bins: 256, High: 256})
	require.Len(t, few, 1)
	assert.Equal(t, "histogram_whole_32", few[0].Name)
	assert.Equal(t, device.Dim3{X: 1}, few[0].Config.Grid)
	assert.Equal(t, uint32(8*256*4), few[0].Config.SharedBytes, "counters for each warp")
	many := launches(4<<20, group.HistogramOptions{Bins: 5000, High: 2500})
	assert.Equal(t, "histogram_i32", many[0].Name)
	assert.Equal(t, device.Dim3{X: 4 * launchtest.Multiprocessors}, many[0].Config.Grid)
	assert.Equal(t, uint32(5000*4), many[0].Config.SharedBytes, "one copy of the counters")
	most := launches(1000, group.HistogramOptions{Bins: 1 << 20, High: 1 << 20})
	assert.Zero(t, most[0].Config.SharedBytes, "counters in global memory")
}

// histogramCalls are the calls that allocate differently.
func histogramCalls() []faulttest.Operation {
	var all []faulttest.Operation
	for name, options := range map[string]group.HistogramOptions{
		"histogram":          {Bins: 10, High: 10},
		"histogram by edges": {Edges: []float64{0, 1, 5}},
	} {
		all = append(all, faulttest.Operation{
			Name: name, Says: "group: ", Waits: true, Kernels: histogramKernels(),
			Prepare: columntest.OnColumn(arrow.PrimitiveTypes.Int32, 40_000, 0, func(ctx context.Context, c *column.Column) (*column.Column, error) {
				return group.Histogram(ctx, c, options)
			}),
		})
	}
	return all
}

func TestEachCall(t *testing.T)     { faulttest.EachCall(t, histogramCalls()...) }
func TestEachCallLost(t *testing.T) { faulttest.EachCallLost(t, histogramCalls()...) }

func TestHistogramWithoutMemory(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		c := columntest.Upload(t, mgr, columntest.Samples(t, arrow.PrimitiveTypes.Int64, 40_000)[0].Array)
		small, err := mgr.Child("small", 40_000)
		require.NoError(t, err)
		_, err = group.Histogram(t.Context(), c, group.HistogramOptions{Options: kernels.Options{Manager: small}, Bins: 10_000, High: 1})
		require.ErrorIs(t, err, memory.ErrBudget)
		require.NoError(t, small.Close())
	})
}

// BenchmarkHistogram reports Grows/s of 2²⁷ rows and of 1,000, and the copy rate of the
// same device in the same process.
func BenchmarkHistogram(b *testing.B) {
	mgr := devicetest.Manager(b, devicetest.Open(b, "cuda:0"), memory.Options{})
	b.Run("copy", func(b *testing.B) { columntest.MeasureCopy(b, mgr) })
	for _, rows := range []int{1000, 1 << 27} {
		spread, same, floats := columntest.BenchmarkColumns(b, mgr, rows)
		whole := group.HistogramOptions{Bins: 256, High: 1 << 32}
		uneven := whole
		uneven.High-- // the bins have no whole width
		for _, of := range []struct {
			name    string
			c       *column.Column
			options group.HistogramOptions
		}{
			{"u32 whole", spread, whole}, {"u32", spread, uneven}, {"u32 one value", same, whole},
			{"f64", floats, group.HistogramOptions{Bins: 256, High: 1}},
			{"f64 2048", floats, group.HistogramOptions{Bins: 2048, High: 1}},
			{"f64 edges", floats, group.HistogramOptions{Edges: []float64{0, 0.1, 0.2, 0.3, 0.9, 1}}},
		} {
			b.Run(fmt.Sprintf("%s %d", of.name, rows), func(b *testing.B) {
				columntest.Measure(b, mgr, rows, func() error {
					counts, err := group.Histogram(b.Context(), of.c, of.options)
					if err != nil {
						return err
					}
					return counts.Release()
				})
			})
		}
	}
}
