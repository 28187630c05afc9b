package columntest

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

// OnColumn returns the Prepare function of a [faulttest.Operation] that runs on a column
// of random values. If counted is not zero the column has that row count, on the device.
func OnColumn[Result interface{ Release() error }](dataType arrow.DataType, rows int, counted int64, run func(ctx context.Context, c *column.Column) (Result, error)) func(testing.TB, *memory.Manager) faulttest.Run {
	return func(t testing.TB, m *memory.Manager) faulttest.Run {
		in := arraytest.NewGenerator(1).Array(dataType, rows)
		defer in.Release()
		c, err := column.FromArray(t.Context(), m, in, column.UploadOptions{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Release()) })
		given := c
		if counted != 0 {
			given = WithRows(t, m, c, counted)
		}
		return func(ctx context.Context) (func(testing.TB), error) {
			result, err := run(ctx, given)
			if err != nil {
				return nil, err
			}
			return func(t testing.TB) { require.NoError(t, result.Release()) }, nil
		}
	}
}
