package arrowdev

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// locationOfManager returns the location of a manager's memory.
func locationOfManager(m *memory.Manager) location {
	return locationOf(m.Device(), m.Resource().Kind())
}

// checkDeviceType returns an error if the manager's device cannot use arrays of a
// type of device. Each array is checked separately when it comes.
func checkDeviceType(m *memory.Manager, field string, deviceType int32) error {
	claimed := location{deviceType, cabi.NoDeviceID}
	if deviceType == cabi.DeviceCUDA {
		claimed.id = int64(m.Device().Info().Ordinal)
	}
	_, err := kindOf(m.Device(), claimed)
	if known, ok := err.(*Error); ok {
		known.Field = field
	}
	return err
}

// exportBatch exports a table of a stream. The table must have the stream's schema
// and be on the stream's type of device.
func exportBatch(m *memory.Manager, schema *arrow.Schema, table *buffer.Buffer, out *cabi.DeviceArray, o ExportOptions) error {
	if !table.Schema().Equal(schema) {
		return faulty("", "the batch's schema differs from the stream's: %w", buffer.ErrSchema)
	}
	// A table without memory may be on any device.
	if err := exportTable(table, m, out, o); err != nil {
		return err
	}
	in := locationOfManager(m)
	if out.DeviceType != in.deviceType {
		err := faulty("ArrowDeviceArray.device_type", "the batch is on a device of type %d, the stream is of type %d: %w",
			out.DeviceType, in.deviceType, ErrDevice)
		cabi.ReleaseArray(&out.Array)
		*out = cabi.DeviceArray{}
		return err
	}
	return nil
}
