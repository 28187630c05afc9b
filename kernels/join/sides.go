package join

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
)

// sides are the tables and the keys of one call.
type sides struct {
	*call
	options Options
	// left and right have exactly their rows, and leftKeys and rightKeys columns of equal
	// types.
	left, right         *buffer.Buffer
	leftKeys, rightKeys []*column.Column
	result              result
	held                release.Stack
}

func newSides(options Options) *sides {
	return &sides{call: &call{nullsEqual: options.NullsEqual, limit: options.limit()}, options: options}
}

// begin prepares a join up to the keys. The caller releases the sides.
func begin(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) (*sides, error) {
	if err := options.check(on); err != nil {
		return nil, err
	}
	on = options.withNulls(left.Schema(), right.Schema(), on)
	s := newSides(options)
	if err := s.open(ctx, left, right, on, on); err != nil {
		return nil, errors.Join(err, s.Release())
	}
	return s, nil
}

// Release releases the tables and the keys.
func (s *sides) Release() error { return s.held.Release() }

// open prepares both tables. shared are the keys that are one column of the result if their
// names are equal.
func (s *sides) open(ctx context.Context, left, right *buffer.Buffer, on, shared []On) (err error) {
	if s.left, err = s.exact(ctx, "left", left); err != nil {
		return err
	}
	if s.right, err = s.exact(ctx, "right", right); err != nil {
		return err
	}
	if s.result, err = planResult(left.Schema(), right.Schema(), shared, &s.options); err != nil {
		return err
	}
	if !s.options.Where.IsZero() {
		if err := s.result.checkCondition(left.Schema(), right.Schema(), s.options.Where); err != nil {
			return err
		}
	}
	if s.options.Manager == nil {
		s.options.Manager = left.Manager()
	}
	if s.Call, err = op.Begin(ctx, s.options.Options, append(columnsOf(s.left), columnsOf(s.right)...)...); err != nil {
		return err
	}
	keys, err := keysOf(ctx, s.left, s.right, on, s.scratch())
	if err != nil {
		return err
	}
	for _, side := range keys {
		for _, c := range side {
			s.held.Add(c)
		}
	}
	s.leftKeys, s.rightKeys = keys[0], keys[1]
	// On the host the following steps read keys that have just been computed.
	return s.waitIdle()
}

// exact returns a table with a number of rows that the host knows.
func (s *sides) exact(ctx context.Context, side string, table *buffer.Buffer) (*buffer.Buffer, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	if err := checkSide(side, table.Capacity()); err != nil {
		return nil, err
	}
	if rows := table.Rows(); rows.Shared == nil && rows.Device.Len() == 0 {
		if err := table.Retain(); err != nil {
			return nil, err
		}
		s.held.Add(table)
		return table, nil // its columns remember what is known of them
	}
	n, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	cut, err := table.Slice(0, n)
	if err == nil {
		s.held.Add(cut)
	}
	return cut, err
}

// probesRight reports whether the right table is the probe side. The smaller table is
// the build side, unless the order or the kind decides.
func (s *sides) probesRight() bool {
	return s.options.Order == Unspecified && !s.options.Kind.leftOnly() && s.left.Capacity() < s.right.Capacity()
}
