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
	r, err := begin(ctx, left, right, on, options)
	if err != nil {
		return nil, nil, err
	}
	probesRight := r.probesRight()
	m, err := r.match(probesRight)
	if err == nil {
		leftRows, rightRows, err = r.numbersOfPairs(m, probesRight)
	}
	if err = errors.Join(err, r.close()); err != nil {
		return nil, nil, errors.Join(err, leftRows.Release(), rightRows.Release())
	}
	return leftRows, rightRows, nil
}

// numbersOfPairs returns the numbers of the rows of both sides of matches, which it releases.
// After an error one may be there.
func (r *run) numbersOfPairs(m *matches, probesRight bool) (left, right *column.Column, err error) {
	if r.options.Kind == Inner && r.options.Where.IsZero() && m.probe > 0 && !r.call.OnHost() {
		left, right, err = r.numberMatches(m)
		if probesRight {
			left, right = right, left
		}
		return left, right, errors.Join(err, m.Release())
	}
	j, err := r.pairsOf(m, probesRight)
	if err == nil {
		left, right, err = r.bothNumbers(j)
	}
	return left, right, errors.Join(err, j.Release())
}

// numberMatches writes pairs as int64 without nulls.
func (r *run) numberMatches(m *matches) (probe, build *column.Column, err error) {
	if m.single {
		if probe, build, err = r.numberSingle(m); probe != nil || err != nil {
			return probe, build, err
		}
	}
	s, err := r.sequence(m, everyMatch)
	if err == nil {
		err = r.checkLimit(s.total)
	}
	if err == nil && s.total == 0 {
		probe, err = noNumbers(r.call.Manager)
		if err == nil {
			build, err = noNumbers(r.call.Manager)
		}
	} else if err == nil {
		probe, build, err = r.newNumbers(int(s.total), func(out any) error { return r.expandOnDevice(s, 0, int(s.total), out) })
	}
	return probe, build, errors.Join(err, s.Release())
}

// newNumbers makes two columns of n numbers. write gets struct PairsOut of pairing.cuh. After an
// error one may be there.
func (r *run) newNumbers(n int, write func(out any) error) (probe, build *column.Column, err error) {
	result := op.Result{Type: arrow.PrimitiveTypes.Int64, Length: n}
	probe, err = r.call.NewColumn(result, func(probes op.Buffers) (err error) {
		build, err = r.call.NewColumn(result, func(builds op.Buffers) error {
			return write(kernels.Struct(kernels.Output(probes.Values), kernels.Output(builds.Values), uint64(1)))
		})
		return err
	})
	return probe, build, err
}

// numberSingle writes the pairs of rows that have one match or none as int64, in one pass
// and in memory for all rows of the probe side. It waits for their number. It returns nil if a
// row has several matches.
func (r *run) numberSingle(m *matches) (probe, build *column.Column, err error) {
	rows, right := 0, false
	probe, build, err = r.newNumbers(m.probe, func(out any) (err error) {
		rows, right, err = r.countSingle(m, out)
		return err
	})
	if err == nil && !right {
		return nil, nil, errors.Join(probe.Release(), build.Release())
	}
	if err == nil {
		err = r.checkLimit(int64(rows))
	}
	if err == nil {
		probe, err = r.shortened(probe, rows)
	}
	if err == nil {
		build, err = r.shortened(build, rows)
	}
	if err != nil {
		return nil, nil, errors.Join(err, probe.Release(), build.Release())
	}
	return probe, build, nil
}

// shortened returns the first n numbers of a column, which it releases. If these are few they
// are copied, so that the memory of the others does not stay.
func (r *run) shortened(c *column.Column, n int) (*column.Column, error) {
	if n == c.Len() {
		return c, nil
	}
	if n >= c.Len()/2 {
		cut, err := c.Slice(0, n)
		return release.OnError(cut, err, c.Release())
	}
	if n == 0 {
		none, err := noNumbers(r.call.Manager)
		return release.OnError(none, err, c.Release())
	}
	all, err := column.Elements[int64](c)
	if err != nil {
		return c, err
	}
	first, err := all.Slice(0, n)
	if err != nil {
		return c, err
	}
	cut, err := r.call.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: n}, func(out op.Buffers) error {
		return out.Values.CopyFrom(r.call.Stream, first.AsBytes())
	})
	return release.OnError(cut, err, c.Release())
}

// noNumbers returns numbers of no rows.
func noNumbers(m *memory.Manager) (*column.Column, error) {
	return column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Buffers: make([]column.Bytes, 2), Manager: m})
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
		return noNumbers(r.call.Manager)
	}
	return r.call.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: j.pairs.rows, Nullable: missing}, func(out op.Buffers) error {
		if r.call.OnHost() {
			return errors.Join(r.waitIdle(), numbersOnHost(out, rows, j.pairs.rows))
		}
		return r.numbersOnDevice(out, rows, j.pairs.rows)
	})
}
