package vector

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/kernels/reduce"
)

// checkLengths refuses lists of different lengths, or of another one than dim. If dim is zero it becomes the length. It waits
// for the lengths.
func checkLengths(ctx context.Context, c *column.Column, dim *int, options kernels.Options) error {
	if c.Len() == 0 {
		return nil
	}
	least, most, ok, err := lengthsOf(ctx, c, options)
	switch {
	case err != nil || !ok:
		return err
	case least != most:
		return fmt.Errorf("the vectors have %d to %d elements, expected as many in all: set the number of dimensions, then the others match nothing: %w", least, most, device.ErrInvalidValue)
	case *dim != 0 && int(most) != *dim:
		return fmt.Errorf("the vectors have %d elements, those of the right side %d: %w", most, *dim, device.ErrInvalidValue)
	}
	*dim = int(most)
	return nil
}

// lengthsOf returns the least and the greatest length of lists. ok is false if all are null.
func lengthsOf(ctx context.Context, c *column.Column, options kernels.Options) (least, most int64, ok bool, err error) {
	table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.Type(), Nullable: true}}, nil), []*column.Column{c}, buffer.Rows{Count: int64(c.Len())})
	if err != nil {
		return 0, 0, false, err
	}
	lengths, err := expr.Project(ctx, table, []expr.Expr{nested.Length(expr.Col("v")).As("n")}, options)
	if err = errors.Join(err, table.Release()); err != nil {
		return 0, 0, false, errors.Join(err, lengths.Release())
	}
	values, err := reduce.Integers(ctx, lengths, []reduce.Aggregate{reduce.Min(expr.Col("n")), reduce.Max(expr.Col("n"))}, options)
	if err = errors.Join(err, lengths.Release()); err != nil || !values[0].IsValid {
		return 0, 0, false, err
	}
	return int64(values[0].Value), int64(values[1].Value), true, nil
}
