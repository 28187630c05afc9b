package join

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
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
	o := output{s, s.roles(s.probesRight())}
	m, err := s.match(o.roles.probesRight)
	if err == nil {
		leftRows, rightRows, err = o.numbersOfPairs(m)
	}
	if err = errors.Join(err, s.close()); err != nil {
		return nil, nil, errors.Join(err, leftRows.Release(), rightRows.Release())
	}
	return leftRows, rightRows, nil
}

// numbersOfPairs returns the numbers of the rows of both sides of matches, which it releases.
// After an error one may be there.
func (o *output) numbersOfPairs(m *matches) (left, right *column.Column, err error) {
	if o.options.Kind == Inner && o.options.Where.IsZero() && m.probe > 0 && !o.OnHost() {
		left, right, err = o.numberMatches(m)
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

// numberMatches writes pairs as int64 without nulls.
func (o *output) numberMatches(m *matches) (probe, build *column.Column, err error) {
	if m.single {
		if probe, build, err = m.numberSingle(o.call); probe != nil || err != nil {
			return probe, build, err
		}
	}
	s, err := newSequence(o.call, m, everyMatch)
	if err == nil {
		err = o.checkLimit(s.total)
	}
	if err == nil && s.total == 0 {
		probe, err = noNumbers(o.Manager)
		if err == nil {
			build, err = noNumbers(o.Manager)
		}
	} else if err == nil {
		probe, build, err = newNumbers(o.call, int(s.total), func(out any) error { return s.expandOnDevice(o.call, 0, int(s.total), out) })
	}
	return probe, build, errors.Join(err, s.Release())
}

// newNumbers makes two columns of n numbers. write gets struct PairsOut of pairing.cuh. After an
// error one may be there.
func newNumbers(c *call, n int, write func(out any) error) (probe, build *column.Column, err error) {
	result := op.Result{Type: arrow.PrimitiveTypes.Int64, Length: n}
	probe, err = c.NewColumn(result, func(probes op.Buffers) (err error) {
		build, err = c.NewColumn(result, func(builds op.Buffers) error {
			return write(kernels.Struct(kernels.Output(probes.Values), kernels.Output(builds.Values), uint64(1)))
		})
		return err
	})
	return probe, build, err
}

// numberSingle writes the pairs of rows that have one match or none as int64, in one pass
// and in memory for all rows of the probe side. It waits for their number. It returns nil if a
// row has several matches.
func (m *matches) numberSingle(c *call) (probe, build *column.Column, err error) {
	rows, right := 0, false
	probe, build, err = newNumbers(c, m.probe, func(out any) (err error) {
		rows, right, err = m.countSingle(c, out)
		return err
	})
	if err == nil && !right {
		return nil, nil, errors.Join(probe.Release(), build.Release())
	}
	if err == nil {
		err = c.checkLimit(int64(rows))
	}
	if err == nil {
		probe, err = shortened(c, probe, rows)
	}
	if err == nil {
		build, err = shortened(c, build, rows)
	}
	if err != nil {
		return nil, nil, errors.Join(err, probe.Release(), build.Release())
	}
	return probe, build, nil
}

// shortened returns the first n numbers of a column, which it releases. If these are few they
// are copied, so that the memory of the others does not stay.
func shortened(c *call, numbers *column.Column, n int) (*column.Column, error) {
	if n == numbers.Len() {
		return numbers, nil
	}
	if n >= numbers.Len()/2 {
		cut, err := numbers.Slice(0, n)
		return release.OnError(cut, err, numbers.Release())
	}
	if n == 0 {
		none, err := noNumbers(c.Manager)
		return release.OnError(none, err, numbers.Release())
	}
	all, err := column.Elements[int64](numbers)
	if err != nil {
		return numbers, err
	}
	first, err := all.Slice(0, n)
	if err != nil {
		return numbers, err
	}
	cut, err := c.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: n}, func(out op.Buffers) error {
		return out.Values.CopyFrom(c.Stream, first.AsBytes())
	})
	return release.OnError(cut, err, numbers.Release())
}

// noNumbers returns numbers of no rows.
func noNumbers(m *memory.Manager) (*column.Column, error) {
	return column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Buffers: make([]column.Bytes, 2), Manager: m})
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
		return numbersOnDevice(c, out, rows, j.pairs.rows)
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

func numbersOnDevice(c *call, out op.Buffers, rows memory.Slice[uint32], n int) error {
	return c.launch("pairs", "row_numbers", (n+63)/64*64, out.Values, out.Valid, rows, uint64(n))
}
