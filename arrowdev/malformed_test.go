//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// many is a record of ten rows without nulls, with a column of every kind.
func many() arrow.Record {
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	fields := []arrow.Field{field("x", arrow.PrimitiveTypes.Int32), field("y", arrow.PrimitiveTypes.Int64)}
	codes := []arrow.UnionTypeCode{5, 7}
	g := arraytest.NewGenerator(1)
	g.Nulls = arraytest.NoneNull
	var arrays []arrow.Array
	for _, t := range []arrow.DataType{
		arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
		arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.ListViewOf(arrow.PrimitiveTypes.Int32), arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32),
		arrow.StructOf(fields...), arrow.SparseUnionOf(fields, codes), arrow.DenseUnionOf(fields, codes),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64), arrow.FixedWidthTypes.Boolean, arrow.Null,
	} {
		arrays = append(arrays, g.Array(t, 10))
	}
	return recordOf(arrays...)
}

// These are the numbers of the columns of many.
const (
	numbers = iota
	strings32
	strings64
	stringViews
	lists
	listViews
	fixedLists
	structs
	sparseUnions
	denseUnions
	dictionaries
	runEnds
	booleans
	allNulls
)

func dictionaryOf(a *cabi.Array) *cabi.Array { return (*cabi.Array)(address.Pointer(a.Dictionary)) }

