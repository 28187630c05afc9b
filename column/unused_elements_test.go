package column_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
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
