//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// The tests in this file check that gpuframe does not repeat known mistakes of other
// libraries.

// In a sliced column of cudf the values begin at the slice, but validity and offsets
// do not. Here every buffer keeps its beginning, and the array's offset describes the
// slice.
func TestMistakeASliceThatShiftsOnlySomeBuffers(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		g := arraytest.NewGenerator(3)
		record := recordOf(g.Array(arrow.PrimitiveTypes.Int64, 40), g.Array(arrow.BinaryTypes.String, 40), g.Array(arrow.FixedWidthTypes.Boolean, 40))
		whole := upload(t, m, record)
		part, err := whole.Slice(5, 20)
		require.NoError(t, err)
		a, err := Export(part)
		require.NoError(t, err)
		require.Zero(t, deviceArray(a).Array.Offset)
		for i := range part.NumColumns() {
			child := childOf(&deviceArray(a).Array, i)
			require.EqualValues(t, 5, child.Offset)
			require.EqualValues(t, 20, child.Length)
			for k, at := range buffersOf(child) {
				require.EqualValues(t, whole.Column(i).Buffer(k).Pointer(), at)
			}
		}
		require.NoError(t, a.Release())
		requireRecord(t, record.NewSlice(5, 25), download(t, throughForeign(t, m, part, ImportOptions{})))
		require.NoError(t, part.Release())
		require.NoError(t, whole.Release())
		requireNothingHeld(t, m)
	})
}

// cudf ignores the offset of a table's struct array, and Arrow C++ refuses one.
func TestMistakeTheOffsetOfATable(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for number, dataType := range arraytest.AllTypes() {
			g := arraytest.NewGenerator(uint64(number))
			record := recordOf(g.Array(dataType, 30), g.Array(arrow.PrimitiveTypes.Int32, 30))
			for _, cut := range [][2]int64{{7, 30}, {7, 19}, {0, 4}, {30, 30}, {9, 9}} {
				p, a := foreignTable(t, m, record)
				p.Device.Array.Offset, p.Device.Array.Length = cut[0], cut[1]-cut[0]
				table, err := Import(m, pointerTo(p.Device), a.Schema())
				require.NoError(t, err, "%v", dataType)
				require.EqualValues(t, cut[1]-cut[0], table.Capacity())
				requireRecord(t, record.NewSlice(cut[0], cut[1]), download(t, table))
				requireReleasedOnce(t, p)
				require.NoError(t, a.Release())
			}
		}
		requireNothingHeld(t, m)
	})
}

// arrow-go's stream leaves sync_event unset, and some producers leave the reserved
// fields unset. Here all of the struct is written.
func TestMistakeFieldsThatAreLeftUnset(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		table := upload(t, m, two())
		for block := range table.Column(0).Blocks {
			require.NoError(t, block.Synchronize(t.Context()))
		}
		out := cabitest.New[cabi.DeviceArray]()
		defer cabitest.Free(out)
		garbage := ^uintptr(0)
		*out = cabi.DeviceArray{
			Array:    cabi.Array{Length: -1, NullCount: -5, Offset: 9, NumBuffers: 7, Dictionary: garbage, Private: garbage},
			DeviceID: 99, DeviceType: 99, SyncEvent: garbage, Reserved: [3]int64{1, 2, 3},
		}
		require.NoError(t, exportTable(table, nil, out, ExportOptions{}))
		assert.Zero(t, out.SyncEvent)
		assert.Zero(t, out.Reserved)
		assert.Zero(t, out.Array.Dictionary)
		assert.EqualValues(t, 4, out.Array.Length)
		assert.EqualValues(t, 1, out.Array.NumBuffers)
		cabi.ReleaseArray(&out.Array)
		require.NoError(t, table.Release())
		requireNothingHeld(t, m)
	})
}

// cuVS's binding exports without a release, so a consumer cannot release the array,
// and without an event. Here every struct has a release, and a pending table an
// event.
func TestMistakeAnExportWithoutARelease(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		table := upload(t, m, two())
		require.NoError(t, table.Column(0).Buffer(1).Block().RecordUse(m.Stream()))
		a, err := Export(table)
		require.NoError(t, err)
		assert.NotZero(t, deviceArray(a).Array.Release)
		for i := range 2 {
			assert.NotZero(t, childOf(&deviceArray(a).Array, i).Release)
		}
		require.NoError(t, table.Release())
		require.NoError(t, cabitest.ReleaseArrayOnThread(&deviceArray(a).Array))
		require.NoError(t, a.Release())
		requireNothingHeld(t, m)
	})
}

