package column_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// sliced copies an array to the device and returns a part of it, until the end of the
// test.
func sliced(t *testing.T, mgr *memory.Manager, a arrow.Array, offset, length int) *column.Column {
	t.Helper()
	whole, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{})
	require.NoError(t, err)
	c, err := whole.Slice(offset, length)
	require.NoError(t, err)
	require.NoError(t, whole.Release())
	t.Cleanup(func() { require.NoError(t, c.Release()) })
	return c
}

func TestValuesAndValidity(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(7)
		a := g.Array(arrow.PrimitiveTypes.Int32, 100)
		c := sliced(t, mgr, a, 13, 50)
		assert.Equal(t, column.UnknownNullCount, c.NullCount())

		values, err := c.Values()
		require.NoError(t, err)
		assert.Zero(t, values.NullCount())
		back, err := values.Array(t.Context())
		require.NoError(t, err)
		assert.Zero(t, back.NullN())
		assert.Equal(t, a.(*array.Int32).Int32Values()[13:63], back.(*array.Int32).Int32Values())
		back.Release()
		require.NoError(t, values.Release())

		bits, offset, err := c.Validity()
		require.NoError(t, err)
		assert.Equal(t, 5, offset)
		assert.Equal(t, 7, bits.Len())
		host := make([]byte, bits.Len())
		require.NoError(t, bits.Download(t.Context(), nil, host))
		for i := range 50 {
			assert.Equal(t, a.IsValid(13+i), bitutil.BitIsSet(host, offset+i))
		}

		g.Nulls = arraytest.NoneNull
		_, _, err = sliced(t, mgr, g.Array(arrow.PrimitiveTypes.Int32, 5), 0, 5).Validity()
		require.ErrorIs(t, err, column.ErrInvalid)
		_, _, err = sliced(t, mgr, array.NewNull(3), 0, 3).Validity()
		require.ErrorIs(t, err, column.ErrInvalid)
		nulls, err := sliced(t, mgr, array.NewNull(3), 1, 2).Values()
		require.NoError(t, err)
		assert.Equal(t, 2, nulls.NullCount())
		require.NoError(t, nulls.Release())
	})
}

func TestRegion(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	g := arraytest.NewGenerator(3)
	c := sliced(t, mgr, g.Array(arrow.PrimitiveTypes.Int64, 100), 3, 20)
	assert.Equal(t, c.Buffer(1).Block(), c.Block())
	assert.Equal(t, c.Buffer(1).Pointer().Add(24), c.Pointer())
	assert.EqualValues(t, 160, c.Bytes())

	bools := g.Array(arrow.FixedWidthTypes.Boolean, 100)
	assert.EqualValues(t, 3, sliced(t, mgr, bools, 16, 20).Bytes())
	assert.Zero(t, sliced(t, mgr, bools, 16, 0).Bytes())
	for name, c := range property.InOrder(map[string]*column.Column{
		"bits":       sliced(t, mgr, bools, 3, 20),
		"text":       sliced(t, mgr, g.Array(arrow.BinaryTypes.String, 5), 0, 5),
		"list":       sliced(t, mgr, g.Array(arrow.ListOf(arrow.PrimitiveTypes.Int8), 5), 0, 5),
		"dictionary": sliced(t, mgr, g.Array(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, 5), 0, 5),
	}) {
		_, err := c.ValuesRegion()
		require.ErrorIs(t, err, column.ErrInvalid, name)
		assert.Nil(t, c.Block(), name)
		assert.Zero(t, c.Pointer(), name)
		assert.Zero(t, c.Bytes(), name)
	}
}

func TestBlocksAndDevice(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	g := arraytest.NewGenerator(3)
	g.Nulls = arraytest.NoneNull
	c := sliced(t, mgr, g.Array(arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}), 5), 0, 5)
	met := 0
	for block := range c.Blocks {
		assert.Same(t, c.Buffer(1).Block(), block)
		met++
	}
	assert.Equal(t, 1+1+2, met, "offsets, indices, and the dictionary's offsets and data")
	for range c.Blocks {
		break // the iterator must stop
	}
	assert.Same(t, mgr.Device(), c.Device())
	assert.Same(t, mgr.Device(), sliced(t, mgr, array.NewNull(3), 0, 3).Device(), "a column without memory knows where it belongs")
}

