//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

func TestExportDescribesTheValues(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, each := range numerics() {
			t.Run(each.arrow.Name(), func(t *testing.T) {
				eitherStruct(t, func(t *testing.T, legacy bool) {
					const offset, length = 3, 10
					values := pattern((offset + length) * each.width())
					c := newColumn(t, m, column.Data{Type: each.arrow, Offset: offset, Length: length}, nil, values)
					tensor, err := dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy})
					require.NoError(t, err)

					assert.Equal(t, legacy, tensor.Legacy())
					described := tensorOf(tensor)
					first := uintptr(c.Buffer(1).Pointer()) + uintptr(offset*each.width())
					assert.Equal(t, first, described.Data)
					assert.Zero(t, described.ByteOffset)
					assert.Equal(t, dlDevice(m.Device()), described.Device)
					assert.Equal(t, each.dlpack, described.DataType)
					assert.EqualValues(t, 1, described.NDim)
					assert.EqualValues(t, length, word(described.Shape, 0))
					assert.EqualValues(t, 1, word(described.Strides, 0))
					if !legacy {
						header := versioned(tensor.Pointer())
						assert.Equal(t, cabi.Version{Major: 1}, header.Version)
						assert.Zero(t, header.Flags)
						assert.NotZero(t, header.Deleter)
					}

					require.NoError(t, c.Release())
					require.Equal(t, values[offset*each.width():], rawBytes(t, m.Device(), described.Data, length*each.width()))
					require.NoError(t, tensor.Release())
					requireNothingHeld(t, m)
				})
			})
		}
	})
}

func TestExportOfNothing(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		c := newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Int64, Offset: 2}, nil, pattern(16))
		tensor, err := dlpack.Export(c)
		require.NoError(t, err)
		described := tensorOf(tensor)
		assert.Zero(t, described.Data)
		assert.Equal(t, dlDevice(m.Device()), described.Device)
		assert.Zero(t, word(described.Shape, 0))
		assert.EqualValues(t, 1, word(described.Strides, 0))

		back, err := dlpack.Import(m, tensor.Detach())
		require.NoError(t, err)
		assert.Zero(t, back.Len())
		assert.True(t, m.Device().Same(back.Device()))
		require.NoError(t, back.Release())
		require.NoError(t, c.Release())
		requireNothingHeld(t, m)
	})
}

func TestExportWithoutMemory(t *testing.T) {
	c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int32, Buffers: make([]column.Bytes, 2)})
	require.NoError(t, err)
	tensor, err := dlpack.Export(c)
	require.NoError(t, err)
	assert.Equal(t, cabi.Device{Type: cabi.DeviceCPU}, tensorOf(tensor).Device)
	require.NoError(t, tensor.Release())
	require.NoError(t, c.Release())
}

// The values are ready when Export returns, for a consumer that names no stream.
func TestExportWaitsForHostMemory(t *testing.T) {
	m := hostManager(t)
	const n = 1 << 20
	values, err := memory.NewSlice[uint8](m, n, memory.AllocateOptions{})
	require.NoError(t, err)
	c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Uint8, Length: n, Buffers: []column.Bytes{{}, values}})
	require.NoError(t, err)
	require.NoError(t, values.Release())
	for round := range byte(20) {
		require.NoError(t, values.Fill(nil, round))
		tensor, err := dlpack.Export(c)
		require.NoError(t, err)
		shown := unsafe.Slice((*byte)(pointerAt(tensorOf(tensor).Data)), n)
		require.Equal(t, round, shown[0])
		require.Equal(t, round, shown[n-1])
		require.NoError(t, tensor.Release())
	}
	require.NoError(t, c.Release())
}

