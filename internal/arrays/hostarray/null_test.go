package hostarray_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestNullsOfEveryType compares a null with arrow-go's MakeArrayOfNull, also after it was on a device.
func TestNullsOfEveryType(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, dataType := range arraytest.AllTypes() {
		t.Run(dataType.String(), func(t *testing.T) {
			null, err := hostarray.Null(dataType)
			require.NoError(t, err)
			defer null.Release()
			require.Equal(t, 1, null.Len())
			require.True(t, arraytest.IsNull(null, 0))

			uploaded, err := column.FromArray(context.Background(), mgr, null, column.UploadOptions{})
			require.NoError(t, err)
			back, err := uploaded.Array(context.Background())
			require.NoError(t, err)
			defer back.Release()
			require.True(t, arraytest.Same(null, 0, back, 0))
			require.NoError(t, uploaded.Release())
		})
	}
	for _, dataType := range []arrow.DataType{arrow.ListOf(&arrow.DictionaryType{}), arrow.SparseUnionOf(nil, nil), arrow.StructOf(arrow.Field{Name: "u", Type: arrow.DenseUnionOf(nil, nil)})} {
		_, err := hostarray.Null(dataType)
		var refused *layout.TypeError
		require.ErrorAs(t, err, &refused)
	}
}

func TestZeros(t *testing.T) {
	for dataType, text := range map[arrow.DataType]string{
		arrow.PrimitiveTypes.Int64:                        "0",
		arrow.BinaryTypes.String:                          "",
		arrow.ListOf(arrow.PrimitiveTypes.Int32):          "[]",
		arrow.ListOfNonNullable(arrow.BinaryTypes.String): "[]",
	} {
		zero, err := hostarray.Zero(dataType)
		require.NoError(t, err)
		require.Zero(t, zero.NullN())
		require.True(t, zero.IsValid(0))
		require.Equal(t, text, zero.ValueStr(0))
		zero.Release()
	}
}