// Each broken field gives the error that names it, and the array is released once.
func TestMalformedStructs(t *testing.T) {
	const root = "ArrowDeviceArray.array"
	child := func(i int) func(d *cabi.DeviceArray) *cabi.Array {
		return func(d *cabi.DeviceArray) *cabi.Array { return childOf(&d.Array, i) }
	}
	top := func(d *cabi.DeviceArray) *cabi.Array { return &d.Array }
	for _, each := range []struct {
		name  string
		of    func(d *cabi.DeviceArray) *cabi.Array
		spoil func(a *cabi.Array)
		field string
		is    error
		says  string
	}{
		{"negative length", top, func(a *cabi.Array) { a.Length = -1 }, root + ".length", ErrInvalid, "-1"},
		{"length beyond the children", top, func(a *cabi.Array) { a.Length = 11 }, root + ".children[0].length", ErrInvalid, "need 11"},
		{"negative offset", top, func(a *cabi.Array) { a.Offset = -3 }, root + ".offset", ErrInvalid, "-3"},
		{"overflowing offset", top, func(a *cabi.Array) { a.Offset = math.MaxInt64 - 9 }, root + ".offset", ErrInvalid, ""},
		{"offset beyond the children", top, func(a *cabi.Array) { a.Offset = 1 }, root + ".children[0].length", ErrInvalid, "need 11"},
		{"null count below -1", top, func(a *cabi.Array) { a.NullCount = -2 }, root + ".null_count", ErrInvalid, "-2"},
		{"null count beyond the length", top, func(a *cabi.Array) { a.NullCount = 11 }, root + ".null_count", ErrInvalid, "11, expected -1 to the length 10"},
		{"null rows", top, func(a *cabi.Array) { a.NullCount = 3; buffersOf(a)[0] = buffersOf(childOf(a, 0))[1] }, root + ".null_count", ErrUnsupported, "as a column"},
		{"null rows without a bitmap", top, func(a *cabi.Array) { a.NullCount = 3 }, root + ".buffers[0]", ErrInvalid, "NULL"},
		{"too few buffers", top, func(a *cabi.Array) { a.NumBuffers = 0 }, root + ".n_buffers", ErrInvalid, "0"},
		{"too few children", top, func(a *cabi.Array) { a.NumChildren-- }, root + ".n_children", ErrInvalid, "13"},
		{"many children", top, func(a *cabi.Array) { a.NumChildren = math.MaxInt64 }, root + ".n_children", ErrInvalid, ""},
		{"negative children", top, func(a *cabi.Array) { a.NumChildren = -1 }, root + ".n_children", ErrInvalid, ""},
		{"a dictionary where none belongs", top, func(a *cabi.Array) { a.Dictionary = a.Children }, root + ".dictionary", ErrInvalid, ""},
		{"misaligned table of children", top, func(a *cabi.Array) { a.Children++ }, root + ".children", ErrInvalid, "not aligned"},
		{"misaligned table of buffers", top, func(a *cabi.Array) { a.Buffers += 4 }, root + ".buffers", ErrInvalid, "not aligned"},
		{"misaligned child", top, func(a *cabi.Array) { pointersOf(a)[2]++ }, root + ".children[2]", ErrInvalid, "not aligned"},

		{"misaligned values", child(numbers), func(a *cabi.Array) { buffersOf(a)[1] += 2 }, root + ".children[0].buffers[1]", ErrInvalid, "not aligned"},
		{"values at NULL", child(numbers), func(a *cabi.Array) { buffersOf(a)[1] = 0 }, root + ".children[0].buffers[1]", ErrInvalid, "NULL"},
		{"values past the end of memory", child(numbers), func(a *cabi.Array) { buffersOf(a)[1] = ^uintptr(3) }, root + ".children[0].buffers[1]", ErrInvalid, "address space"},
		{"more elements than there are bytes", child(numbers), func(a *cabi.Array) { a.Length = math.MaxInt64 }, root + ".children[0].length", ErrInvalid, "address space"},
		{"children of numbers", child(numbers), func(a *cabi.Array) { a.NumChildren = 1 }, root + ".children[0].n_children", ErrInvalid, ""},
		{"a released child", child(numbers), func(a *cabi.Array) { a.Release = 0 }, root + ".children[0].release", ErrMoved, ""},

		{"offsets at NULL", child(strings32), func(a *cabi.Array) { buffersOf(a)[1] = 0 }, root + ".children[1].buffers[1]", ErrInvalid, "NULL"},
		{"misaligned offsets", child(strings64), func(a *cabi.Array) { buffersOf(a)[1] += 4 }, root + ".children[2].buffers[1]", ErrInvalid, "not aligned"},
		{"no data for strings", child(strings32), func(a *cabi.Array) { buffersOf(a)[2] = 0 }, root + ".children[1].buffers[2]", ErrInvalid, "NULL"},
		{"two buffers for strings", child(strings32), func(a *cabi.Array) { a.NumBuffers = 2 }, root + ".children[1].n_buffers", ErrInvalid, "2"},

		{"views without lengths", child(stringViews), func(a *cabi.Array) { a.NumBuffers = 2 }, root + ".children[3].n_buffers", ErrInvalid, "2"},
		{"any number of views' buffers", child(stringViews), func(a *cabi.Array) { a.NumBuffers = math.MaxInt64 }, root + ".children[3].n_buffers", ErrInvalid, ""},
		{"views' lengths at NULL", child(stringViews), func(a *cabi.Array) { buffersOf(a)[4] = 0 }, root + ".children[3].buffers[4]", ErrInvalid, "NULL"},
		{"a negative length of views' data", child(stringViews), func(a *cabi.Array) { *(*int64)(address.Pointer(buffersOf(a)[4])) = -1 }, root + ".children[3].buffers[4]", ErrInvalid, "-1"},
		{"views' data at NULL", child(stringViews), func(a *cabi.Array) { buffersOf(a)[2] = 0 }, root + ".children[3].buffers[2]", ErrInvalid, "NULL"},

		{"no child of lists", child(lists), func(a *cabi.Array) { a.Children = 0 }, root + ".children[4].children", ErrInvalid, "NULL"},
		{"a child of lists at NULL", child(lists), func(a *cabi.Array) { pointersOf(a)[0] = 0 }, root + ".children[4].children[0]", ErrInvalid, "NULL"},
		{"lists beyond the child", child(lists), func(a *cabi.Array) { childOf(a, 0).Length = 1 }, root + ".children[4].buffers[1]", ErrInvalid, ""},
		{"list views beyond the child", child(listViews), func(a *cabi.Array) { childOf(a, 0).Length = 0 }, root + ".children[5].buffers[1]", ErrInvalid, ""},
		{"fixed lists beyond the child", child(fixedLists), func(a *cabi.Array) { childOf(a, 0).Length = 19 }, root + ".children[6].children[0].length", ErrInvalid, "need 20"},
		{"structs beyond a child", child(structs), func(a *cabi.Array) { childOf(a, 1).Length = 9 }, root + ".children[7].children[1].length", ErrInvalid, "need 10"},

		{"a bitmap of a union", child(sparseUnions), func(a *cabi.Array) { a.NumBuffers = 2 }, root + ".children[8].n_buffers", ErrInvalid, "2"},
		{"nulls of a union", child(sparseUnions), func(a *cabi.Array) { a.NullCount = 2 }, root + ".children[8].null_count", ErrInvalid, "no nulls"},
		{"a union beyond a child", child(sparseUnions), func(a *cabi.Array) { childOf(a, 0).Length = 0 }, root + ".children[8].children[0].length", ErrInvalid, ""},
		{"a dense union beyond a child", child(denseUnions), func(a *cabi.Array) { childOf(a, 0).Length, childOf(a, 1).Length = 0, 0 }, root + ".children[9].buffers[1]", ErrInvalid, ""},

		{"no dictionary", child(dictionaries), func(a *cabi.Array) { a.Dictionary = 0 }, root + ".children[10].dictionary", ErrInvalid, "NULL"},
		{"indices beyond the dictionary", child(dictionaries), func(a *cabi.Array) { dictionaryOf(a).Length = 0 }, root + ".children[10].buffers[1]", ErrInvalid, ""},
		{"a released dictionary", child(dictionaries), func(a *cabi.Array) { dictionaryOf(a).Release = 0 }, root + ".children[10].dictionary.release", ErrMoved, ""},

		{"no runs", child(runEnds), func(a *cabi.Array) { childOf(a, 0).Length, childOf(a, 1).Length = 0, 0 }, root + ".children[11].children[0].length", ErrInvalid, ""},
		{"runs that end too soon", child(runEnds), func(a *cabi.Array) { a.Offset = 100; a.Length = 10 }, root + ".children[11].children[0].buffers[1]", ErrInvalid, "110"},
		{"fewer values than runs", child(runEnds), func(a *cabi.Array) { childOf(a, 1).Length-- }, root + ".children[11].children[1].length", ErrInvalid, ""},
		{"null run ends", child(runEnds), func(a *cabi.Array) {
			childOf(a, 0).NullCount = 1
			buffersOf(childOf(a, 0))[0] = buffersOf(childOf(a, 0))[1]
		}, root + ".children[11].children[0].null_count", ErrInvalid, "null"},

		{"buffers of nulls", child(allNulls), func(a *cabi.Array) { a.NumBuffers = 1 }, root + ".children[13].n_buffers", ErrInvalid, "1"},
	} {
		t.Run(each.name, func(t *testing.T) {
			eachDevice(t, func(t *testing.T, m *memory.Manager) {
				p, a := foreignTable(t, m, many())
				each.spoil(each.of(p.Device))
				table, err := Import(m, pointerTo(p.Device), a.Schema())
				require.Nil(t, table)
				requireFault(t, err, "import", each.field, each.is)
				assert.ErrorContains(t, err, each.says)
				requireReleasedOnce(t, p)
				require.NoError(t, a.Release())
				requireNothingHeld(t, m)
			})
		})
	}
}

