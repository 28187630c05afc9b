package columntest

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// Floats makes an array without nulls. The caller releases it.
func Floats(values ...float64) arrow.Array {
	builder := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues(values, nil)
	return builder.NewArray()
}

// EachAllocationFails runs an operator on a column of strings and fails each of its
// allocations, one in each run, on every device. Closing the manager reports the memory
// that an error path leaks.
func EachAllocationFails[Result interface{ Release() error }](t *testing.T, name string, run func(ctx context.Context, c *column.Column) (Result, error)) {
	t.Helper()
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		values := Repeated(t, arraytest.NewGenerator(2), arrow.BinaryTypes.String, 5, 50)
		const ofColumn = 1 // the first allocation is the column's
		failing := uint64(ofColumn + 1)
		for ; ; failing++ {
			faults := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: failing}})
			mgr := devicetest.Manager(t, dev, memory.Options{Resource: faults})
			c, err := column.FromArray(t.Context(), mgr, values, column.UploadOptions{})
			require.NoError(t, err)
			result, err := run(t.Context(), c)
			require.NoError(t, c.Release())
			if err == nil {
				require.NoError(t, result.Release())
				break
			}
			require.ErrorIs(t, err, adaptor.ErrInjected, name)
			require.ErrorContains(t, err, name)
		}
		require.Greater(t, failing, uint64(ofColumn+2), "%s allocates more than once", name)
	})
}

// EachCount calls f for columns of floats and of strings with a row count on the device
// that the host does not know, and that it knows: with the column without its count, and
// with the values of the counted rows.
func EachCount(t *testing.T, mgr *memory.Manager, f func(c, whole *column.Column, values []string)) {
	t.Helper()
	g := arraytest.NewGenerator(8)
	for _, dataType := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String} {
		c, values := UploadRows(t, mgr, Repeated(t, g, dataType, 6, 50), 3, 50)
		for _, n := range []int{0, 1, 31, 33, 47} {
			shown := Texts(values)[:n]
			f(WithRows(t, mgr, c, int64(n)), c, shown)
			known := WithRows(t, mgr, c, int64(n))
			_, err := known.NumRows(t.Context())
			require.NoError(t, err)
			f(known, c, shown)
		}
	}
}
