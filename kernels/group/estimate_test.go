package group_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestHistogramEstimate compares estimates with the memory that calls use.
func TestHistogramEstimate(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, rows := range []int{0, 33, 20_000} {
			c := columntest.Upload(t, mgr, columntest.Samples(t, arrow.PrimitiveTypes.Int32, rows)[0].Array)
			for i, options := range []group.HistogramOptions{{Bins: 256, High: 256}, {Bins: 10_000, High: 3}, {Edges: []float64{1, 2, 7.5}}} {
				columntest.CheckEstimate(t, mgr, fmt.Sprintf("%d rows, options %d", rows, i), func(o kernels.Options) (*column.Column, error) {
					options.Options = o
					return group.Histogram(t.Context(), c, options)
				})
			}
		}
	})
}

// TestUniqueHasNoEstimate requires the error of operators that cannot estimate.
func TestUniqueHasNoEstimate(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	c := columntest.Upload(t, mgr, columntest.Samples(t, arrow.PrimitiveTypes.Int32, 33)[0].Array)
	_, err := kernels.EstimateOf(func(o kernels.Options) (*buffer.Buffer, error) { return group.Unique(t.Context(), c, o) })
	require.ErrorIs(t, err, device.ErrNotSupported)
}
