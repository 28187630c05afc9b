package join

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// Rows returns the numbers of the rows that [Tables] would gather, as two columns of
// int64. A number is null if the side has no row. For Semi and Anti the right column is
// nil. The caller releases both.
func Rows(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) (leftRows, rightRows *column.Column, err error) {
	leftRows, rightRows, err = joinRows(ctx, left, right, on, options)
	if err != nil {
		return nil, nil, fmt.Errorf("join: rows: %w", err)
	}
	return leftRows, rightRows, nil
}

func joinRows(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) (leftRows, rightRows *column.Column, err error) {
	r, err := begin(ctx, left, right, on, options)
	if err != nil {
		return nil, nil, err
	}
	j, err := r.pairs()
	if err == nil {
		leftRows, rightRows, err = r.bothNumbers(j)
	}
	if err = errors.Join(err, j.Release(), r.close()); err != nil {
		return nil, nil, errors.Join(err, leftRows.Release(), rightRows.Release())
	}
	return leftRows, rightRows, nil
}

// bothNumbers returns the numbers of the rows of both sides. After an error one may be
// there.
func (r *run) bothNumbers(j *joined) (left, right *column.Column, err error) {
	if left, err = r.rowNumbers(j, j.left, j.leftMissing); err == nil && !r.options.Kind.leftOnly() {
		right, err = r.rowNumbers(j, j.right, j.rightMissing)
	}
	return left, right, err
}

// rowNumbers returns numbers of rows as int64. noRow is null.
func (r *run) rowNumbers(j *joined, rows memory.Slice[uint32], missing bool) (*column.Column, error) {
	if j.pairs.rows == 0 {
		return column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Buffers: make([]column.Bytes, 2), Manager: r.call.Manager})
	}
	return r.call.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: j.pairs.rows, Nullable: missing}, func(out op.Buffers) error {
		if r.call.OnHost() {
			return errors.Join(r.settle(), numbersOnHost(out, rows, j.pairs.rows))
		}
		return r.numbersOnDevice(out, rows, j.pairs.rows)
	})
}
