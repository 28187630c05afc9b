//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/stall"
	"github.com/gpuframe/gpuframe/memory"
)

// An array that needs no memory may claim any device and have any event.
func TestArraysThatNeedNoMemory(t *testing.T) {
	eachDeviceAndLook(t, func(t *testing.T, m *memory.Manager) {
		g := arraytest.NewGenerator(2)
		g.Nulls = arraytest.NoneNull
		records := []arrow.Record{recordOf(array.NewNull(9)), recordOf(g.Array(arrow.StructOf(), 9), array.NewNull(9))}
		for _, dataType := range arraytest.AllTypes() {
			records = append(records, recordOf(g.Array(dataType, 0)))
		}
		for _, record := range records {
			for _, where := range []location{
				cpu, {cabi.DeviceCPU, 3}, {cabi.DeviceCUDA, 0}, {cabi.DeviceCUDA, 77}, {cabi.DeviceCUDAHost, -1},
				{cabi.DeviceCUDAManaged, -1}, {10, 0}, {0, 0}, {-1, -1},
			} {
				p, a := foreignTable(t, m, record)
				forgetDictionaries(&p.Device.Array)
				p.Device.DeviceType, p.Device.DeviceID, p.Device.SyncEvent = where.deviceType, where.id, 1
				table, err := Import(m, pointerTo(p.Device), a.Schema())
				require.NoError(t, err, "%v of %v", where, record.Schema())
				requireReleasedOnce(t, p)
				require.Equal(t, 1, p.Ended())
				requireRecord(t, record, download(t, table))
				require.NoError(t, a.Release())
			}
		}
		requireNothingHeld(t, m)
	})
}

// forgetDictionaries empties dictionaries, which otherwise have values although no
// index refers to them.
func forgetDictionaries(a *cabi.Array) {
	for _, each := range all(a) {
		if each.Dictionary != 0 {
			for _, below := range all(dictionaryOf(each)) {
				below.Length, below.Offset, below.NullCount = 0, 0, 0
			}
		}
		if each.Length == 0 {
			for i := range each.NumChildren {
				for _, below := range all(childOf(each, int(i))) {
					below.Length, below.Offset, below.NullCount = 0, 0, 0
				}
			}
		}
	}
}

// otherMemory is a kind of memory that a GPU and the processor both use.
type otherMemory struct {
	code     int32
	kind     device.MemoryKind
	allocate func(dev *device.Device, bytes uint64) (at device.Pointer, free func() error, err error)
}

func otherMemories() []otherMemory {
	return []otherMemory{
		{cabi.DeviceCUDAHost, device.MemoryPinned, func(dev *device.Device, bytes uint64) (device.Pointer, func() error, error) {
			at, err := dev.Driver().HostAlloc(bytes)
			return device.Pointer(uintptr(at)), func() error { return dev.Driver().HostFree(at) }, err
		}},
		{cabi.DeviceCUDAManaged, device.MemoryManaged, func(dev *device.Device, bytes uint64) (device.Pointer, func() error, error) {
			at, err := dev.Driver().AllocManaged(bytes)
			return at, func() error { return dev.Driver().Free(at) }, err
		}},
	}
}

// foreignElsewhere is another library's array of a record in such memory, which is
// freed with the test.
func foreignElsewhere(t *testing.T, m *memory.Manager, where otherMemory, record arrow.Record) (*producertest.Producer, *Array) {
	t.Helper()
	table := upload(t, m, record)
	a, err := Export(table)
	require.NoError(t, err)
	p := producertest.Disguise(deviceArray(a))
	t.Cleanup(p.Free)
	for block := range table.Column(0).Blocks {
		at, free, err := where.allocate(m.Device(), block.Bytes())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, free()) })
		bytes := rawBytes(t, m, block.Pointer(), int(block.Bytes()))
		require.NoError(t, m.Device().Driver().CopyToDevice(at, unsafe.Pointer(&bytes[0]), block.Bytes()))
		relocate(p, &p.Device.Array, block, at)
		break // a table is uploaded into one block
	}
	p.Device.DeviceType, p.Device.DeviceID, p.Device.SyncEvent = where.code, cabi.NoDeviceID, 0
	require.NoError(t, table.Release())
	p.Abandon()
	return p, a
}

