//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestDeviceOfAnArray(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		a := exported(t, m, two())
		d := deviceArray(a)
		if m.Device().Kind() == device.Host {
			assert.EqualValues(t, cabi.DeviceCPU, d.DeviceType)
			assert.EqualValues(t, -1, d.DeviceID)
			assert.Zero(t, d.SyncEvent, "the CPU has no events")
		} else {
			assert.EqualValues(t, cabi.DeviceCUDA, d.DeviceType)
			assert.EqualValues(t, m.Device().Info().Ordinal, d.DeviceID)
		}
		assert.Zero(t, d.Reserved)
		require.NoError(t, a.Release())
	})
}

// Pinned and managed memory have separate type codes and no device number.
func TestPinnedAndManagedMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		dev := m.Device()
		for code, open := range map[int32]func(*device.Device) (memory.Resource, error){
			cabi.DeviceCUDAHost:    func(d *device.Device) (memory.Resource, error) { return memory.NewPinnedResource(d), nil },
			cabi.DeviceCUDAManaged: func(d *device.Device) (memory.Resource, error) { return memory.NewManagedResource(d), nil },
		} {
			resource, err := open(dev)
			require.NoError(t, err)
			other := devicetest.Manager(t, dev, memory.Options{Resource: resource})
			table := upload(t, other, two())
			a, err := Export(table)
			require.NoError(t, err)
			if dev.Kind() == device.Host {
				code = cabi.DeviceCPU
			}
			assert.Equal(t, code, deviceArray(a).DeviceType)
			assert.EqualValues(t, -1, deviceArray(a).DeviceID)
			back, err := Import(m, a.Device(), a.Schema())
			require.NoError(t, err)
			requireRecord(t, two(), download(t, back))
			require.NoError(t, a.Release())
			requireRecord(t, two(), download(t, throughForeign(t, m, table, ImportOptions{})))
			require.NoError(t, table.Release())
			requireNothingHeld(t, other)
		}
		requireNothingHeld(t, m)
	})
}

func TestMemoryOfSeveralKinds(t *testing.T) {
	dev := launchtest.Open(t, &launchtest.GPU{})
	m := devicetest.Manager(t, dev, memory.Options{})
	pinned := devicetest.Manager(t, dev, memory.Options{Resource: memory.NewPinnedResource(dev)})
	one, other := upload(t, m, recordOf(int32s(1, 2))), upload(t, pinned, recordOf(int32s(3, 4)))
	both, err := one.AppendColumn(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32}, other.Column(0))
	require.NoError(t, err)
	_, err = Export(both)
	require.ErrorIs(t, err, ErrDevice)
	require.EqualError(t, err, "arrowdev: export: the columns are in cuda:0 and in cuda host memory, expected one kind of memory: wrong device")
	for _, table := range []*buffer.Buffer{one, other, both} {
		require.NoError(t, table.Release())
	}
	requireNothingHeld(t, m)
	requireNothingHeld(t, pinned)
}

func TestArraysOfOtherDevices(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		onHost := m.Device().Kind() == device.Host
		for _, each := range []struct {
			deviceType int32
			id         int64
			field      string
		}{
			{0, 0, "ArrowDeviceArray.device_type"}, {4, 0, "ArrowDeviceArray.device_type"}, {8, 0, "ArrowDeviceArray.device_type"},
			{10, 0, "ArrowDeviceArray.device_type"}, {-1, 0, "ArrowDeviceArray.device_type"},
			{cabi.DeviceCUDA, 77, "ArrowDeviceArray.device_id"}, {cabi.DeviceCPU, -1, "ArrowDeviceArray.device_type"},
		} {
			if onHost && each.deviceType == cabi.DeviceCPU {
				continue
			}
			if onHost {
				each.field = "ArrowDeviceArray.device_type"
			}
			p, a := foreignTable(t, m, two())
			p.Device.DeviceType, p.Device.DeviceID = each.deviceType, each.id
			_, err := Import(m, pointerTo(p.Device), a.Schema())
			requireFault(t, err, "import", each.field, ErrDevice)
			requireReleasedOnce(t, p)
			require.NoError(t, a.Release())
		}
		requireNothingHeld(t, m)
	})
}

