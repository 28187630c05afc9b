//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/memory"
)

// missingBuffers lists the buffers that are NULL although they hold elements, or the
// one offset of an array without elements. Arrow C++ refuses such buffers: "null data
// pointer for a buffer with non-zero computed size".
func missingBuffers(path string, a *cabi.Array, t arrow.DataType) (missing []string) {
	l, err := layoutOf(t)
	if err != nil {
		return []string{err.Error()}
	}
	end := a.Offset + a.Length
	for i, at := range buffersOf(a) {
		bytes := end * int64(l.Width)
		switch {
		case i == 0 && l.HasValidity():
			if bytes = 0; a.NullCount != 0 {
				bytes = (end + 7) / 8
			}
		case l.Kind == layout.Bits:
			bytes = (end + 7) / 8
		case i == 1 && (l.Kind == layout.Binary || l.Kind == layout.List):
			bytes += int64(l.Width)
		case i == 1 && l.Kind == layout.DenseUnion:
			bytes = end * 4
		case i >= 2 && l.Kind != layout.ListView:
			bytes = 0 // the length is in the offsets
		}
		if bytes > 0 && at == 0 {
			missing = append(missing, fmt.Sprintf("%s %v: buffer %d of %d bytes", path, t, i, bytes))
		}
	}
	for i := range l.Children() {
		child, _ := l.Child(i)
		missing = append(missing, missingBuffers(fmt.Sprintf("%s.children[%d]", path, i), childOf(a, i), child)...)
	}
	if of := l.Dictionary(); of != nil {
		missing = append(missing, missingBuffers(path+".dictionary", dictionaryOf(a), of)...)
	}
	return missing
}

// firstOffsets checks that the one offset of every array without elements is zero.
func firstOffsets(t *testing.T, m *memory.Manager, where location, a *cabi.Array, of arrow.DataType) {
	t.Helper()
	l, err := layoutOf(of)
	require.NoError(t, err)
	if a.Length == 0 && a.Offset == 0 && (l.Kind == layout.Binary || l.Kind == layout.List) {
		at := buffersOf(a)[1]
		var bytes []byte
		if where.deviceType == cabi.DeviceCPU {
			bytes = unsafe.Slice((*byte)(pointerAt(at)), l.Width)
		} else {
			bytes = rawBytes(t, m, device.Pointer(at), l.Width)
		}
		require.Equal(t, make([]byte, l.Width), bytes, "%v", of)
	}
	for i := range l.Children() {
		child, _ := l.Child(i)
		firstOffsets(t, m, where, childOf(a, i), child)
	}
}

// withoutElements makes tables without rows of a column of a type, in every possible
// way.
func withoutElements(t *testing.T, m *memory.Manager, dataType arrow.DataType) map[string]*buffer.Buffer {
	t.Helper()
	g := arraytest.NewGenerator(3)
	none, some := recordOf(g.Array(dataType, 0)), recordOf(g.Array(dataType, 20))
	tables := map[string]*buffer.Buffer{"of a record": upload(t, m, none)}
	whole := upload(t, m, some)
	slice := func(from, count int64) *buffer.Buffer {
		part, err := whole.Slice(from, count)
		require.NoError(t, err)
		return part
	}
	tables["a slice"], tables["a slice of the end"], tables["a slice of the beginning"] = slice(7, 0), slice(20, 0), slice(0, 0)
	require.NoError(t, whole.Release())
	sliced := some.NewSlice(9, 9)
	tables["of a slice of a record"] = upload(t, m, sliced)
	sliced.Release()
	record, err := tables["a slice"].Record(t.Context())
	require.NoError(t, err)
	tables["of a slice that was downloaded"] = upload(t, m, record)
	record.Release()
	p, a := foreignTable(t, m, some)
	p.Device.Array.Length = 0
	tables["imported"], err = Import(m, pointerTo(p.Device), a.Schema())
	require.NoError(t, err)
	require.NoError(t, a.Release())
	tables["of several records"], err = buffer.FromRecords(t.Context(), m, []arrow.Record{none, none}, buffer.LoadOptions{})
	require.NoError(t, err)
	loaded, err := column.FromArray(t.Context(), m, none.Column(0), column.UploadOptions{})
	require.NoError(t, err)
	tables["of an array"], err = buffer.New(none.Schema(), []*column.Column{loaded}, buffer.Rows{})
	require.NoError(t, err)
	require.NoError(t, loaded.Release())
	bare, err := column.New(bareData(dataType))
	require.NoError(t, err)
	tables["without memory"], err = buffer.New(none.Schema(), []*column.Column{bare}, buffer.Rows{})
	require.NoError(t, err)
	require.NoError(t, bare.Release())
	return tables
}

// bareData describes a column without elements and without memory, even for offsets.
func bareData(t arrow.DataType) column.Data {
	l, _ := layoutOf(t)
	data := column.Data{Type: t, Buffers: make([]column.Bytes, l.Buffers())}
	for i := range l.Children() {
		of, _ := l.Child(i)
		child, err := column.New(bareData(of))
		if err != nil {
			panic(err)
		}
		data.Children = append(data.Children, child)
	}
	if of := l.Dictionary(); of != nil {
		data.Dictionary, _ = column.New(bareData(of))
	}
	return data
}

