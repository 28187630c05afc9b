package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// nothing has no rows.
type nothing struct{ *stage }

func newNothing(s *stage, _ *plan.Nothing) nothing { return nothing{s} }

// Next implements buffer.Reader.
func (nothing) Next(context.Context) (*buffer.Buffer, error) { return nil, errEnd }

// project evaluates expressions.
func project(s *stage, n *plan.Project) func(context.Context, *buffer.Buffer) (*buffer.Buffer, error) {
	return func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
		return expr.Project(ctx, table, n.Expressions(), s.options())
	}
}

// project evaluates expressions for each row of a table, with 64-bit offsets where texts need them.
func (s *stage) project(ctx context.Context, table *buffer.Buffer, expressions []expr.Expr) (*buffer.Buffer, error) {
	return s.widening(ctx, table, func(table *buffer.Buffer) (*buffer.Buffer, error) {
		return expr.Project(ctx, table, expressions, s.options())
	})
}

// slice passes on some rows: it skips rows and ends after others.
type slice struct {
	*stage
	// skip is the number of rows that are still left out, left that of the rows to come,
	// or plan.All.
	skip, left int64
}

// newSlice makes the reader of a slice, which counts from the end if its offset is negative.
func newSlice(s *stage, n *plan.Slice) (buffer.Reader, error) {
	if n.Offset() < 0 {
		return newTail(s, n), nil
	}
	return &slice{stage: s, skip: n.Offset(), left: n.Length()}, nil
}

// Next implements buffer.Reader. It waits for row counts.
func (s *slice) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := s.next(ctx)
	return table, s.failed(err)
}

func (s *slice) next(ctx context.Context) (*buffer.Buffer, error) {
	for s.left != 0 && len(s.inputs) > 0 {
		table, err := s.inputs[0].Next(ctx)
		if err != nil {
			return nil, err
		}
		rows, err := table.NumRows(ctx)
		if err != nil {
			return nil, errors.Join(err, table.Release())
		}
		if rows <= s.skip {
			s.skip -= rows
			if err := table.Release(); err != nil {
				return nil, err
			}
			continue
		}
		from, length := s.skip, rows-s.skip
		if s.left != plan.All {
			length = min(length, s.left)
			s.left -= length
		}
		s.skip = 0
		if length == rows {
			return table, nil
		}
		part, err := table.Slice(from, length)
		return release.OnError(part, err, table.Release())
	}
	if s.worker != nil {
		s.worker.fragment.change(func() { s.worker.stopped = true }) // its input may not have ended
	}
	return nil, errEnd
}