// Consumers read one offset of empty arrays too. It exists, in readable memory.
func TestEmptyArraysHaveAnOffset(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		empty := func(bytes []byte) arrow.Array {
			data := array.NewData(arrow.BinaryTypes.LargeString, 0, []*arrowmemory.Buffer{nil, arrowmemory.NewBufferBytes(bytes), nil}, nil, 0, 0)
			return array.MakeFromData(data)
		}
		p, source := foreignTable(t, m, recordOf(empty(nil)))
		buffersOf(childOf(&p.Device.Array, 0))[1] = 0
		table, err := Import(m, pointerTo(p.Device), source.Schema())
		require.NoError(t, err)
		require.NoError(t, source.Release())
		require.Zero(t, table.Column(0).Buffer(1).Len())
		for range 2 {
			a, err := Export(table)
			require.NoError(t, err)
			at := device.Pointer(buffersOf(childOf(&deviceArray(a).Array, 0))[1])
			require.NotZero(t, at)
			require.Equal(t, make([]byte, 8), rawBytes(t, m, at, 8))
			require.NoError(t, a.Release())
		}
		require.NoError(t, table.Release())
		requireNothingHeld(t, m)
	})
}

// Claims of more memory than the allocation has are refused if the driver knows the
// allocation.
func TestClaimsBeyondTheAllocation(t *testing.T) {
	m := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	p, a := foreignTable(t, m, recordOf(int32s(1, 2, 3)))
	p.Device.Array.Length, childOf(&p.Device.Array, 0).Length = 1<<30, 1<<30
	_, err := Import(m, pointerTo(p.Device), a.Schema())
	requireFault(t, err, "import", "ArrowDeviceArray.array.children[0].buffers[1]", device.ErrInvalidValue)
	require.ErrorContains(t, err, "allocated")
	requireReleasedOnce(t, p)
	require.NoError(t, a.Release())

	// Host memory is refused as device memory.
	p, a = foreignTable(t, m, recordOf(int32s(1, 2, 3)))
	buffersOf(childOf(&p.Device.Array, 0))[1] = uintptr(p.Allocate(64))
	_, err = Import(m, pointerTo(p.Device), a.Schema())
	requireFault(t, err, "import", "ArrowDeviceArray.array.children[0].buffers[1]", device.ErrInvalidValue)
	require.NoError(t, a.Release())
	requireNothingHeld(t, m)
}

// Buffers in one driver allocation become one block; other allocations become other
// blocks.
func TestOneBlockPerAllocation(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		g := arraytest.NewGenerator(1)
		p, a := foreignTable(t, m, recordOf(g.Array(arrow.PrimitiveTypes.Int64, 9), g.Array(arrow.PrimitiveTypes.Int32, 9), g.Array(arrow.PrimitiveTypes.Int8, 9)))
		buffersOf(childOf(&p.Device.Array, 2))[1] = uintptr(devicetest.Foreign(t, m.Device(), make([]byte, 9)))
		table, err := Import(m, pointerTo(p.Device), a.Schema())
		require.NoError(t, err)
		require.EqualValues(t, 2, m.Stats().ExternalBlocks)
		require.Same(t, table.Column(0).Buffer(1).Block(), table.Column(1).Buffer(1).Block())
		require.NoError(t, table.Release())
		require.Equal(t, 1, p.Ended())
		require.NoError(t, a.Release())
		requireNothingHeld(t, m)
	})
}

// rawBytes reads memory outside the manager, as a consumer does.
func rawBytes(t testing.TB, m *memory.Manager, at device.Pointer, n int) []byte {
	t.Helper()
	bytes := make([]byte, n)
	require.NoError(t, m.Device().Synchronize(t.Context()))
	require.NoError(t, m.Device().Driver().CopyToHost(pointerTo(&bytes[0]), at, uint64(n)))
	return bytes
}
