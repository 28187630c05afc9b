package chunks_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// Pages that are decompressed on another stream when they are copied have the values of those that are decompressed by
// Decode. If an allocation fails in between, Decode decompresses them.
func TestDecompressedAhead(t *testing.T) {
	columns := mixedColumns(t)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
		m := devicetest.Manager(t, dev, memory.Options{Resource: fault})
		want := decoded(t, m, columns)
		var options chunks.Options
		for _, stream := range []**device.Stream{&options.CopyStream, &options.DecompressStream} {
			created, err := dev.NewStream()
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, created.Close()) })
			*stream = created
		}
		for nth, ahead := range []bool{true, false} { // with 1 the second allocation fails
			fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: uint64(2 * nth)}})
			batch, err := chunks.Copy(t.Context(), m, columns, options)
			require.NoError(t, err)
			require.Equal(t, ahead, batch.Decompressed() > 0)
			for range 2 { // the second call decompresses nothing
				list, err := batch.Decode(t.Context())
				require.NoError(t, err)
				requireColumns(t, want, list)
			}
			require.NoError(t, batch.Release())
			require.Zero(t, m.Stats().InUse)
		}
	})
}

// requireColumns compares columns with arrays, and releases them.
func requireColumns(t *testing.T, want []arrow.Array, got []*column.Column) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, c := range got {
		values, err := c.Array(t.Context())
		require.NoError(t, err)
		require.True(t, array.Equal(want[i], values), "column %d: %v", i, values.DataType())
		values.Release()
		require.NoError(t, c.Release())
	}
}