func TestIndices(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	a := arraytest.NewGenerator(3).Array(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}, 40)
	c := sliced(t, mgr, a, 9, 20)
	indices, err := c.Indices()
	require.NoError(t, err)
	back, err := indices.Array(t.Context())
	require.NoError(t, err)
	assert.True(t, array.Equal(array.NewSlice(a.(*array.Dictionary).Indices(), 9, 29), back))
	_, err = indices.Indices()
	require.ErrorIs(t, err, column.ErrInvalid)
	require.NoError(t, indices.Release())
}

func TestElements(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	b := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
	b.AppendValues([]float64{1, 2, math.Pi, 4}, nil)
	c := sliced(t, mgr, b.NewArray(), 1, 2)
	elements, err := column.Elements[float64](c)
	require.NoError(t, err)
	host, err := elements.Host()
	require.NoError(t, err)
	assert.Equal(t, []float64{2, math.Pi}, host)

	type celsius float64
	_, err = column.Elements[celsius](c)
	require.NoError(t, err)
	_, err = column.Elements[int64](c)
	require.ErrorIs(t, err, column.ErrInvalid)
	_, err = column.Elements[float32](c)
	require.ErrorIs(t, err, column.ErrInvalid)

	// For every type, these are the Go types of its elements.
	views := map[string]func(*column.Column) error{
		"int8": viewed[int8], "int16": viewed[int16], "int32": viewed[int32], "int64": viewed[int64],
		"uint8": viewed[uint8], "uint16": viewed[uint16], "uint32": viewed[uint32], "uint64": viewed[uint64],
		"float32": viewed[float32], "float64": viewed[float64], "complex64": viewed[complex64], "complex128": viewed[complex128],
		"[2]uint64": viewed[[2]uint64], "[4]uint64": viewed[[4]uint64], "[16]byte": viewed[[16]byte], "[32]byte": viewed[[32]byte],
	}
	want := map[arrow.Type][]string{
		arrow.INT8: {"int8"}, arrow.INT16: {"int16"}, arrow.INT32: {"int32"}, arrow.INT64: {"int64"},
		arrow.UINT8: {"uint8"}, arrow.UINT16: {"uint16"}, arrow.UINT32: {"uint32"}, arrow.UINT64: {"uint64"},
		arrow.FLOAT16: {"uint16"}, arrow.FLOAT32: {"float32"}, arrow.FLOAT64: {"float64"},
		arrow.DATE32: {"int32"}, arrow.DATE64: {"int64"}, arrow.TIME32: {"int32"}, arrow.TIME64: {"int64"},
		arrow.TIMESTAMP: {"int64"}, arrow.DURATION: {"int64"},
		arrow.INTERVAL_MONTHS: {"int32"}, arrow.INTERVAL_DAY_TIME: {"int64", "uint64"}, arrow.INTERVAL_MONTH_DAY_NANO: {"[16]byte", "[2]uint64"},
		arrow.DECIMAL128: {"[16]byte", "[2]uint64"}, arrow.DECIMAL256: {"[32]byte", "[4]uint64"},
	}
	for _, dataType := range arraytest.AllTypes() {
		c := sliced(t, mgr, arraytest.NewGenerator(1).Array(dataType, 9), 2, 5)
		id := dataType.ID()
		if extension, ok := dataType.(arrow.ExtensionType); ok {
			id = extension.StorageType().ID()
		}
		_, fixed := column.ElementBytes(dataType)
		assert.Equal(t, len(want[id]) > 0 || id == arrow.FIXED_SIZE_BINARY, fixed, "%v", dataType)
		var fits []string
		for name, view := range views {
			if view(c) == nil {
				fits = append(fits, name)
			}
		}
		assert.ElementsMatch(t, want[id], fits, "%v", dataType)
	}
	for width, names := range map[int][]string{1: {"uint8"}, 2: {"uint16"}, 4: {"uint32"}, 8: {"uint64"}, 16: {"[16]byte", "[2]uint64"}, 32: {"[32]byte", "[4]uint64"}, 3: nil} {
		c := sliced(t, mgr, arraytest.NewGenerator(1).Array(&arrow.FixedSizeBinaryType{ByteWidth: width}, 9), 2, 5)
		for name, view := range views {
			assert.Equal(t, contains(names, name), view(c) == nil, "%d bytes as %s", width, name)
		}
	}
}

func viewed[T memory.Element](c *column.Column) error {
	_, err := column.Elements[T](c)
	return err
}

func contains(names []string, name string) bool {
	for _, each := range names {
		if each == name {
			return true
		}
	}
	return false
}
