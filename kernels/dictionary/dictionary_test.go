package dictionary_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// compare encodes and decodes a column, and compares the result with the model.
func compare(t *testing.T, c *column.Column, values []string) {
	t.Helper()
	encoded, err := dictionary.Encode(t.Context(), c)
	require.NoError(t, err)
	decoded, err := dictionary.Decode(t.Context(), encoded)
	require.NoError(t, err)
	indices, err := encoded.Array(t.Context())
	require.NoError(t, err)
	defer indices.Release()
	back, err := decoded.Array(t.Context())
	require.NoError(t, err)
	defer back.Release()
	require.NoError(t, encoded.Release())
	require.NoError(t, decoded.Release())

	order, _ := columntest.Distinct(values)
	require.Equal(t, values, columntest.Texts(back))
	var valid []string
	for _, value := range order {
		if value != columntest.Null {
			valid = append(valid, value)
		}
	}
	require.Equal(t, valid, nilIfEmpty(columntest.Texts(indices.(*array.Dictionary).Dictionary())))
}

func nilIfEmpty(s []string) []string {
	if len(s) == 0 {
		return nil
	}
	return s
}

// TestEncode encodes columns of a type of each kind of key; the tests of package group
// have all types.
func TestEncode(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range []arrow.DataType{
			arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64,
			&arrow.Decimal128Type{Precision: 38, Scale: 3}, &arrow.FixedSizeBinaryType{ByteWidth: 5}, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
		} {
			for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
				t.Run(fmt.Sprintf("%v/%d", of, nulls), func(t *testing.T) {
					for seed, size := range []struct{ few, n int }{{1, 1}, {3, 31}, {2, 33}, {40, 257}, {900, 1000}} {
						g := arraytest.NewGenerator(uint64(seed))
						g.Nulls = nulls
						all := columntest.Repeated(t, g, of, size.few, size.n)
						c, values := columntest.UploadRows(t, mgr, all, size.n/7, size.n)
						compare(t, c, columntest.Texts(values))
					}
				})
			}
		}
	})
}

func TestEmpty(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		in := columntest.Floats(1, 2)
		defer in.Release()
		c, _ := columntest.UploadRows(t, mgr, in, 1, 1)
		compare(t, c, []string{})
	})
}

// TestRowsOfTheDevice has columns with a row count on the device.
func TestRowsOfTheDevice(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		columntest.EachCount(t, mgr, func(c, whole *column.Column, values []string) {
			compare(t, c, values)

			// An encoded column may have any codes behind the rows.
			encoded, err := dictionary.Encode(t.Context(), whole)
			require.NoError(t, err)
			counted := columntest.WithRows(t, mgr, encoded, int64(len(values)))
			require.NoError(t, encoded.Release())
			unique, err := group.Unique(t.Context(), counted)
			require.NoError(t, err)
			order, _ := columntest.Distinct(values)
			require.Equal(t, order, nilIfEmpty(columntest.Texts(columntest.Fetch(t, unique).Column(0))))
		})
	})
}

// TestDecodeHeedsRows has codes behind the rows that name no value.
func TestDecodeHeedsRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		codes, err := memory.NewSlice[int32](mgr, 4, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, codes.Upload(t.Context(), nil, []int32{1, 0, math.MaxInt32, -5}))
		in := columntest.Floats(1.5, 2.5)
		defer in.Release()
		values, _ := columntest.UploadRows(t, mgr, in, 0, 2)
		c, err := column.New(column.Data{
			Type:   &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.PrimitiveTypes.Float64},
			Length: 4, Buffers: []column.Bytes{{}, codes.AsBytes()}, Dictionary: values,
		})
		require.NoError(t, err)
		require.NoError(t, codes.Release())
		defer func() { require.NoError(t, c.Release()) }()
		_, err = dictionary.Decode(t.Context(), c)
		require.ErrorIs(t, err, selection.ErrBounds)
		decoded, err := dictionary.Decode(t.Context(), columntest.WithRows(t, mgr, c, 2))
		require.NoError(t, err)
		require.Equal(t, 4, decoded.Len())
		back, err := decoded.Array(t.Context())
		require.NoError(t, err)
		defer back.Release()
		require.NoError(t, decoded.Release())
		require.Equal(t, []float64{2.5, 1.5}, back.(*array.Float64).Float64Values())
	})
}

// TestUniqueDictionaries compares the codes where the dictionary is known to be unique.
func TestUniqueDictionaries(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	c, values := columntest.UploadRows(t, mgr, columntest.Repeated(t, arraytest.NewGenerator(4), arrow.BinaryTypes.String, 6, 100), 3, 90)
	encoded, err := dictionary.Encode(t.Context(), c)
	require.NoError(t, err)
	defer func() { require.NoError(t, encoded.Release()) }()
	require.Equal(t, column.Yes, encoded.DictionaryUnique())
	order, _ := columntest.Distinct(columntest.Texts(values))
	unique, err := group.Unique(t.Context(), encoded)
	require.NoError(t, err)
	require.Equal(t, order, columntest.Texts(columntest.Fetch(t, unique).Column(0)))
}

// TestDictionaryColumns encodes and decodes columns that need neither.
func TestDictionaryColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(4)
		c, _ := columntest.UploadRows(t, mgr, columntest.Repeated(t, g, arrow.BinaryTypes.String, 6, 100), 3, 90)
		encoded, err := dictionary.Encode(t.Context(), c)
		require.NoError(t, err)
		defer func() { require.NoError(t, encoded.Release()) }()
		again, err := dictionary.Encode(t.Context(), encoded)
		require.NoError(t, err)
		assert.Same(t, encoded, again)
		require.NoError(t, again.Release())

		same, err := dictionary.Decode(t.Context(), c)
		require.NoError(t, err)
		assert.Same(t, c, same)
		require.NoError(t, same.Release())
	})
}

func TestRefusals(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		lists := arraytest.NewGenerator(1).Array(arrow.ListOf(arrow.PrimitiveTypes.Int8), 4)
		defer lists.Release()
		c, _ := columntest.UploadRows(t, mgr, lists, 0, 4)
		_, err := dictionary.Encode(t.Context(), c)
		require.ErrorIs(t, err, device.ErrNotSupported)
		// Without rows too: after a filter the host knows the number of rows and a GPU does not.
		none, err := c.Slice(0, 0)
		require.NoError(t, err)
		_, err = dictionary.Encode(t.Context(), none)
		require.ErrorIs(t, err, device.ErrNotSupported)
		require.NoError(t, none.Release())
		for name, run := range map[string]func() error{
			"dictionary: encode: ": func() error {
				_, err := dictionary.Encode(t.Context(), c, dictionary.Options{}, dictionary.Options{})
				return err
			},
			"dictionary: decode: ": func() error {
				_, err := dictionary.Decode(t.Context(), c, dictionary.Options{}, dictionary.Options{})
				return err
			},
		} {
			require.ErrorIs(t, run(), device.ErrInvalidValue)
			require.ErrorContains(t, run(), name)
		}
		_, err = dictionary.Decode(t.Context(), nil)
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}
