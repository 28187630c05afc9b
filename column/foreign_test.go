package column_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// foreign makes columns as another library might: buffer by buffer, each in a
// separate block, with offsets at every level.
type foreign struct {
	t   testing.TB
	mgr *memory.Manager
}

// bytes copies bytes to the device until the end of the test.
func (f foreign) bytes(bytes []byte) column.Bytes {
	f.t.Helper()
	slice, err := memory.NewSlice[uint8](f.mgr, len(bytes), memory.AllocateOptions{})
	require.NoError(f.t, err)
	require.NoError(f.t, slice.Upload(f.t.Context(), nil, bytes))
	f.t.Cleanup(func() { require.NoError(f.t, slice.Release()) })
	return slice
}

// numbers copies integers of a width to the device until the end of the test.
func (f foreign) numbers(width int, values ...int) column.Bytes {
	f.t.Helper()
	var bytes []byte
	for _, value := range values {
		bytes = arraytest.Append(bytes, width, value)
	}
	return f.bytes(bytes)
}

// column makes a column until the end of the test.
func (f foreign) column(data column.Data) *column.Column {
	f.t.Helper()
	c, err := column.New(data)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, c.Release()) })
	return c
}

// mirror makes a column of an array's unchanged parts, without the planner.
func (f foreign) mirror(d arrow.ArrayData) *column.Column {
	f.t.Helper()
	data := column.Data{Type: d.DataType(), Length: d.Len(), Offset: d.Offset(), NullCount: d.NullN()}
	buffers := d.Buffers()
	switch d.DataType().ID() {
	case arrow.NULL, arrow.SPARSE_UNION, arrow.DENSE_UNION, arrow.RUN_END_ENCODED:
		buffers = buffers[1:]
	}
	for _, buffer := range buffers {
		if buffer == nil {
			data.Buffers = append(data.Buffers, column.Bytes{})
			continue
		}
		data.Buffers = append(data.Buffers, f.bytes(buffer.Bytes()))
	}
	for _, child := range d.Children() {
		data.Children = append(data.Children, f.mirror(child))
	}
	if dictionary := d.Dictionary(); dictionary != (*array.Data)(nil) {
		data.Dictionary = f.mirror(dictionary)
	}
	return f.column(data)
}

func TestForeignColumnsWithOffsetsAtEveryLevel(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for number, dataType := range arraytest.AllTypes() {
			t.Run(dataType.String(), func(t *testing.T) {
				g := arraytest.NewGenerator(uint64(number))
				g.Sliced = true
				for _, g.Nulls = range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
					whole := g.Array(dataType, 50)
					there := foreign{t, mgr}.mirror(whole.Data())
					for _, cut := range cuts(50) {
						slice, err := there.Slice(cut[0], cut[1]-cut[0])
						require.NoError(t, err)
						back, err := slice.Array(t.Context())
						require.NoError(t, err)
						requireChunks(t, []arrow.Array{array.NewSlice(whole, int64(cut[0]), int64(cut[1]))}, back)
						back.Release()
						require.NoError(t, slice.Release())
					}
				}
			})
		}
		assert.Zero(t, mgr.Stats().Blocks)
	})
}

