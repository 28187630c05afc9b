package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/vector"
)

// searching joins each left row with its nearest right rows. It holds the right side; the left side streams.
type searching struct {
	*stage
	plan  *plan.NearestTo
	right *vector.Rows
	left  pieces
}

func newSearching(s *stage, n *plan.NearestTo) *searching { return &searching{stage: s, plan: n} }

// Next implements buffer.Reader.
func (s *searching) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := s.next(ctx)
	return table, s.failed(err)
}

func (s *searching) next(ctx context.Context) (*buffer.Buffer, error) {
	if len(s.inputs) == 0 {
		return nil, errEnd
	}
	options := s.plan.JoinOptions()
	options.Options = s.options()
	if s.right == nil {
		if err := s.prepare(ctx, options); err != nil {
			return nil, unended(err)
		}
	}
	if s.left.isEmpty() {
		table, err := s.inputs[0].Next(ctx)
		if err != nil {
			return nil, err
		}
		s.left.push(table)
	}
	joined, err := s.left.next(ctx, func(piece *buffer.Buffer) (*buffer.Buffer, error) { return s.right.Join(ctx, piece, options) })
	return joined, unended(err)
}

// prepare reads the right side.
func (s *searching) prepare(ctx context.Context, options vector.JoinOptions) error {
	right, err := s.collect(ctx, s.inputs[1])
	if err != nil {
		return err
	}
	keys := s.plan.Options().On
	rows, err := vector.NewRows(ctx, right, s.plan.Inputs()[0].Schema(), keys.Left, keys.Right, options)
	if err = errors.Join(err, right.Release()); err != nil {
		return errors.Join(err, rows.Release())
	}
	s.right = rows
	return nil
}

// Close implements buffer.Reader.
func (s *searching) Close() error {
	right := s.right
	s.right = nil
	err := errors.Join(s.left.Release(), right.Release())
	if failure := s.stage.Close(); err == nil {
		err = failure
	}
	return err
}
