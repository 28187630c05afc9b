package numbers_test

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

func TestTypeOf(t *testing.T) {
	for of, name := range map[arrow.DataType]string{
		arrow.PrimitiveTypes.Int8: "i8", arrow.PrimitiveTypes.Uint64: "u64", arrow.FixedWidthTypes.Float16: "f16",
		arrow.FixedWidthTypes.Date32: "i32", arrow.FixedWidthTypes.MonthInterval: "i32", arrow.FixedWidthTypes.Timestamp_ns: "i64",
	} {
		number, ok := numbers.TypeOf(of)
		assert.True(t, ok, "%v", of)
		assert.Equal(t, name, number.String(), "%v", of)
		assert.Equal(t, of.(arrow.FixedWidthDataType).BitWidth(), number.Bits(), "%v", of)
	}
	for _, of := range []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, &arrow.Decimal128Type{Precision: 9}, arrow.FixedWidthTypes.DayTimeInterval,
	} {
		_, ok := numbers.TypeOf(of)
		assert.False(t, ok, "%v", of)
	}
}

// TestHostValues reads values of every type with an offset and nulls.
func TestHostValues(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for of, text := range map[arrow.DataType]string{
		arrow.PrimitiveTypes.Int8: "[1, -128, null, 7]", arrow.PrimitiveTypes.Int16: "[1, -32768, null, 7]",
		arrow.PrimitiveTypes.Int32: "[1, -2147483648, null, 7]", arrow.PrimitiveTypes.Int64: "[1, -9, null, 7]",
		arrow.PrimitiveTypes.Uint8: "[1, 255, null, 7]", arrow.PrimitiveTypes.Uint16: "[1, 65535, null, 7]",
		arrow.PrimitiveTypes.Uint32: "[1, 4294967295, null, 7]", arrow.PrimitiveTypes.Uint64: "[1, 9, null, 7]",
		arrow.FixedWidthTypes.Float16: "[1, -0.5, null, 7]", arrow.PrimitiveTypes.Float32: "[1, -0.5, null, 7]",
		arrow.PrimitiveTypes.Float64: "[1, -0.5, null, 7]",
	} {
		in, _, err := array.FromJSON(arrowmemory.DefaultAllocator, of, strings.NewReader(text))
		require.NoError(t, err, "%v", of)
		whole, err := column.FromArray(t.Context(), mgr, in, column.UploadOptions{})
		require.NoError(t, err, "%v", of)
		c, err := whole.Slice(1, 3)
		require.NoError(t, err, "%v", of)
		number, _ := numbers.TypeOf(of)
		call, err := op.Begin(t.Context(), kernels.Options{}, c)
		require.NoError(t, err, "%v", of)
		v, err := call.View(c)
		require.NoError(t, err, "%v", of)
		host, err := numbers.Host(v, number)
		require.NoError(t, err, "%v", of)
		require.Equal(t, 3, host.Rows, "%v", of)
		assert.True(t, host.IsValid(0) && !host.IsValid(1) && host.IsValid(2), "%v", of)
		assert.Equal(t, 7.0, host.Float(2), "%v", of)
		switch {
		case number.Class == numbers.Float:
			assert.Equal(t, -0.5, host.Float(0), "%v", of)
		case number.Class == numbers.Unsigned && number.Bytes < 8:
			assert.Equal(t, uint64(1)<<number.Bits()-1, host.Integer(0), "%v", of)
			assert.Equal(t, math.Ldexp(1, number.Bits())-1, host.Float(0), "%v", of)
		case number.Class == numbers.Signed && number.Bytes < 8:
			assert.Equal(t, int64(-1)<<(number.Bits()-1), int64(host.Integer(0)), "%v", of)
			assert.Equal(t, -math.Ldexp(1, number.Bits()-1), host.Float(0), "%v", of)
		case number.Class == numbers.Signed:
			assert.Equal(t, -9.0, host.Float(0), "%v", of)
		default:
			assert.Equal(t, 9.0, host.Float(0), "%v", of)
		}
		in.Release()
		require.NoError(t, c.Release())
		require.NoError(t, whole.Release())
	}
}
