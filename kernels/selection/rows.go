package selection

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
)

// withDeviceRows returns a column whose row count, if it has one, is in device memory.
// One that is computed from that of a parent is fetched, and the column cut. The caller
// releases it.
func withDeviceRows(ctx context.Context, c *column.Column) (*column.Column, error) {
	if c.RowCount() != nil && c.DeviceRows().Len() == 0 {
		return c.WithHostRows(ctx)
	}
	return c, c.Retain()
}

// rowsLike gives a result the row count of an input, if it has one. It takes the result
// over.
func rowsLike(made, input *column.Column) (*column.Column, error) {
	if input.RowCount() == nil {
		return made, nil
	}
	counted, err := made.WithRows(input.RowCount())
	return releasedColumn(counted, err, made)
}

// releasedColumn is released for a column.
func releasedColumn(made *column.Column, err error, held retainable) (*column.Column, error) {
	if err = errors.Join(err, held.Release()); err != nil {
		return nil, errors.Join(err, made.Release())
	}
	return made, nil
}

// sameRows checks that columns of one length have the same rows, and returns one whose
// row count is theirs: a column with a count on the device, if there is any. Counts that
// are not one and the same are fetched and compared.
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
