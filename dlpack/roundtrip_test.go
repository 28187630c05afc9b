//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// newOf makes a column of a type of bytes.
func newOf(t testing.TB, m *memory.Manager, dataType arrow.DataType, offset, length int, values []byte) *column.Column {
	t.Helper()
	storage := dataType
	if extension, ok := dataType.(arrow.ExtensionType); ok {
		storage = extension.StorageType()
	}
	list, ok := storage.(*arrow.FixedSizeListType)
	if !ok {
		return newColumn(t, m, column.Data{Type: dataType, Offset: offset, Length: length}, nil, values)
	}
	width := list.Elem().(arrow.FixedWidthDataType).BitWidth() / 8
	parts := newColumn(t, m, column.Data{Type: list.Elem(), Length: len(values) / width}, nil, values)
	return newLists(t, dataType, offset, length, parts)
}

// newLists makes lists of items. It takes over the reference to items.
func newLists(t testing.TB, dataType arrow.DataType, offset, length int, items *column.Column) *column.Column {
	t.Helper()
	c, err := column.New(column.Data{Type: dataType, Offset: offset, Length: length, Buffers: make([]column.Bytes, 1), Children: []*column.Column{items}})
	require.NoError(t, err)
	require.NoError(t, items.Release())
	return c
}

// leafBytes returns the bytes of all values of a column, through lists.
func leafBytes(t testing.TB, c *column.Column, width int) []byte {
	t.Helper()
	first, count := c.Offset(), c.Len()
	for c.NumChildren() > 0 {
		storage := c.Type()
		if extension, ok := storage.(arrow.ExtensionType); ok {
			storage = extension.StorageType()
			width /= 2
		}
		size := int(storage.(*arrow.FixedSizeListType).Len())
		c = c.Child(0)
		first, count = c.Offset()+first*size, count*size
	}
	values, err := c.Buffer(1).Slice(first*width, (first+count)*width)
	require.NoError(t, err)
	return download(t, values)
}

// Every type returns unchanged, in the same memory.
func TestRoundTripOfEveryType(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, each := range allTypes() {
			for _, rows := range []struct {
				name           string
				offset, length int
			}{{"whole", 0, 20}, {"sliced", 3, 9}, {"empty", 4, 0}} {
				for _, readOnly := range []bool{false, true} {
					t.Run(fmt.Sprint(each.arrow, " ", rows.name, " ", readOnly), func(t *testing.T) {
						roundTrip(t, m, each, rows.offset, rows.length, readOnly)
					})
				}
			}
		}
	})
}

func roundTrip(t *testing.T, m *memory.Manager, each numeric, offset, length int, readOnly bool) {
	width := each.width()
	values := pattern(20 * width)
	want := values[offset*width : (offset+length)*width]
	c := newOf(t, m, each.arrow, offset, length, values)
	var block *memory.Block
	for each := range c.Blocks {
		block = each
	}
	tensor, err := dlpack.Export(c, dlpack.ExportOptions{ReadOnly: readOnly})
	require.NoError(t, err)
	require.False(t, tensor.Copied())
	require.NoError(t, c.Release())

	described := tensorOf(tensor)
	assert.Equal(t, each.dlpack, described.DataType)
	assert.Equal(t, dlDevice(m.Device()), described.Device)
	assert.EqualValues(t, 1, described.NDim)
	assert.EqualValues(t, length, word(described.Shape, 0))
	assert.EqualValues(t, 1, word(described.Strides, 0))
	assert.Equal(t, readOnly, versioned(tensor.Pointer()).Flags == cabi.FlagReadOnly)
	assert.Equal(t, length == 0, described.Data == 0, "nothing is nowhere")
	assert.Equal(t, want, rawBytes(t, m.Device(), described.Data, len(want)))
	data := described.Data

	back, err := dlpack.Import(m, tensor.Detach())
	require.NoError(t, err)
	assert.True(t, arrow.TypeEqual(each.arrow, back.Type()))
	assert.Equal(t, length, back.Len())
	assert.Zero(t, back.NullCount())
	assert.Equal(t, want, leafBytes(t, back, width))
	for shared := range back.Blocks {
		if length > 0 {
			assert.Equal(t, readOnly, shared.ReadOnly())
			assert.Equal(t, !readOnly, shared == block)
			assert.EqualValues(t, data, uintptr(leafPointer(back)))
		}
	}
	require.NoError(t, back.Release())
	requireNothingHeld(t, m)
}

