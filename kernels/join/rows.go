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
	s, err := begin(ctx, left, right, on, options)
	if err != nil {
		return nil, nil, err
	}
	o := output{sides: s, roles: s.roles(s.probesRight())}
	m, err := s.match(o.roles.probesRight)
	if err == nil {
		leftRows, rightRows, err = o.numbersOfPairs(m)
	}
	if err = errors.Join(err, s.Release()); err != nil {
		return nil, nil, errors.Join(err, leftRows.Release(), rightRows.Release())
	}
	return leftRows, rightRows, nil
}

// numbersOfPairs returns the numbers of the rows of both sides of matches, which it releases.
// After an error one may be there.
func (o *output) numbersOfPairs(m *matches) (left, right *column.Column, err error) {
	if o.options.Kind == Inner && o.options.Where.IsZero() && m.probe > 0 && !o.OnHost() {
		left, right, err = m.number(o.call)
		if o.roles.probesRight {
			left, right = right, left
		}
		return left, right, errors.Join(err, m.Release())
	}
	j, err := o.pairsOf(m)
	if err == nil {
		left, right, err = o.bothNumbers(j)
	}
	return left, right, errors.Join(err, j.Release())
}

// rowNumbers returns numbers of rows as int64. noRow is null.
func rowNumbers(c *call, j *joined, rows memory.Slice[uint32], missing bool) (*column.Column, error) {
	if j.pairs.rows == 0 {
		return noNumbers(c.Manager)
	}
	return c.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: j.pairs.rows, Nullable: missing}, func(out op.Buffers) error {
		if c.OnHost() {
			return errors.Join(c.waitIdle(), numbersOnHost(out, rows, j.pairs.rows))
		}
		return c.launch("pairs", "row_numbers", (j.pairs.rows+63)/64*64, out.Values, out.Valid, rows, uint64(j.pairs.rows))
	})
}

// bothNumbers returns the numbers of the rows of both sides. After an error one may be
// there.
func (o *output) bothNumbers(j *joined) (left, right *column.Column, err error) {
	if left, err = rowNumbers(o.call, j, j.left, j.leftMissing); err == nil && !o.options.Kind.leftOnly() {
		right, err = rowNumbers(o.call, j, j.right, j.rightMissing)
	}
	return left, right, err
}

// numbersOnHost writes numbers as int64, with noRow as null.
func numbersOnHost(out op.Buffers, rows memory.Slice[uint32], n int) error {
	from, err := rows.Host()
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err != nil {
		return err
	}
	numbers := op.Elements[int64](to.Values)
	for i, row := range from[:n] {
		numbers[i] = int64(row)
		if len(to.Valid) > 0 && row != noRow {
			to.SetValid(i)
		}
	}
	return nil
}
