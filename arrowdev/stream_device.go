package arrowdev

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// placeOfManager returns where a manager's memory is.
func placeOfManager(m *memory.Manager) place { return placeOf(m.Device(), m.Resource().Kind()) }

// checkDeviceType says whether the manager's device can use arrays of a type of
// device at all. Each array is looked at when it comes.
func checkDeviceType(m *memory.Manager, field string, deviceType int32) error {
	claimed := place{deviceType, cabi.NoDeviceID}
	if deviceType == cabi.DeviceCUDA {
		claimed.id = int64(m.Device().Info().Ordinal)
	}
	_, err := kindOf(m.Device(), claimed)
	if known, ok := err.(*Error); ok {
		known.Field = field
	}
	return err
}

// exportBatch exports a table of a stream: it has the stream's schema and is on
// the stream's type of device.
func exportBatch(m *memory.Manager, schema *arrow.Schema, table *buffer.Buffer, out *cabi.DeviceArray, o ExportOptions) error {
	if !table.Schema().Equal(schema) {
		return faulty("", "the batch has another schema than the stream: %w", buffer.ErrSchema)
	}
	// Without memory a table may be anywhere.
	if err := exportTable(table, m, out, o); err != nil {
		return err
	}
	in := placeOfManager(m)
	if out.DeviceType != in.deviceType {
		err := faulty("ArrowDeviceArray.device_type", "the batch is on a device of type %d, the stream is of type %d: %w",
			out.DeviceType, in.deviceType, ErrDevice)
		cabi.ReleaseArray(&out.Array)
		*out = cabi.DeviceArray{}
		return err
	}
	return nil
}
