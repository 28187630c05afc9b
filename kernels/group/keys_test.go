package group_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestHalvesThatAreTheSame has zeros and NaNs of several bits.
func TestHalvesThatAreTheSame(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		builder := array.NewFloat16Builder(arrowmemory.DefaultAllocator)
		defer builder.Release()
		for _, bits := range []uint16{0x8000, 0x7e01, 0x3c00, 0, 0xfc01, 0x7c00, 0x3c01, 0x7e00, 0xfc00, 0x8000, 0x3c00} {
			builder.Append(float16.FromBits(bits))
		}
		in := builder.NewArray()
		defer in.Release()
		c, _ := columntest.UploadRows(t, mgr, in, 0, in.Len())
		counted, err := group.ValueCounts(t.Context(), c)
		require.NoError(t, err)
		record := columntest.Fetch(t, counted)
		var bits []uint16
		for _, value := range record.Column(0).(*array.Float16).Values() {
			bits = append(bits, value.Uint16())
		}
		require.Equal(t, []uint16{0x8000, 0x7e01, 0x3c00, 0x7c00, 0x3c01, 0xfc00}, bits, "the first of each key is kept")
		require.Equal(t, []int64{3, 3, 2, 1, 1, 1}, record.Column(1).(*array.Int64).Int64Values())
	})
}

// TestValuesOfNoBytes has fixed-size binary values of no bytes: one value, and columntest.Null.
func TestValuesOfNoBytes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		builder := array.NewFixedSizeBinaryBuilder(arrowmemory.DefaultAllocator, &arrow.FixedSizeBinaryType{ByteWidth: 0})
		defer builder.Release()
		for i := range 40 {
			if i%3 == 1 {
				builder.AppendNull()
			} else {
				builder.Append([]byte{})
			}
		}
		in := builder.NewArray()
		defer in.Release()
		c, values := columntest.UploadRows(t, mgr, in, 1, in.Len())
		compare(t, c, columntest.Texts(values))
	})
}

// TestUnsoundStrings has offsets that point outside the bytes. The host refuses them.
// A GPU reads nothing outside, and its result for such rows is undefined.
func TestUnsoundStrings(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, offsets := range [][]int32{{0, -7, 3, 3}, {5, 2, 1, 0}, {0, 1, 2, 1 << 30}, {-1 << 31, 0, 1<<31 - 1, 3}} {
			at, err := memory.NewSlice[int32](mgr, len(offsets), memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, at.Upload(t.Context(), nil, offsets))
			bytes, err := memory.NewSlice[uint8](mgr, 3, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, bytes.Upload(t.Context(), nil, []uint8("abc")))
			c, err := column.New(column.Data{
				Type: arrow.BinaryTypes.Binary, Length: len(offsets) - 1,
				Buffers: []column.Bytes{{}, at.AsBytes(), bytes},
			})
			require.NoError(t, errors.Join(err, at.Release(), bytes.Release()))
			unique, err := group.Unique(t.Context(), c)
			if dev.Kind() == device.Host {
				require.ErrorIs(t, err, column.ErrInvalid)
				require.ErrorContains(t, err, "row ")
			}
			require.NoError(t, errors.Join(unique.Release(), c.Release()))
		}
	})
}