// requireReachable checks that no array without elements has an offset. Arrow C++ refuses
// one behind the end of its buffers, which may be empty.
func requireReachable(t *testing.T, root *cabi.Array) {
	t.Helper()
	for _, a := range all(root) {
		if a.Length == 0 {
			require.Zero(t, a.Offset)
		}
	}
}

// TestSlicesOfRecordsWithoutElements exports empty slices of host arrays of every type.
func TestSlicesOfRecordsWithoutElements(t *testing.T) {
	g := arraytest.NewGenerator(4)
	for _, dataType := range arraytest.AllTypes() {
		whole := recordOf(g.Array(dataType, 3))
		part := whole.NewSlice(2, 2)
		whole.Release()
		require.Equal(t, 2, part.Column(0).Data().Offset())
		var a cabi.Array
		require.NoError(t, ExportRecord(part, unsafe.Pointer(&a), nil))
		part.Release()
		requireReachable(t, &a)
		require.Empty(t, missingBuffers("", childOf(&a, 0), dataType), "%v", dataType)
		cabi.ReleaseArray(&a)
	}
}

// Arrays without elements have all the buffers that consumers read. Arrow C++ refuses
// them without their one offset.
func TestArraysWithoutElementsHaveTheirOffset(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		for _, dataType := range arraytest.AllTypes() {
			for name, table := range withoutElements(t, m, dataType) {
				a, err := Export(table, ExportOptions{})
				require.NoError(t, err, "%v, %s", dataType, name)
				child := childOf(&deviceArray(a).Array, 0)
				require.Empty(t, missingBuffers("", child, dataType), "%v, %s", dataType, name)
				requireReachable(t, child)
				firstOffsets(t, m, location{deviceArray(a).DeviceType, deviceArray(a).DeviceID}, child, dataType)
				require.NoError(t, a.Release())

				single, err := ExportColumn(table.Column(0), arrow.Field{})
				require.NoError(t, err)
				require.Empty(t, missingBuffers("", &deviceArray(single).Array, dataType), "%v, %s", dataType, name)
				requireReachable(t, &deviceArray(single).Array)
				require.NoError(t, single.Release())
				require.NoError(t, table.Release())
			}
		}
		requireNothingHeld(t, m)
	})
}

// The offset is in the same kind of memory as the rest of the array.
func TestTheOffsetIsWhereTheArrayIs(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		check := func(table *buffer.Buffer, want location, kind device.MemoryKind, list func(a *cabi.Array) *cabi.Array) {
			t.Helper()
			a, err := Export(table, ExportOptions{Device: m.Device()})
			require.NoError(t, err)
			require.Equal(t, want, location{deviceArray(a).DeviceType, deviceArray(a).DeviceID})
			at := device.Pointer(buffersOf(list(&deviceArray(a).Array))[1])
			require.NotZero(t, at)
			info, err := m.Device().Driver().PointerInfo(at)
			require.NoError(t, err)
			require.Equal(t, kind, info.Kind)
			require.Equal(t, make([]byte, 4), rawBytes(t, m, at, 4))
			require.NoError(t, a.Release())
			require.NoError(t, table.Release())
		}
		lists := array.NewListBuilder(arrowmemory.DefaultAllocator, arrow.ListOf(arrow.PrimitiveTypes.Int32))
		for range 3 {
			lists.Append(true)
		}
		record := recordOf(int32s(1, 2, 3), lists.NewArray())
		inner := func(a *cabi.Array) *cabi.Array { return childOf(childOf(a, 1), 0) }
		for _, where := range otherMemories() {
			p, a := foreignElsewhere(t, m, where, record)
			buffersOf(inner(&p.Device.Array))[1] = 0
			table, err := Import(m, pointerTo(p.Device), a.Schema(), ImportOptions{Unchecked: true})
			require.NoError(t, err)
			check(table, location{where.code, cabi.NoDeviceID}, where.kind, inner)
			require.NoError(t, a.Release())
		}
		bare, err := column.New(bareData(arrow.BinaryTypes.String))
		require.NoError(t, err)
		table, err := buffer.New(recordOf(texts()).Schema(), []*column.Column{bare}, buffer.Rows{})
		require.NoError(t, err)
		require.NoError(t, bare.Release())
		first := func(a *cabi.Array) *cabi.Array { return childOf(a, 0) }
		check(table, location{cabi.DeviceCUDA, int64(m.Device().Info().Ordinal)}, device.MemoryDevice, first)
		requireNothingHeld(t, m)
	})
}

// Records of arrow-go have the offset too.
func TestRecordsWithoutElementsHaveTheirOffset(t *testing.T) {
	m := newHostManager(t)
	for _, dataType := range arraytest.AllTypes() {
		for name, table := range withoutElements(t, m, dataType) {
			record, err := table.Record(t.Context())
			require.NoError(t, err)
			p := producertest.New()
			out := (*cabi.Array)(p.Allocate(int(unsafe.Sizeof(cabi.Array{}))))
			require.NoError(t, ExportRecord(record, unsafe.Pointer(out), nil))
			require.Empty(t, missingBuffers("", childOf(out, 0), dataType), "%v, %s", dataType, name)
			cabi.ReleaseArray(out)
			p.Free()
			record.Release()
			require.NoError(t, table.Release())
		}
	}
	requireNothingHeld(t, m)
}
