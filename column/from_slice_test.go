package column_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// arrives requires that the column of a slice prints as the given array.
func arrives[T column.SliceElement](t *testing.T, mgr *memory.Manager, values []T, options column.SliceOptions, wantType arrow.DataType, want string) {
	t.Helper()
	c, err := column.FromSlice(t.Context(), mgr, values, options)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Release()) }()
	assert.True(t, arrow.TypeEqual(wantType, c.Type()), "%v", c.Type())
	back, err := c.Array(t.Context())
	require.NoError(t, err)
	defer back.Release()
	assert.Equal(t, want, fmt.Sprint(back))
}

func TestFromSlice(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		none, some := column.SliceOptions{}, column.SliceOptions{Valid: []bool{true, false, true}}
		arrives(t, mgr, []bool{true, false, true}, none, arrow.FixedWidthTypes.Boolean, "[true false true]")
		arrives(t, mgr, []bool{true, false, true}, some, arrow.FixedWidthTypes.Boolean, "[true (null) true]")
		arrives(t, mgr, []bool(nil), none, arrow.FixedWidthTypes.Boolean, "[]")
		arrives(t, mgr, []string{"a", "", "δε"}, none, arrow.BinaryTypes.String, `["a" "" "δε"]`)
		arrives(t, mgr, []string{"a", "b", "c"}, column.SliceOptions{Valid: some.Valid, Type: arrow.BinaryTypes.LargeString}, arrow.BinaryTypes.LargeString, `["a" (null) "c"]`)
		arrives(t, mgr, []string(nil), none, arrow.BinaryTypes.String, "[]")
		arrives(t, mgr, []int8{-1, 2, 3}, none, arrow.PrimitiveTypes.Int8, "[-1 2 3]")
		arrives(t, mgr, []int16{-1, 2, 3}, some, arrow.PrimitiveTypes.Int16, "[-1 (null) 3]")
		arrives(t, mgr, []int32{-1, 2, 3}, none, arrow.PrimitiveTypes.Int32, "[-1 2 3]")
		arrives(t, mgr, []int64{-1, 2, 3}, none, arrow.PrimitiveTypes.Int64, "[-1 2 3]")
		arrives(t, mgr, []uint8{1, 2, 3}, none, arrow.PrimitiveTypes.Uint8, "[1 2 3]")
		arrives(t, mgr, []uint16{1, 2, 3}, none, arrow.PrimitiveTypes.Uint16, "[1 2 3]")
		arrives(t, mgr, []uint32{1, 2, 3}, none, arrow.PrimitiveTypes.Uint32, "[1 2 3]")
		arrives(t, mgr, []uint64{1, 2, 3}, none, arrow.PrimitiveTypes.Uint64, "[1 2 3]")
		arrives(t, mgr, []float32{1.5, 2, 3}, none, arrow.PrimitiveTypes.Float32, "[1.5 2 3]")
		arrives(t, mgr, []float64{1.5, 2, 3}, some, arrow.PrimitiveTypes.Float64, "[1.5 (null) 3]")
		arrives(t, mgr, []float64{}, none, arrow.PrimitiveTypes.Float64, "[]")
		seconds := arrow.FixedWidthTypes.Timestamp_s
		arrives(t, mgr, []int64{0, 1}, column.SliceOptions{Type: seconds}, seconds, "[0 1]")
	})
}

func TestFromSliceRefuses(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	_, err := column.FromSlice(t.Context(), mgr, []int32{1}, column.SliceOptions{Type: arrow.FixedWidthTypes.Timestamp_s})
	require.ErrorIs(t, err, column.ErrInvalid)
	require.ErrorContains(t, err, "elements of type int32 are not values of timestamp[s, tz=UTC]")
	_, err = column.FromSlice(t.Context(), mgr, []bool{true}, column.SliceOptions{Type: arrow.PrimitiveTypes.Int8})
	require.ErrorIs(t, err, column.ErrInvalid)
	_, err = column.FromSlice(t.Context(), mgr, []string{""}, column.SliceOptions{Type: arrow.BinaryTypes.StringView})
	require.ErrorIs(t, err, column.ErrInvalid)
	_, err = column.FromSlice(t.Context(), mgr, []int8{1}, column.SliceOptions{Valid: []bool{}})
	require.ErrorIs(t, err, column.ErrInvalid)
	require.ErrorContains(t, err, "the validity has 0 elements for 1 values")
	_, err = column.FromSlice(t.Context(), nil, []int8{1}, column.SliceOptions{})
	require.ErrorIs(t, err, column.ErrInvalid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = column.FromSlice(ctx, mgr, []int8{1}, column.SliceOptions{})
	require.ErrorIs(t, err, context.Canceled)
}