// Positions out of range give errors, not panics, also in a part of the column.
func TestForeignPositionsOutOfRange(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	f := foreign{t, mgr}
	none := column.Bytes{}
	number := arrow.PrimitiveTypes.Int32
	numbers := f.column(column.Data{Type: number, Length: 3, Buffers: []column.Bytes{none, f.numbers(4, 1, 2, 3)}})
	text := func(width int, offsets ...int) column.Data {
		t := arrow.DataType(arrow.BinaryTypes.String)
		if width == 8 {
			t = arrow.BinaryTypes.LargeString
		}
		return column.Data{Type: t, Length: len(offsets) - 1, Buffers: []column.Bytes{none, f.numbers(width, offsets...), f.bytes([]byte("abc"))}}
	}
	list := func(offsets ...int) column.Data {
		return column.Data{
			Type: arrow.ListOf(number), Length: len(offsets) - 1, Children: []*column.Column{numbers},
			Buffers: []column.Bytes{none, f.numbers(4, offsets...)},
		}
	}
	view := func(offset, size int) column.Data {
		return column.Data{
			Type: arrow.ListViewOf(number), Length: 1, Children: []*column.Column{numbers},
			Buffers: []column.Bytes{none, f.numbers(4, offset), f.numbers(4, size)},
		}
	}
	text16 := func(length, number, position int) column.Data {
		return column.Data{
			Type: arrow.BinaryTypes.StringView, Length: 1,
			Buffers: []column.Bytes{none, f.numbers(4, length, 0, number, position), f.bytes(make([]byte, 20))},
		}
	}
	fields := []arrow.Field{{Name: "n", Type: number}}
	union := func(id, offset int) column.Data {
		return column.Data{
			Type: arrow.DenseUnionOf(fields, []arrow.UnionTypeCode{4}), Length: 1, Children: []*column.Column{numbers},
			Buffers: []column.Bytes{f.numbers(1, id), f.numbers(4, offset)},
		}
	}
	dictionary := func(index int) column.Data {
		return column.Data{
			Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: number}, Length: 1, Dictionary: numbers,
			Buffers: []column.Bytes{none, f.numbers(1, index)},
		}
	}
	runs := func(length int, ends ...int) column.Data {
		e := f.column(column.Data{Type: arrow.PrimitiveTypes.Int16, Length: len(ends), Buffers: []column.Bytes{none, f.numbers(2, ends...)}})
		return column.Data{Type: arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, number), Length: length, Children: []*column.Column{e, numbers}}
	}
	sparse := column.Data{
		Type: arrow.SparseUnionOf(fields, []arrow.UnionTypeCode{4}), Length: 1, Children: []*column.Column{numbers},
		Buffers: []column.Bytes{f.numbers(1, 5)},
	}
	cases := []struct {
		name string
		data column.Data
		bad  string
	}{
		{"text", text(4, 0, 1, 3), ""},
		{"text beyond", text(4, 0, 1, 4), "offsets"},
		{"text backwards", text(4, 0, 2, 1), "offsets"},
		{"text negative", text(4, -1, 1, 1), "offsets"},
		{"text negative inside", text(4, 0, -5, 1), "offsets"},
		{"large text", text(8, 0, 1, 3), ""},
		{"large text beyond", text(8, 0, 1, 1<<30), "offsets"},
		{"large text backwards", text(8, 0, 2, 1), "offsets"},
		{"list", list(1, 2, 3), ""},
		{"list beyond", list(0, 4), "offsets"},
		{"list backwards", list(2, 1), "offsets"},
		{"list of all", list(0, 3), ""},
		{"list view", view(1, 2), ""},
		{"list view beyond", view(2, 2), "list 0"},
		{"list view negative", view(-1, 1), "list 0"},
		{"list view of fewer than none", view(1, -1), "list 0"},
		{"list view wrapping", view(1<<31-1, 1<<31-1), "list 0"},
		{"view", text16(15, 0, 5), ""},
		{"view inline", text16(12, 9, 9), ""},
		{"view beyond", text16(15, 0, 6), "views"},
		{"view of no buffer", text16(15, 1, 0), "views"},
		{"view of a negative buffer", text16(15, -1, 0), "views"},
		{"view before", text16(15, 0, -1), "views"},
		{"view of negative length", text16(-1, 0, 0), "views"},
		{"union", union(4, 2), ""},
		{"union beyond", union(4, 3), "offsets"},
		{"union before", union(4, -1), "offsets"},
		{"union of no type", union(3, 0), "type ids"},
		{"union of a negative type", union(-1, 0), "type ids"},
		{"sparse union of no type", sparse, "type ids"},
		{"dictionary", dictionary(2), ""},
		{"dictionary beyond", dictionary(3), "indices"},
		{"dictionary before", dictionary(-1), "indices"},
		{"runs", runs(9, 2, 5, 9), ""},
		{"runs that end too soon", runs(10, 2, 5, 9), "run ends"},
		{"runs that shrink", runs(9, 5, 2, 9), "run ends"},
		{"runs of nothing", runs(9, 0, 5, 9), "run ends"},
		{"runs, more than elements", runs(2, 1, 2, 3), ""},
		{"runs, more than elements, that shrink", runs(2, 1, 1, 3), "run ends"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			made, err := column.New(c.data)
			require.NoError(t, err)
			checked := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
			arrays, err := column.ToArrays(t.Context(), []*column.Column{numbers, made}, column.DownloadOptions{Allocator: checked})
			if c.bad == "" {
				require.NoError(t, err)
				for _, array := range arrays {
					array.Release()
				}
			} else {
				require.ErrorIs(t, err, column.ErrInvalid)
				require.ErrorContains(t, err, "column 1")
				require.ErrorContains(t, err, c.bad)
				require.Empty(t, arrays)
			}
			checked.AssertSize(t, 0)
			require.NoError(t, made.Release())
		})
	}
}