func TestExportRefuses(t *testing.T) {
	m := hostManager(t)
	newOf := func(dataType arrow.DataType, width, nulls int, validity []byte) *column.Column {
		return newColumn(t, m, column.Data{Type: dataType, Length: 8, NullCount: nulls}, validity, pattern(8*width))
	}
	for name, each := range map[string]struct {
		column *column.Column
		option dlpack.ExportOptions
		field  string
		reason error
		text   string
	}{
		"a date":               {newOf(arrow.FixedWidthTypes.Date32, 4, 0, nil), dlpack.ExportOptions{}, "type", dlpack.ErrUnsupported, "integers"},
		"a timestamp":          {newOf(arrow.FixedWidthTypes.Timestamp_ns, 8, 0, nil), dlpack.ExportOptions{}, "type", dlpack.ErrUnsupported, "integers"},
		"a decimal":            {newOf(&arrow.Decimal128Type{Precision: 5}, 16, 0, nil), dlpack.ExportOptions{}, "type", dlpack.ErrUnsupported, "decimal"},
		"nulls":                {newOf(arrow.PrimitiveTypes.Int8, 1, 1, []byte{0xfe}), dlpack.ExportOptions{}, "column", dlpack.ErrNulls, "dlpack.ExportValidity(column)"},
		"nulls in a bool":      {newOf(arrow.FixedWidthTypes.Boolean, 1, 1, []byte{0xfe}), dlpack.ExportOptions{}, "column", dlpack.ErrNulls, "column.Values()"},
		"unknown null count":   {newOf(arrow.PrimitiveTypes.Int8, 1, column.UnknownNullCount, []byte{0xfd}), dlpack.ExportOptions{}, "column", dlpack.ErrNulls, "1 of 8 elements are null"},
		"legacy and read-only": {newOf(arrow.PrimitiveTypes.Int8, 1, 0, nil), dlpack.ExportOptions{Legacy: true, ReadOnly: true}, "options.Legacy", memory.ErrReadOnly, "versioned"},
	} {
		t.Run(name, func(t *testing.T) {
			tensor, err := dlpack.Export(each.column, each.option)
			require.ErrorIs(t, err, each.reason)
			assert.Nil(t, tensor)
			var typed *dlpack.Error
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, "export", typed.Operation)
			assert.Equal(t, each.field, typed.Field)
			assert.ErrorContains(t, err, each.text)
			require.NoError(t, each.column.Release())
		})
	}
	requireNothingHeld(t, m)

	t.Run("a released column", func(t *testing.T) {
		c := newInts(t, m, 1)
		require.NoError(t, c.Release())
		_, err := dlpack.Export(c)
		require.ErrorIs(t, err, memory.ErrReleased)
		_, err = dlpack.ExportValidity(c)
		require.ErrorIs(t, err, memory.ErrReleased)
	})
	t.Run("a nil column", func(t *testing.T) {
		_, err := dlpack.Export(nil)
		require.ErrorIs(t, err, memory.ErrReleased)
	})
	t.Run("two sets of options", func(t *testing.T) {
		c := newInts(t, m, 1)
		_, err := dlpack.Export(c, dlpack.ExportOptions{}, dlpack.ExportOptions{})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.NoError(t, c.Release())
	})
}

func TestExportOfUnknownNullCountWithoutBitmap(t *testing.T) {
	m := hostManager(t)
	c := newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Int8, Length: 4, NullCount: column.UnknownNullCount}, nil, pattern(4))
	tensor, err := dlpack.Export(c)
	require.NoError(t, err)
	require.NoError(t, tensor.Release())
	require.NoError(t, c.Release())
}

func TestExportValidity(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		bitmap := []byte{0x5a, 0xc3, 0x0f, 0x99}
		for _, each := range []struct{ offset, length, bytes, bit int }{
			{0, 32, 4, 0}, {8, 16, 2, 0}, {3, 5, 1, 3}, {5, 12, 3, 5}, {31, 1, 1, 7}, {7, 0, 0, 0},
		} {
			c := newColumn(t, m, column.Data{
				Type: arrow.PrimitiveTypes.Int16, Offset: each.offset, Length: each.length, NullCount: column.UnknownNullCount,
			}, bitmap, pattern(64))
			tensor, err := dlpack.ExportValidity(c)
			require.NoError(t, err)
			require.NoError(t, c.Release())

			described := tensorOf(tensor)
			assert.Equal(t, cabi.DataType{Code: cabi.CodeUint, Bits: 8, Lanes: 1}, described.DataType)
			assert.Equal(t, each.bit, tensor.BitOffset())
			require.EqualValues(t, each.bytes, word(described.Shape, 0))
			begin := each.offset / 8
			assert.Equal(t, each.bytes == 0, described.Data == 0)
			assert.Equal(t, bitmap[begin:begin+each.bytes], rawBytes(t, m.Device(), described.Data, each.bytes))
			require.NoError(t, tensor.Release())
			requireNothingHeld(t, m)
		}
	})
}

func TestExportValidityWithoutBitmap(t *testing.T) {
	m := hostManager(t)
	c := newInts(t, m, 4)
	_, err := dlpack.ExportValidity(c)
	require.ErrorIs(t, err, dlpack.ErrNoValidity)
	assert.ErrorContains(t, err, "dlpack: export validity: column: ")
	require.NoError(t, c.Release())
}