// pointersOf returns the addresses of an array's children. The caller may change
// them.
func pointersOf(a *cabi.Array) []uintptr {
	return unsafe.Slice((*uintptr)(address.Pointer(a.Children)), a.NumChildren)
}

func requireFault(t *testing.T, err error, operation, field string, is error) {
	t.Helper()
	require.ErrorIs(t, err, is)
	var typed *Error
	require.ErrorAs(t, err, &typed)
	require.Same(t, typed, err)
	require.Equal(t, operation, typed.Operation)
	require.Equal(t, field, typed.Field, "%v", err)
}

// requireReleasedOnce checks that the root's release ran once, and that the caller's
// struct is marked as released.
func requireReleasedOnce(t *testing.T, p *producertest.Producer) {
	t.Helper()
	require.Zero(t, p.Device.Array.Release)
	require.Equal(t, 1, p.RootReleases())
}

// References out of bounds in the contents are reported, unless the check is switched
// off.
func TestMalformedContents(t *testing.T) {
	const root = "ArrowDeviceArray.array.children"
	for _, each := range []struct {
		name   string
		column int
		of     func(a *cabi.Array) *cabi.Array
		buffer int
		bytes  []byte
		field  string
	}{
		{"a negative offset", strings32, nil, 1, []byte{0xff, 0xff, 0xff, 0xff}, root + "[1].buffers[1]"},
		{"descending offsets", strings32, nil, 1, []byte{0, 0, 0, 0x40}, root + "[1].buffers[1]"},
		{"descending long offsets", strings64, nil, 1, []byte{0, 0, 0, 0, 0, 1, 0, 0}, root + "[2].buffers[1]"},
		{"a view of no buffer", stringViews, nil, 1, []byte{20, 0, 0, 0, 1, 1, 1, 1, 9, 0, 0, 0, 0, 0, 0, 0}, root + "[3].buffers[1]"},
		{"a view past its buffer", stringViews, nil, 1, []byte{20, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0x10}, root + "[3].buffers[1]"},
		{"descending list offsets", lists, nil, 1, []byte{0, 0, 0, 0x40}, root + "[4].buffers[1]"},
		{"a negative list size", listViews, nil, 2, []byte{0xff, 0xff, 0xff, 0xff}, root + "[5].buffers[1]"},
		{"an unknown type id", sparseUnions, nil, 0, []byte{6}, root + "[8].buffers[0]"},
		{"a negative union offset", denseUnions, nil, 1, []byte{0xff, 0xff, 0xff, 0xff}, root + "[9].buffers[1]"},
		{"a negative index", dictionaries, nil, 1, []byte{0xff, 0xff}, root + "[10].buffers[1]"},
		{"an index beyond the dictionary", dictionaries, nil, 1, []byte{0, 1}, root + "[10].buffers[1]"},
		{"a bad offset in a dictionary", dictionaries, dictionaryOf, 1, []byte{0, 0, 0, 0x40}, root + "[10].dictionary.buffers[1]"},
		{"a run of no length", runEnds, func(a *cabi.Array) *cabi.Array { return childOf(a, 0) }, 1, []byte{0, 0, 0, 0}, root + "[11].children[0].buffers[1]"},
	} {
		t.Run(each.name, func(t *testing.T) {
			eachDevice(t, func(t *testing.T, m *memory.Manager) {
				p, a := foreignTable(t, m, many())
				of := childOf(&p.Device.Array, each.column)
				if each.of != nil {
					of = each.of(of)
				}
				at := device.Pointer(buffersOf(of)[each.buffer])
				require.NoError(t, m.Device().Driver().CopyToDevice(at, unsafe.Pointer(&each.bytes[0]), uint64(len(each.bytes))))
				_, err := Import(m, pointerTo(p.Device), a.Schema())
				requireFault(t, err, "import", each.field, ErrInvalid)
				requireReleasedOnce(t, p)
				require.NoError(t, a.Release())
				requireNothingHeld(t, m)
			})
		})
	}
}

