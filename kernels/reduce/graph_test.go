package reduce_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// TestGraph launches a captured reduction of several parts several times, with changing
// values: each launch must leave its counter at zero.
func TestGraph(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const n = 20_000
		values, err := memory.NewSlice[int64](mgr, n, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, values.Release()) }()
		require.NoError(t, values.Fill(nil, 1))
		c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: n, Buffers: []column.Bytes{{}, values.AsBytes()}})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Release()) }()

		var sum *column.Column
		graph, err := kernels.Capture(dev, func(stream *device.Stream) (err error) {
			sum, err = reduce.Column(t.Context(), c, reduce.Sum, kernels.Options{Stream: stream})
			return err
		})
		require.NoError(t, err)
		defer func() { require.NoError(t, graph.Close()) }()
		defer func() { require.NoError(t, sum.Release()) }()
		for _, value := range []int64{1, 7, -3} {
			require.NoError(t, values.Fill(nil, value))
			require.NoError(t, graph.Launch(mgr.Stream()))
			require.NoError(t, mgr.Stream().Synchronize(t.Context()))
			got, err := sum.Array(t.Context())
			require.NoError(t, err)
			require.Equal(t, n*value, got.(*array.Int64).Value(0))
			got.Release()
		}
	})
}
