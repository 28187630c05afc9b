package spill_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// The address in an exported tensor must remain the address of the values.
func TestExportedTablesStay(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr, s := onDevice(t, dev, 3, spill.Options{})
		want := numbers(tableRows, 1)
		table := add(t, mgr, s, want)
		held := acquire(t, table)
		tensor, err := dlpack.Export(held.Column(0))
		if errors.Is(err, device.ErrNotAvailable) {
			require.NoError(t, held.Release())
			t.Skip(err)
		}
		require.NoError(t, err)
		address := held.Column(0).Pointer()
		require.NoError(t, held.Release())

		require.Zero(t, press(t, s))
		assert.EqualValues(t, 1, s.Stats().Refusals.Exported)
		held = acquire(t, table)
		require.Equal(t, address, held.Column(0).Pointer())
		require.NoError(t, held.Release())

		require.NoError(t, tensor.Release())
		require.EqualValues(t, tableBytes, press(t, s))
		requireTable(t, want, table)
	})
}
