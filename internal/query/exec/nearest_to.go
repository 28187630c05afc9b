package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/vector"
)

// searching joins each left row with its nearest right rows. It holds the right side, as one table or, if this takes more
// than a share of the budget, as the tables that it came in, which move to host memory; the left side streams.
type searching struct {
	*stage
	plan    *plan.NearestTo
	right   *vector.Rows
	batches *held
	left    pieces
}

// batchShare is the part of the budget, as a divisor, above which the tables of a right side are not copied to one. The
// copy takes their memory once more, and their vectors up to as much again.
const batchShare = 4

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
	if s.right == nil && s.batches == nil {
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
	joined, err := s.left.next(ctx, func(piece *buffer.Buffer) (*buffer.Buffer, error) { return s.join(ctx, piece, options) })
	return joined, unended(err)
}

// join joins left rows with the right side.
func (s *searching) join(ctx context.Context, left *buffer.Buffer, options vector.JoinOptions) (*buffer.Buffer, error) {
	if s.batches == nil {
		return s.right.Join(ctx, left, options)
	}
	b := vector.Batches{Schema: s.batches.schema, Rows: s.batches.rows, Each: s.batches.each}
	keys := s.plan.Options().On
	return b.Join(ctx, left, keys.Left, keys.Right, options)
}

// prepare reads the right side.
func (s *searching) prepare(ctx context.Context, options vector.JoinOptions) error {
	h, err := s.hold(ctx, s.inputs[1])
	if err != nil {
		return err
	}
	if len(h.tables) > 1 && h.bytes > s.settings.Manager.Budget()/batchShare {
		s.batches = h
		return nil
	}
	err = s.whole(ctx, h, options)
	if len(h.tables) > 1 && isShort(err) {
		s.batches = h
		return nil
	}
	return errors.Join(err, h.Release())
}

// whole prepares the right side as one table.
func (s *searching) whole(ctx context.Context, h *held, options vector.JoinOptions) error {
	right, err := h.whole(ctx)
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
	right, batches := s.right, s.batches
	s.right, s.batches = nil, nil
	err := errors.Join(s.left.Release(), right.Release(), batches.Release())
	if failure := s.stage.Close(); err == nil {
		err = failure
	}
	return err
}