func TestTensorEndsOnce(t *testing.T) {
	eitherStruct(t, func(t *testing.T, legacy bool) {
		for name, end := range map[string]func(t *testing.T, tensor *dlpack.Tensor){
			"Release": func(t *testing.T, tensor *dlpack.Tensor) { require.NoError(t, tensor.Release()) },
			"the deleter, not detached": func(_ *testing.T, tensor *dlpack.Tensor) {
				cabitest.Delete(tensor.Pointer(), legacy)
			},
			"the deleter": func(_ *testing.T, tensor *dlpack.Tensor) {
				cabitest.Delete(tensor.Detach(), legacy)
			},
			"the deleter on a foreign thread": func(t *testing.T, tensor *dlpack.Tensor) {
				require.NoError(t, cabitest.DeleteOnThread(tensor.Detach(), legacy))
			},
			"the deleter twice": func(_ *testing.T, tensor *dlpack.Tensor) {
				pointer := tensor.Detach()
				cabitest.Delete(pointer, legacy)
				cabitest.Delete(pointer, legacy)
			},
		} {
			t.Run(name, func(t *testing.T) {
				m := hostManager(t)
				for _, columnFirst := range []bool{false, true} {
					c := newInts(t, m, 100)
					tensor, err := dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy})
					require.NoError(t, err)
					require.NotNil(t, tensor.Pointer())
					require.Equal(t, 2, c.Buffer(1).Block().References())
					if columnFirst {
						require.NoError(t, c.Release())
						require.EqualValues(t, 400, m.Stats().InUse)
					}
					end(t, tensor)
					assert.Nil(t, tensor.Pointer())
					assert.Nil(t, tensor.Detach())
					require.NoError(t, tensor.Release())
					if !columnFirst {
						require.Equal(t, 1, c.Buffer(1).Block().References())
						require.NoError(t, c.Release())
					}
					requireNothingHeld(t, m)
				}
			})
		}
	})
}

func TestDetachedTensorIsTheConsumers(t *testing.T) {
	m := hostManager(t)
	c := newInts(t, m, 1)
	tensor, err := dlpack.Export(c)
	require.NoError(t, err)
	pointer := tensor.Detach()
	assert.Nil(t, tensor.Detach(), "a tensor has one consumer")
	require.NoError(t, tensor.Release())
	require.NoError(t, c.Release())
	require.EqualValues(t, 4, m.Stats().InUse, "Release left the consumer's memory alone")
	cabitest.Delete(pointer, false)
	requireNothingHeld(t, m)
}

func TestZeroTensor(t *testing.T) {
	var tensor *dlpack.Tensor
	assert.Nil(t, tensor.Pointer())
	assert.Nil(t, tensor.Detach())
	assert.NoError(t, tensor.Release())
	assert.NoError(t, new(dlpack.Tensor).Release())
}

func TestExportReadOnly(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		c := newInts(t, m, 10)
		tensor, err := dlpack.Export(c, dlpack.ExportOptions{ReadOnly: true})
		require.NoError(t, err)
		assert.EqualValues(t, cabi.FlagReadOnly, versioned(tensor.Pointer()).Flags)

		back, err := dlpack.Import(m, tensor.Detach())
		require.NoError(t, err)
		block := back.Buffer(1).Block()
		assert.True(t, block.ReadOnly())
		require.ErrorIs(t, back.Buffer(1).Fill(nil, 0), memory.ErrReadOnly)
		require.NoError(t, c.Release())
		require.EqualValues(t, 40, m.Stats().InUse, "the import keeps the memory")

		again, err := dlpack.Export(back)
		require.NoError(t, err)
		assert.EqualValues(t, cabi.FlagReadOnly, versioned(again.Pointer()).Flags, "the mark stays on")
		require.NoError(t, again.Release())
		_, err = dlpack.Export(back, dlpack.ExportOptions{Legacy: true})
		require.ErrorIs(t, err, memory.ErrReadOnly)
		require.NoError(t, back.Release())
		requireNothingHeld(t, m)
	})
}

func TestRoundTripOfAnySlice(t *testing.T) {
	m := hostManager(t)
	types := numerics()
	property.Check(t, func(r *rapid.T) {
		each := rapid.SampledFrom(types).Draw(r, "type")
		total := rapid.IntRange(0, 100).Draw(r, "total")
		offset := rapid.IntRange(0, total).Draw(r, "offset")
		length := rapid.IntRange(0, total-offset).Draw(r, "length")
		legacy := rapid.Bool().Draw(r, "legacy")
		width := each.width()
		values := pattern(total * width)
		c := newColumn(t, m, column.Data{Type: each.arrow, Offset: offset, Length: length}, nil, values)

		tensor, err := dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy})
		require.NoError(r, err)
		take := dlpack.Import
		if legacy {
			take = dlpack.ImportLegacy
		}
		back, err := take(m, tensor.Detach())
		require.NoError(r, err)
		require.True(r, arrow.TypeEqual(each.arrow, back.Type()))
		require.Equal(r, values[offset*width:(offset+length)*width], valueBytes(t, back, width))
		require.NoError(r, c.Release())
		require.NoError(r, back.Release())
		requireNothingHeld(t, m)
	})
}
