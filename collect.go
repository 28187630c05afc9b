package gpuframe

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/runs"
)

// Collect runs the query and returns its whole result. Columns with more than 2 GiB of text are
// large_utf8 in it, and others that 32-bit offsets do not suffice for alike.
//
// # Ownership
//
// The caller releases the frame. A query that fails leaves nothing behind.
//
// # Waiting
//
// A query waits for its turn if other queries need the memory: see [NoWait].
//
// # Errors
//
// A query that does not fit its sources is a [*QueryError], which lists all that is wrong,
// and one that no division makes small enough for the budget is a [*NeedsError], and so is one
// with a known number of rows that do not fit it as one frame; nothing was run. Other errors name the operation of the plan. They wrap memory.ErrBudget if the
// budget is too small, the cause of ctx if it ended, and [ErrClosed] if the engine is closed.
func (q Query) Collect(ctx context.Context, options ...RunOption) (*Frame, error) {
	r, ctx, err := q.start(ctx, options, true)
	if err != nil {
		return nil, err
	}
	r.Settings.FixedPointSums = r.Prepared.FixedPointSums.Load()
	var table *buffer.Buffer
	err = queryError(r.Attempt(ctx, func(reader buffer.Reader) (err error) {
		table, err = exec.Collect(ctx, reader, r.Settings)
		if closing := r.Close(); closing != nil {
			err = errors.Join(err, closing)
			if table != nil {
				err = errors.Join(err, table.Release())
			}
		}
		return err
	}))
	if r.End(err); err != nil {
		return nil, err
	}
	return newFrame(q.engine, table)
}

// Batches runs the query and yields its result in parts, as they come. The caller releases
// each frame. The iteration ends after an error.
//
// # Waiting
//
// The query has its turn while it makes a part, and none while the loop works on the frame,
// so the loop may run other queries. The memory that the query holds then is not available to
// them, except for tables that can move to host memory. After the first frame the query
// cannot begin again if other queries use the memory that it lacks: it fails.
func (q Query) Batches(ctx context.Context, options ...RunOption) iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		r, ctx, err := q.start(ctx, options, false)
		if err != nil {
			yield(nil, err)
			return
		}
		// Also if yield panics, or ends the goroutine.
		defer func() { r.End(errors.Join(err, r.Close())) }()
		for {
			var f *Frame
			f, err = q.next(ctx, r)
			if err == io.EOF {
				err = nil
				return
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// next returns the next part of the result that has rows, or io.EOF.
func (q Query) next(ctx context.Context, r *runs.Run) (f *Frame, err error) {
	read := func(reader buffer.Reader) (err error) {
		f, err = q.part(ctx, r, reader)
		return err
	}
	if r.IsOpen() {
		err = r.Continue(ctx, read)
	} else {
		err = r.Attempt(ctx, read)
	}
	return f, queryError(err)
}

func (q Query) part(ctx context.Context, r *runs.Run, reader buffer.Reader) (*Frame, error) {
	for {
		table, err := reader.Next(ctx)
		if err != nil {
			return nil, err
		}
		if table, err = exec.Exact(ctx, table, r.Settings); err != nil {
			return nil, err
		}
		f, err := newFrame(q.engine, table)
		if err != nil || f.rows > 0 {
			return f, err
		}
		if err := f.Release(); err != nil {
			return nil, err
		}
	}
}