func leafPointer(c *column.Column) uintptr {
	for c.NumChildren() > 0 {
		c = c.Child(0)
	}
	return uintptr(c.Buffer(1).Pointer())
}

// Another library's tensors have the types that Arrow lacks.
func TestImportTakesForeignExtensions(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, each := range extensions() {
			eitherStruct(t, func(t *testing.T, legacy bool) {
				values := pattern(10 * each.width())
				p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), values), each.dlpack, 10)
				c, err := importEither(m, p, legacy)
				require.NoError(t, err)
				assert.Same(t, each.arrow, c.Type())
				assert.Equal(t, values, leafBytes(t, c, each.width()))
				require.NoError(t, c.Release())
				require.Equal(t, 1, p.Deleted())
				requireNothingHeld(t, m)
			})
		}
	})
}

// A number of two parts is aligned to its parts in Arrow, but to the whole for
// consumers that read it as one value.
func TestAlignmentOfComplexNumbers(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		values := pattern(84)
		p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), values), cabi.DataType{Code: cabi.CodeComplex, Bits: 64, Lanes: 1}, 10)
		p.Versioned.Tensor.ByteOffset = 4
		c, err := importEither(m, p, false)
		require.NoError(t, err)
		assert.Equal(t, values[4:], leafBytes(t, c, 8))
		_, err = dlpack.Export(c)
		require.ErrorIs(t, err, dlpack.ErrUnsupported)
		require.ErrorContains(t, err, "expected an address aligned to 8 bytes: copy the column first")
		require.NoError(t, c.Release())

		p = newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), values), cabi.DataType{Code: cabi.CodeComplex, Bits: 64, Lanes: 1}, 10)
		p.Versioned.Tensor.ByteOffset = 2
		requireRefused(t, m, p, false, "data", dlpack.ErrInvalid)
	})
}

func TestExportRefusesMisalignedValues(t *testing.T) {
	m := hostManager(t)
	bytes := upload(t, m, pattern(41))
	values, err := bytes.Slice(1, 41)
	require.NoError(t, err)
	c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int32, Length: 10, Buffers: []column.Bytes{{}, values}})
	require.NoError(t, err)
	require.NoError(t, bytes.Release())
	_, err = dlpack.Export(c)
	require.ErrorIs(t, err, dlpack.ErrUnsupported)
	require.NoError(t, c.Release())
	requireNothingHeld(t, m)
}

// Ten thousand tensors are exported to another library and imported again.
func TestRepeatedExchangesLeakNothing(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		c := newInts(t, m, 1000)
		pointer := devicetest.Foreign(t, m.Device(), pattern(400))
		for i := range 10_000 {
			tensor, err := dlpack.Export(c, dlpack.ExportOptions{ReadOnly: i%2 == 0, Aligned: i%3 == 0})
			require.NoError(t, err)
			back, err := dlpack.Import(m, tensor.Detach())
			require.NoError(t, err)
			p := newProducerFor(m.Device(), pointer, float32Type, 100)
			other, err := importEither(m, p, i%2 == 0)
			require.NoError(t, err)
			require.NoError(t, other.Release())
			require.NoError(t, back.Release())
			require.Equal(t, 1, p.Deleted())
			p.Free()
		}
		require.Equal(t, 1, c.Buffer(1).Block().References())
		require.NoError(t, c.Release())
		requireNothingHeld(t, m)
	})
}

// Flags keep their meaning in newer minor versions.
func TestMinorVersions(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, minor := range []uint32{0, 1, 2, 3, 1 << 31} {
			for _, strides := range []bool{true, false} {
				p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), pattern(48)), float32Type, 4, 3)
				p.Versioned.Version.Minor = minor
				p.Strides[0], p.Strides[1] = 3, 1
				if !strides {
					p.Versioned.Tensor.Strides = 0
				}
				c, err := dlpack.Import(m, unsafe.Pointer(p.Versioned))
				require.NoError(t, err)
				assert.Equal(t, pattern(48), leafBytes(t, c, 4))
				require.NoError(t, c.Release())
				assert.Equal(t, 1, p.Deleted())
			}
		}
		requireNothingHeld(t, m)
	})
}
