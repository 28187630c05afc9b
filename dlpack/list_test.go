//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

func shapeOf(described *cabi.Tensor) (shape, strides []int64) {
	for i := range int(described.NDim) {
		shape = append(shape, word(described.Shape, i))
		strides = append(strides, word(described.Strides, i))
	}
	return shape, strides
}

// nested is a column of lists of lists, and its expected contents.
type nested struct {
	column *column.Column
	shape  []int64
	want   []byte
}

// drawNested makes lists with gaps before, after and between them on each level.
func drawNested(t testing.TB, r *rapid.T, m *memory.Manager, leaf numeric, depth int) nested {
	n := nested{shape: []int64{int64(rapid.IntRange(0, 5).Draw(r, "rows"))}}
	offsets, lengths := []int{rapid.IntRange(0, 3).Draw(r, "offset")}, []int{int(n.shape[0])}
	first, count := offsets[0], lengths[0]
	for range depth {
		size := rapid.IntRange(1, 3).Draw(r, "size")
		offset := rapid.IntRange(0, 3).Draw(r, "offset")
		end := (offsets[len(offsets)-1] + lengths[len(lengths)-1]) * size
		offsets, lengths = append(offsets, offset), append(lengths, end+rapid.IntRange(0, 2).Draw(r, "more"))
		n.shape = append(n.shape, int64(size))
		first, count = offset+first*size, count*size
	}
	bits := leaf.arrow.ID() == arrow.BOOL
	width, total := leaf.width(), offsets[depth]+lengths[depth]
	values := pattern(total * width)
	n.want = values[first*width : (first+count)*width]
	if bits {
		values = pattern(total/8 + 1)
		n.want = expanded(values, first, count)
	}
	n.column = newOf(t, m, leaf.arrow, offsets[depth], lengths[depth], values)
	for i := depth - 1; i >= 0; i-- {
		dataType := arrow.FixedSizeListOf(int32(n.shape[i+1]), n.column.Type())
		n.column = newLists(t, dataType, offsets[i], lengths[i], n.column)
	}
	return n
}

func TestListsAreDimensions(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		types := append(allTypes(), numeric{arrow.FixedWidthTypes.Boolean, boolean})
		property.Check(t, func(r *rapid.T) {
			leaf := rapid.SampledFrom(types).Draw(r, "type")
			n := drawNested(t, r, m, leaf, rapid.IntRange(0, 4).Draw(r, "depth"))
			legacy := rapid.Bool().Draw(r, "legacy")
			aligned := rapid.Bool().Draw(r, "aligned")
			inUse := m.Stats().InUse

			tensor, err := dlpack.Export(n.column, dlpack.ExportOptions{Legacy: legacy, Aligned: aligned})
			require.NoError(r, err)
			copied := leaf.arrow.ID() == arrow.BOOL && len(n.want) > 0
			require.Equal(r, copied, tensor.Copied())
			require.Equal(r, copied, m.Stats().InUse > inUse)
			described := tensorOf(tensor)
			shape, strides := shapeOf(described)
			require.Equal(r, n.shape, shape)
			require.Equal(r, compact(n.shape), strides)
			require.Equal(r, leaf.dlpack, described.DataType)
			require.Equal(r, n.want, rawBytes(t, m.Device(), described.Data+uintptr(described.ByteOffset), len(n.want)))

			take := dlpack.Import
			if legacy {
				take = dlpack.ImportLegacy
			}
			back, err := take(m, tensor.Detach())
			require.NoError(r, err)
			require.True(r, arrow.TypeEqual(n.column.Type(), back.Type()), "%v, %v", n.column.Type(), back.Type())
			require.Equal(r, int(n.shape[0]), back.Len())
			if copied {
				packed := download(t, leafColumn(back).Buffer(1))
				require.Equal(r, n.want, expanded(packed, 0, len(n.want)))
			} else {
				require.Equal(r, n.want, leafBytes(t, back, leaf.width()))
			}
			require.NoError(r, back.Release())
			require.NoError(r, n.column.Release())
			requireNothingHeld(t, m)
		})
	})
}

func leafColumn(c *column.Column) *column.Column {
	for c.NumChildren() > 0 {
		c = c.Child(0)
	}
	return c
}

func TestListsReadOnly(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), pattern(4*24)), float32Type, 4, 3, 2)
		p.Versioned.Flags = cabi.FlagReadOnly
		c, err := importEither(m, p, false)
		require.NoError(t, err)
		assert.Equal(t, "fixed_size_list<item: fixed_size_list<item: float32, nullable>[2], nullable>[3]", c.Type().String())
		assert.Equal(t, pattern(4*24), leafBytes(t, c, 4))
		assert.True(t, leafColumn(c).Buffer(1).Block().ReadOnly())
		values, err := c.Array(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 4, values.Len())
		part, err := c.Slice(1, 2)
		require.NoError(t, err)
		tensor, err := dlpack.Export(part)
		require.NoError(t, err)
		assert.EqualValues(t, cabi.FlagReadOnly, versioned(tensor.Pointer()).Flags)
		assert.Equal(t, pattern(4 * 24)[24:72], rawBytes(t, m.Device(), tensorOf(tensor).Data, 48))
		require.NoError(t, c.Release())
		require.NoError(t, part.Release())
		require.NoError(t, tensor.Release())
		assert.Equal(t, 1, p.Deleted())
		requireNothingHeld(t, m)
	})
}