// An import and an export of pinned and managed memory preserve the kind of memory.
func TestForeignPinnedAndManagedMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, where := range otherMemories() {
			t.Run(fmt.Sprint(where.kind), func(t *testing.T) {
				for number, dataType := range arraytest.AllTypes() {
					record := recordOf(int32s(1, 2, 3, 4, 5), arraytest.NewGenerator(uint64(number)).Array(dataType, 5))
					p, a := foreignElsewhere(t, m, where, record)
					table, err := Import(m, pointerTo(p.Device), a.Schema())
					require.NoError(t, err, "%v", dataType)
					require.Equal(t, where.kind, table.Column(0).Buffer(1).Block().Kind())
					require.NoError(t, a.Release())

					out, err := Export(table)
					require.NoError(t, err)
					want := location{where.code, cabi.NoDeviceID}
					if m.Device().Kind() == device.Host {
						want = cpu
					}
					require.Equal(t, want, location{deviceArray(out).DeviceType, deviceArray(out).DeviceID})
					require.NoError(t, out.Release())
					requireRecord(t, record, download(t, table))
					requireReleasedOnce(t, p)
					requireNothingHeld(t, m)
				}
			})
		}
	})
}

// The driver determines the kind of memory; a wrong claim of the array is refused.
func TestWrongMemoryKind(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		record := recordOf(int32s(1, 2, 3))
		claims := []location{{cabi.DeviceCUDA, int64(m.Device().Info().Ordinal)}, {cabi.DeviceCUDAHost, -1}, {cabi.DeviceCUDAManaged, -1}}
		for _, where := range otherMemories() {
			for _, claim := range claims {
				if claim.deviceType == where.code {
					continue
				}
				p, a := foreignElsewhere(t, m, where, record)
				p.Device.DeviceType, p.Device.DeviceID = claim.deviceType, claim.id
				_, err := Import(m, pointerTo(p.Device), a.Schema())
				requireFault(t, err, "import", "ArrowDeviceArray.array.children[0].buffers[1]", device.ErrInvalidValue)
				requireReleasedOnce(t, p)
				require.NoError(t, a.Release())
			}
		}
		for _, claim := range claims[1:] {
			p, a := foreignTable(t, m, record)
			p.Device.DeviceType, p.Device.DeviceID = claim.deviceType, claim.id
			_, err := Import(m, pointerTo(p.Device), a.Schema())
			requireFault(t, err, "import", "ArrowDeviceArray.array.children[0].buffers[1]", device.ErrInvalidValue)
			require.NoError(t, a.Release())
		}
		requireNothingHeld(t, m)
	})
}

// Such memory has events too, for pending work, in both directions.
func TestPinnedAndManagedMemoryOfPendingWork(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 16
		gates := stall.New(t, m.Device())
		producer, consumer := newStream(t, m.Device()), newStream(t, m.Device())
		for _, where := range otherMemories() {
			p, a := foreignElsewhere(t, m, where, recordOf(zeros(n)))
			out := devicetest.Foreign(t, m.Device(), make([]byte, n))
			at := device.Pointer(buffersOf(childOf(&p.Device.Array, 0))[1])
			held := gates.Hold(producer)
			enqueueFill(t, at, 9, n, producer)
			ready(t, p, producer)
			table, err := Import(m, pointerTo(p.Device), a.Schema())
			require.NoError(t, err)
			again, err := Export(table, ExportOptions{Stream: consumer})
			require.NoError(t, err)
			require.Equal(t, where.code, deviceArray(again).DeviceType)
			consumeOn(t, consumer, deviceArray(again), out, n)
			require.NoError(t, again.Release())
			require.True(t, held.Holding(), "nothing has waited")
			require.NoError(t, held.Finish(t.Context()))
			require.NoError(t, consumer.Synchronize(t.Context()))
			requireBytes(t, m, out, 9, n)
			require.NoError(t, table.Release())
			require.NoError(t, a.Release())
			requireReleasedOnce(t, p)
			requireNothingHeld(t, m)
		}
		require.NoError(t, producer.Close())
		require.NoError(t, consumer.Close())
	})
}
