package kernels_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/elementwise"
	"github.com/gpuframe/gpuframe/memory"
)

// TestGPUCapturesAnOperator captures an operator that loads its code during the capture,
// because the device was opened for this test.
func TestGPUCapturesAnOperator(t *testing.T) {
	const n = 100_000
	dev := devicetest.Open(t, "cuda:0")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	a, sum := newSlice[float64](t, mgr, n), newSlice[float64](t, mgr, n)
	require.NoError(t, errors.Join(a.Fill(nil, 1.5), sum.Fill(nil, 0)))
	graph, err := kernels.Capture(dev, func(stream *device.Stream) error {
		for range 3 {
			if err := elementwise.Add(t.Context(), stream, sum, sum, a); err != nil {
				return err
			}
		}
		return scale(stream, sum, sum, 2)
	})
	require.NoError(t, err)
	require.NoError(t, errors.Join(graph.Launch(mgr.Stream()), graph.Launch(mgr.Stream()), graph.Close()))
	assert.Equal(t, slices.Repeat([]float64{27}, n), download(t, sum))
}