func TestExportRefusesLists(t *testing.T) {
	m := hostManager(t)
	ints := func(nulls int, validity []byte) *column.Column {
		return newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Int32, Length: 8, NullCount: nulls}, validity, pattern(32))
	}
	pairs := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32)
	withNulls := func() *column.Column {
		validity := upload(t, m, []byte{0xe})
		items := ints(0, nil)
		c, err := column.New(column.Data{Type: pairs, Length: 4, NullCount: 1, Buffers: []column.Bytes{validity}, Children: []*column.Column{items}})
		require.NoError(t, err)
		require.NoError(t, items.Release())
		require.NoError(t, validity.Release())
		return c
	}
	deep := func() *column.Column {
		c := ints(0, nil)
		for range cabi.MaximumDimensions {
			c = newLists(t, arrow.FixedSizeListOf(1, c.Type()), 0, 8, c)
		}
		return c
	}
	dates := newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Date32, Length: 8}, nil, pattern(32))
	parts := newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Float32, Length: 8, NullCount: 1}, []byte{0xfe}, pattern(32))
	for name, each := range map[string]struct {
		column *column.Column
		field  string
		reason error
	}{
		"a list that is null":              {withNulls(), "column", dlpack.ErrNulls},
		"an item that is null":             {newLists(t, pairs, 0, 4, ints(1, []byte{0xfe})), "column.item", dlpack.ErrNulls},
		"items with an unknown null count": {newLists(t, pairs, 0, 4, ints(column.UnknownNullCount, []byte{0xfe})), "column.item", dlpack.ErrNulls},
		"half of a complex number":         {newLists(t, dlpack.Complex64, 0, 4, parts), "column.parts", dlpack.ErrNulls},
		"dates":                            {newLists(t, arrow.FixedSizeListOf(2, arrow.FixedWidthTypes.Date32), 0, 4, dates), "type", dlpack.ErrUnsupported},
		"nine dimensions":                  {deep(), "type", dlpack.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dlpack.Export(each.column)
			require.ErrorIs(t, err, each.reason)
			var typed *dlpack.Error
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, each.field, typed.Field)
			require.NoError(t, each.column.Release())
		})
	}
	requireNothingHeld(t, m)
}

// These errors occur only with more dimensions.
func TestImportRefusesLists(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		pointer := devicetest.Foreign(t, m.Device(), pattern(4096))
		const huge = 1 << 62
		for name, each := range map[string]struct {
			shape, strides []int64
			field          string
			reason         error
		}{
			"column by column":       {[]int64{4, 3}, []int64{1, 4}, "strides[1]", dlpack.ErrUnsupported},
			"gaps between rows":      {[]int64{4, 3}, []int64{4, 1}, "strides[0]", dlpack.ErrUnsupported},
			"one row for all":        {[]int64{4, 3}, []int64{0, 1}, "strides[0]", dlpack.ErrUnsupported},
			"rows backwards":         {[]int64{4, 3}, []int64{-3, 1}, "strides[0]", dlpack.ErrUnsupported},
			"no items":               {[]int64{4, 0}, []int64{0, 1}, "shape[1]", dlpack.ErrUnsupported},
			"no items of items":      {[]int64{4, 2, 0}, nil, "shape[2]", dlpack.ErrUnsupported},
			"too many items":         {[]int64{1, 1 << 31}, nil, "shape[1]", dlpack.ErrUnsupported},
			"a negative dimension":   {[]int64{4, -3}, nil, "shape[1]", dlpack.ErrInvalid},
			"two negative ones":      {[]int64{-4, -3}, nil, "shape[0]", dlpack.ErrInvalid},
			"a product too large":    {[]int64{huge, 4}, nil, "shape[1]", dlpack.ErrInvalid},
			"a product of zero bits": {[]int64{huge, 16, 16}, nil, "shape[1]", dlpack.ErrInvalid},
			"bytes too many":         {[]int64{1 << 40, 1 << 22}, nil, "shape[0]", dlpack.ErrInvalid},
			"nothing, yet negative":  {[]int64{0, -1}, nil, "shape[1]", dlpack.ErrInvalid},
		} {
			t.Run(name, func(t *testing.T) {
				p := newProducer(t, m.Device(), pointer, float32Type, each.shape...)
				if each.strides != nil {
					copy(p.Strides, each.strides)
				}
				requireRefused(t, m, p, false, each.field, each.reason)
			})
		}
		for name, each := range map[string]struct{ shape, strides []int64 }{
			"strides of single rows":  {[]int64{1, 3}, []int64{99, 1}},
			"strides of single items": {[]int64{3, 1}, []int64{1, -99}},
			"strides of nothing":      {[]int64{0, 3}, []int64{7, 7}},
			"nothing, and huge":       {[]int64{0, 1 << 30, 1 << 30, 1 << 30}, []int64{7, 7, 7, 7}},
			"eight dimensions":        {[]int64{2, 1, 2, 1, 2, 1, 2, 1}, []int64{8, 8, 4, 4, 2, 2, 1, 1}},
		} {
			t.Run(name, func(t *testing.T) {
				p := newProducer(t, m.Device(), pointer, float32Type, each.shape...)
				copy(p.Strides, each.strides)
				c, err := importEither(m, p, false)
				require.NoError(t, err)
				assert.EqualValues(t, each.shape[0], c.Len())
				require.NoError(t, c.Release())
				requireNothingHeld(t, m)
			})
		}
	})
}