// The value of a null may be anything.
func TestForeignNullsMayBeOutOfRange(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	f := foreign{t, mgr}
	null := f.bytes([]byte{0})
	number := arrow.PrimitiveTypes.Int32
	numbers := f.column(column.Data{Type: number, Length: 1, Buffers: []column.Bytes{{}, f.numbers(4, 1)}})
	for _, data := range []column.Data{
		{Type: arrow.ListViewOf(number), Buffers: []column.Bytes{null, f.numbers(4, 77), f.numbers(4, -1)}, Children: []*column.Column{numbers}},
		{Type: arrow.BinaryTypes.BinaryView, Buffers: []column.Bytes{null, f.numbers(4, 77, 77, 77, 77)}},
		{Type: &arrow.DictionaryType{IndexType: number, ValueType: number}, Buffers: []column.Bytes{null, f.numbers(4, 77)}, Dictionary: numbers},
	} {
		data.Length, data.NullCount = 1, column.UnknownNullCount
		back, err := f.column(data).Array(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, back.NullN())
		if lists, ok := back.(*array.ListView); ok {
			// The format requires that the lists of nulls lie in the child too.
			assert.Zero(t, lists.Offsets()[0])
			assert.Zero(t, lists.Sizes()[0])
		}
		back.Release()
	}
}

