package selection

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
)

// withDeviceRows returns a column with its row count, if it has one, in device memory.
// A row count that is computed from a parent's count is fetched, and the column is
// sliced; an estimate does not wait for it. The caller releases the result.
func withDeviceRows(ctx context.Context, call *op.Call, c *column.Column) (*column.Column, error) {
	if !call.Estimating() && c.RowCount() != nil && c.DeviceRows().Len() == 0 {
		return c.WithHostRows(ctx)
	}
	return c, c.Retain()
}

// rowsLike gives a result the row count of an input, if it has one. It takes ownership
// of the result.
func rowsLike(result, input *column.Column) (*column.Column, error) {
	if input.RowCount() == nil {
		return result, nil
	}
	counted, err := result.WithRows(input.RowCount())
	return release.OnError(counted, err, result.Release())
}

// sameRows checks that columns of equal length have equal row counts, and returns one
// with that count: a column with a count on the device is preferred. Counts that are
// not the same object are fetched and compared.
func sameRows(ctx context.Context, columns ...*column.Column) (*column.Column, error) {
	first := columns[0]
	for i, c := range columns[1:] {
		if c.RowCount() == first.RowCount() {
			continue
		}
		want, err := first.NumRows(ctx)
		if err != nil {
			return nil, err
		}
		rows, err := c.NumRows(ctx)
		if err != nil {
			return nil, err
		}
		if rows != want {
			return nil, fmt.Errorf("column %d has %d rows, the first one %d: %w", i+1, rows, want, column.ErrRows)
		}
		if first.RowCount() == nil {
			first = c
		}
	}
	return first, nil
}