// The device number of a device type without numbers, and the reserved fields, are
// ignored.
func TestIgnoredFields(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		p, a := foreignTable(t, m, two())
		p.Device.Reserved = [3]int64{1, -1, 1 << 62}
		if m.Device().Kind() == device.Host {
			p.Device.DeviceID, p.Device.SyncEvent = 3, 1
		}
		table, err := Import(m, pointerTo(p.Device), a.Schema())
		require.NoError(t, err)
		requireRecord(t, two(), download(t, table))
		require.NoError(t, a.Release())
	})
}

// The host cannot wait for a GPU's event.
func TestAnEventOnTheHost(t *testing.T) {
	m := newHostManager(t)
	p, a := foreignTable(t, m, two())
	event := uintptr(1)
	p.Device.DeviceType, p.Device.SyncEvent = cabi.DeviceCUDAHost, p.Words([]uintptr{event})
	_, err := Import(m, pointerTo(p.Device), a.Schema())
	requireFault(t, err, "import", "ArrowDeviceArray.sync_event", ErrDevice)
	requireReleasedOnce(t, p)
	require.NoError(t, a.Release())
}

func TestTablesWithoutMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		table, err := buffer.New(arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: 7})
		require.NoError(t, err)
		for _, where := range []*device.Device{nil, m.Device()} {
			a, err := Export(table, ExportOptions{Device: where})
			require.NoError(t, err)
			want := locationOf(where, device.MemoryDevice)
			assert.Equal(t, want, location{deviceArray(a).DeviceType, deviceArray(a).DeviceID})
			back, err := Import(m, a.Device(), a.Schema())
			require.NoError(t, err)
			assert.EqualValues(t, 7, back.Capacity())
			require.NoError(t, back.Release())
			require.NoError(t, a.Release())
		}
		require.NoError(t, table.Release())
		requireNothingHeld(t, m)
	})
}

func TestTableOnAnotherDeviceThanTheOptions(t *testing.T) {
	gpu := launchtest.Open(t, &launchtest.GPU{})
	m := newHostManager(t)
	table := upload(t, m, two())
	_, err := Export(table, ExportOptions{Device: gpu})
	require.ErrorIs(t, err, ErrDevice)
	_, err = Export(table, ExportOptions{Stream: gpu.DefaultStream()})
	requireFault(t, err, "export", "options.Stream", device.ErrInvalidValue)
	require.NoError(t, table.Release())
	_, err = Export(table)
	requireFault(t, err, "export", "table", memory.ErrReleased)
	_, err = Export(nil)
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = ExportColumn(nil, arrow.Field{})
	requireFault(t, err, "export column", "column", memory.ErrReleased)
	requireNothingHeld(t, m)
}

// A row count on the device is fetched, and the export has exactly that number of
// rows.
func TestRowsOnTheDevice(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		whole := upload(t, m, two())
		count, err := memory.NewSlice[int64](m, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, count.Upload(t.Context(), nil, []int64{3}))
		table, err := buffer.New(whole.Schema(), []*column.Column{whole.Column(0), whole.Column(1)}, buffer.Rows{Device: count})
		require.NoError(t, err)
		require.NoError(t, count.Release())
		for _, foreign := range []bool{false, true} {
			a, err := Export(table)
			require.NoError(t, err)
			require.EqualValues(t, 3, deviceArray(a).Array.Length)
			require.EqualValues(t, 3, childOf(&deviceArray(a).Array, 1).Length)
			require.NoError(t, a.Release())
			if foreign {
				requireRecord(t, two().NewSlice(0, 3), download(t, throughForeign(t, m, table, ImportOptions{})))
			}
		}
		require.NoError(t, table.Release())
		require.NoError(t, whole.Release())
		requireNothingHeld(t, m)
	})
}