// If the null count of a table's root is unknown, the nulls are counted; zero is
// accepted.
func TestUncountedNullRows(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, bits := range []byte{0xff, 0xfb} {
			p, a := foreignTable(t, m, recordOf(int32s(1, 2, 3, 4)))
			p.Device.Array.NullCount = -1
			buffersOf(&p.Device.Array)[0] = uintptr(devicetest.Foreign(t, m.Device(), []byte{bits}))
			table, err := Import(m, pointerTo(p.Device), a.Schema(), ImportOptions{Unchecked: bits == 0xff})
			if bits == 0xff {
				require.NoError(t, err)
				requireRecord(t, recordOf(int32s(1, 2, 3, 4)), download(t, table))
			} else {
				requireFault(t, err, "import", "ArrowDeviceArray.array.null_count", ErrUnsupported)
			}
			requireReleasedOnce(t, p)
			require.NoError(t, a.Release())
			requireNothingHeld(t, m)
		}
	})
}

// As a column such an array is imported with its nulls.
func TestNullRowsOfAColumn(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		p, a := foreignTable(t, m, recordOf(int32s(1, 2, 3, 4)))
		p.Device.Array.NullCount = 1
		buffersOf(&p.Device.Array)[0] = uintptr(devicetest.Foreign(t, m.Device(), []byte{0xfb}))
		c, _, err := ImportColumn(m, pointerTo(p.Device), a.Schema())
		require.NoError(t, err)
		got := arrayOf(t, c)
		require.Equal(t, 1, got.NullN())
		require.True(t, got.IsNull(2))
		require.True(t, array.Equal(int32s(1, 2, 3, 4), got.(*array.Struct).Field(0)))
		require.NoError(t, c.Release())
		requireReleasedOnce(t, p)
		require.NoError(t, a.Release())
		requireNothingHeld(t, m)
	})
}

