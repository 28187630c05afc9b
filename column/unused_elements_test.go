package column_test

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// columnMaker makes columns of parts, until the end of a test.
type columnMaker struct {
	testing.TB
	mgr *memory.Manager
}

func (m columnMaker) done(c *column.Column, err error) *column.Column {
	m.Helper()
	require.NoError(m, err)
	m.Cleanup(func() { require.NoError(m, c.Release()) })
	return c
}

// numbers makes a column of integers, with the validity of the bits.
func (m columnMaker) numbers(values []int32, valid byte) *column.Column {
	c := m.done(column.FromSlice(m.Context(), m.mgr, values, column.SliceOptions{}))
	bits := m.done(column.FromSlice(m.Context(), m.mgr, []uint8{valid}, column.SliceOptions{}))
	data := c.Data()
	data.NullCount, data.Buffers = column.UnknownNullCount, []column.Bytes{bits.Data().Buffers[1], data.Buffers[1]}
	return m.done(column.New(data))
}

// nested makes a column of the elements. Lists get the offsets.
func (m columnMaker) nested(t arrow.DataType, length int, offsets []int32, children ...*column.Column) *column.Column {
	data := column.Data{Type: t, Length: length, Buffers: []column.Bytes{{}}, Children: children}
	if offsets != nil {
		data.Buffers = append(data.Buffers, m.done(column.FromSlice(m.Context(), m.mgr, offsets, column.SliceOptions{})).Data().Buffers[1])
	}
	return m.done(column.New(data))
}

// Elements behind those that the offsets refer to may be of any bytes: a gather that has room for
// more elements than it finds leaves such.
func TestArrayOfListsWithUnusedElements(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := columnMaker{t, devicetest.Manager(t, dev, memory.Options{})}
		used, none := []int32{0, 1, 2}, []int32{0, 0, 0}
		number := arrow.PrimitiveTypes.Int32

		keys, items := m.numbers([]int32{1, 2, -1}, 0b011), m.numbers([]int32{5, 6, 7}, 0b111)
		entries := m.nested(arrow.MapOf(number, number).Elem(), 3, nil, keys, items)
		text := m.done(column.FromSlice(t.Context(), m.mgr, []string{"a", "b"}, column.SliceOptions{}))
		indices := m.numbers([]int32{0, 1, 1 << 30}, 0b111).Data()
		indices.Type, indices.Dictionary = &arrow.DictionaryType{IndexType: number, ValueType: text.Type()}, text
		codes := m.done(column.New(indices))
		pairs := m.nested(arrow.StructOf(arrow.Field{Name: "a", Type: codes.Type(), Nullable: true}), 3, nil, codes)
		inner := m.nested(arrow.ListOf(number), 3, []int32{0, 2, 3, -9}, items)
		twos := m.nested(arrow.FixedSizeListOf(1, codes.Type()), 3, nil, codes)

		for _, test := range []struct {
			t        arrow.DataType
			elements *column.Column
			want     string
		}{
			{arrow.MapOf(number, number), entries, "[{[1] [5]} {[2] [6]}]"},
			{arrow.ListOf(codes.Type()), codes, "[{ dictionary: [\"a\" \"b\"]\n  indices: [0] } { dictionary: [\"a\" \"b\"]\n  indices: [1] }]"},
			{arrow.ListOf(pairs.Type()), pairs, "[{{ dictionary: [\"a\" \"b\"]\n  indices: [0] }} {{ dictionary: [\"a\" \"b\"]\n  indices: [1] }}]"},
			{arrow.ListOf(inner.Type()), inner, "[[[5 6]] [[7]]]"},
			{arrow.ListOf(twos.Type()), twos, ""},
		} {
			t.Run(test.t.String(), func(t *testing.T) {
				for _, offsets := range [][]int32{used, none} {
					list := m.nested(test.t, 2, offsets, test.elements)
					a, err := list.Array(t.Context())
					require.NoError(t, err, "offsets %v", offsets)
					if offsets[1] > 0 && test.want != "" {
						require.Equal(t, test.want, a.String())
					}
					a.Release()
				}
			})
		}
	})
}