func TestNewRefuses(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	f := foreign{t, mgr}
	number := arrow.PrimitiveTypes.Int32
	eight := f.bytes(make([]byte, 8))
	numbers := f.column(column.Data{Type: number, Length: 2, Buffers: []column.Bytes{{}, eight}})
	released, err := column.New(numbers.Data())
	require.NoError(t, err)
	require.NoError(t, released.Release())
	flat := func(t arrow.DataType, offset, length, nulls int, buffers ...column.Bytes) column.Data {
		return column.Data{Type: t, Offset: offset, Length: length, NullCount: nulls, Buffers: buffers}
	}
	nested := func(t arrow.DataType, offset, length int, buffers []column.Bytes, children ...*column.Column) column.Data {
		return column.Data{Type: t, Offset: offset, Length: length, Buffers: buffers, Children: children}
	}
	none := column.Bytes{}
	one, dictionary := []column.Bytes{none}, &arrow.DictionaryType{IndexType: number, ValueType: number}
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: number}, arrow.Field{Name: "b", Type: number})
	runEnds := arrow.RunEndEncodedOf(number, number)
	cases := []struct {
		data column.Data
		want string
	}{
		{column.Data{}, "the type is nil"},
		{flat(number, 0, 3, 0, none, eight), "buffer 1 (values) has 8 bytes, 3 elements of int32 at offset 0 need 12"},
		{flat(number, 1, 2, 0, none, eight), "2 elements of int32 at offset 1 need 12"},
		{flat(number, 0, math.MaxInt-1, 0, none, eight), "need"},
		{flat(number, -1, 1, 0, none, eight), "offset is -1"},
		{flat(number, 0, -1, 0, none, eight), "length -1"},
		{flat(number, math.MaxInt, math.MaxInt, 0, none, eight), "offset is"},
		{flat(number, 0, 2, 0, eight), "it has 1 buffers, int32 needs 2"},
		{flat(number, 0, 2, 0, none, none), "buffer 1 (values) has 0 bytes"},
		{flat(number, 0, 2, 3, eight, eight), "null count is 3, expected -1 to the length 2"},
		{flat(number, 0, 2, -2, eight, eight), "null count is -2"},
		{flat(number, 0, 2, 1, none, eight), "buffer 0 (validity) is absent"},
		{flat(arrow.FixedWidthTypes.Boolean, 1, 64, 0, none, eight), "buffer 1 (values) has 8 bytes, 64 elements of bool at offset 1 need 9"},
		{flat(arrow.PrimitiveTypes.Int8, 0, 8, -1, f.bytes(nil), eight), "buffer 0 (validity) has 0 bytes"},
		{flat(arrow.BinaryTypes.String, 0, 2, 0, none, eight, eight), "buffer 1 (offsets) has 8 bytes, 2 elements of utf8 at offset 0 need 12"},
		{flat(arrow.BinaryTypes.StringView, 0, 1, 0, none, eight), "buffer 1 (views) has 8 bytes"},
		{flat(arrow.BinaryTypes.StringView, 0, 0, 0, none), "it has 1 buffers"},
		{nested(arrow.ListOf(number), 0, 1, []column.Bytes{none, eight}), "it has 0 children, list<item: int32, nullable> needs 1"},
		{nested(arrow.ListOf(number), 0, 1, []column.Bytes{none, eight}, nil), "child 0 (item)"},
		{nested(arrow.ListOf(arrow.BinaryTypes.String), 0, 1, []column.Bytes{none, eight}, numbers), "it is int32 where utf8 belongs"},
		{nested(pair, 0, 2, one, numbers), "it has 1 children"},
		{nested(pair, 0, 2, one, numbers, released), "already released"},
		{nested(pair, 1, 2, one, numbers, numbers), "child 0 (a): it has 2 elements"},
		{nested(arrow.FixedSizeListOf(3, number), 0, 1, one, numbers), "child 0 (item): it has 2 elements"},
		{nested(arrow.FixedSizeListOf(3, number), 0, math.MaxInt/4, one, numbers), "child 0 (item): it has 2 elements"},
		{nested(arrow.SparseUnionOf(pair.Fields(), []int8{0, 1}), 0, 3, []column.Bytes{eight}, numbers, numbers), "child 0 (a): it has 2 elements"},
		{nested(arrow.DenseUnionOf(pair.Fields(), []int8{0, 1}), 0, 3, []column.Bytes{eight, eight}, numbers, numbers), "buffer 1 (offsets) has 8 bytes"},
		{nested(runEnds, 0, 1, nil, f.column(flat(number, 0, 1, 1, f.bytes([]byte{0}), eight)), numbers), "child 0 (run ends): it has 1 nulls"},
		{nested(runEnds, 0, 1, nil, f.column(flat(number, 0, 0, 0, none, none)), numbers), "child 0 (run ends): it has 0 elements"},
		{nested(runEnds, 0, 1, nil, numbers, f.column(flat(number, 0, 1, 0, none, eight))), "child 1 (values): it has 1 elements"},
		{flat(dictionary, 0, 1, 0, none, eight), "dictionary"},
		{column.Data{Type: dictionary, Length: 1, Buffers: []column.Bytes{none, eight}, Dictionary: released}, "already released"},
		{column.Data{Type: number, Length: 1, Buffers: []column.Bytes{none, eight}, Dictionary: numbers}, "it has a dictionary"},
	}
	before := mgr.Stats().Blocks
	for _, c := range cases {
		_, err := column.New(c.data)
		require.Error(t, err, c.want)
		assert.ErrorContains(t, err, c.want)
	}
	assert.Equal(t, before, mgr.Stats().Blocks)
}