// Addresses that the driver does not know, in every buffer of every kind of array,
// give errors that name the buffer. They are not read, and the array is released
// once.
func TestWildPointers(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		if m.Device().Kind() == device.Host {
			t.Skip("host memory: no driver knows its address ranges")
		}
		count := len(many().Columns())
		for column := range count {
			for buffer := 0; ; buffer++ {
				p, a := foreignTable(t, m, many())
				child := childOf(&p.Device.Array, column)
				buffers := buffersOf(child)
				if buffer >= len(buffers) {
					require.NoError(t, a.Release())
					break
				}
				was := buffers[buffer]
				buffers[buffer] = 0xdead0000
				table, err := Import(m, pointerTo(p.Device), a.Schema())
				if was == 0 { // a missing bitmap is not read
					require.NoError(t, err)
					require.NoError(t, table.Release())
				} else {
					require.ErrorContains(t, err, childPath(column), "buffer %d", buffer)
				}
				requireReleasedOnce(t, p)
				require.NoError(t, a.Release())
			}
		}
		requireNothingHeld(t, m)
	})
}

func childPath(i int) string { return fmt.Sprintf("ArrowDeviceArray.array.children[%d].buffers[", i) }

// A release callback that is NULL marks a struct as released. Nothing of it is read,
// for arrays, children, schemas and streams.
func TestNullReleases(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		p, a := foreignTable(t, m, many())
		p.Device.Array = cabi.Array{Length: 10, NumBuffers: 1, Buffers: 0xdead0000, Children: 0xdead0000, NumChildren: 14}
		_, err := Import(m, pointerTo(p.Device), a.Schema())
		require.ErrorIs(t, err, ErrMoved)
		require.NoError(t, a.Release())
		schema := &cabi.Schema{Format: 0xdead0000, Children: 0xdead0000, NumChildren: 3}
		_, err = ImportSchema(pointerTo(schema))
		require.ErrorIs(t, err, ErrMoved)
		stream := &cabi.DeviceStream{GetSchema: 0xdead0000, GetNext: 0xdead0000}
		_, err = ImportStream(m, pointerTo(stream))
		require.ErrorIs(t, err, ErrMoved)
		requireNothingHeld(t, m)
	})
}