// untidy copies an array, with other bytes behind the used elements in every buffer, at every level.
func (m columnMaker) untidy(a arrow.ArrayData, used int) *column.Column {
	l, err := layout.Of(a.DataType())
	require.NoError(m, err)
	data := column.Data{Type: a.DataType(), Length: a.Len(), NullCount: column.UnknownNullCount}
	buffers := a.Buffers()
	if len(buffers) > l.Buffers() && !l.HasValidity() {
		buffers = buffers[1:]
	}
	for i, b := range buffers {
		var bytes []byte
		if b != nil {
			bytes = slices.Clone(b.Bytes())
		}
		if i < l.Buffers() && l.Buffer(i) != layout.Data {
			extent, ok := l.Extent(l.Buffer(i), used)
			require.True(m, ok)
			for at := int(extent); at < len(bytes); at++ {
				bytes[at] = 0xF3
			}
		}
		if len(bytes) == 0 {
			data.Buffers = append(data.Buffers, column.Bytes{})
			continue
		}
		copied, err := column.FromSlice(m.Context(), m.mgr, bytes, column.SliceOptions{})
		data.Buffers = append(data.Buffers, m.done(copied, err).Data().Buffers[1])
	}
	stored := array.MakeFromData(a)
	if extension, ok := stored.(array.ExtensionArray); ok {
		stored = extension.Storage()
	}
	for i, child := range a.Children() {
		length := child.Len()
		switch l.Kind {
		case layout.List:
			if length = 0; used == 0 {
				break
			}
			_, end := stored.(array.ListLike).ValueOffsets(used - 1)
			length = int(end)
		case layout.Struct, layout.SparseUnion:
			length = used
		case layout.FixedSizeList:
			length = used * l.ListSize()
		case layout.RunEnds:
			length = array.NewSlice(stored, 0, int64(used)).(*array.RunEndEncoded).GetPhysicalLength()
		}
		data.Children = append(data.Children, m.untidy(a.Children()[i], length))
	}
	if l.Kind == layout.Dictionary {
		whole, err := column.FromArray(m.Context(), m.mgr, array.MakeFromData(a.Dictionary()), column.UploadOptions{})
		data.Dictionary = m.done(whole, err)
	}
	if len(data.Buffers) == 0 {
		data.Manager = m.mgr
	}
	return m.done(column.New(data))
}

// The used elements of every type have their values, whatever is behind them, and lists without elements have none.
func TestArrayOfListsWithUnusedElementsOfAllTypes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := columnMaker{t, devicetest.Manager(t, dev, memory.Options{})}
		g := arraytest.NewGenerator(11)
		for _, element := range arraytest.AllTypes() {
			field := arrow.Field{Name: "a", Type: element, Nullable: true}
			for _, dataType := range []arrow.DataType{
				element, arrow.ListOf(element), arrow.LargeListOf(element), arrow.StructOf(field), arrow.FixedSizeListOf(2, element), arrow.ListViewOf(element),
			} {
				t.Run(dataType.String(), func(t *testing.T) {
					a := g.Array(dataType, 12)
					require.Zero(t, a.Data().Offset())
					for _, used := range []int{0, 1, 5, 12} {
						whole := m.untidy(a.Data(), used)
						for _, begin := range []int{0, min(3, used), used} {
							elements := m.done(whole.Slice(begin, 12-begin))
							list := m.nested(arrow.ListOf(dataType), 2, []int32{0, 0, int32(used - begin)}, elements)
							got, err := list.Array(t.Context())
							require.NoError(t, err, "from %d to %d", begin, used)
							values := array.NewSlice(got.(*array.List).ListValues(), 0, int64(used-begin))
							require.Equal(t, plains(array.NewSlice(a, int64(begin), int64(used))), plains(values), "from %d to %d", begin, used)
						}
					}
				})
			}
		}
	})
}
