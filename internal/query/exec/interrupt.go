package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// interruptible is the reader of a node that yields no table when the context is done,
// before or after the work. Together with the checks in [pieces] and [held], one runs
// between any two operators on all rows, and between any two tables.
type interruptible struct {
	buffer.Reader
	stage *stage
}

// Next implements buffer.Reader.
func (r *interruptible) Next(ctx context.Context) (*buffer.Buffer, error) {
	if err := cancel.Error(ctx); err != nil {
		return nil, r.stage.failed(err)
	}
	table, err := r.Reader.Next(ctx)
	if err == nil && ctx.Err() != nil {
		return nil, errors.Join(r.stage.failed(cancel.Error(ctx)), table.Release())
	}
	return table, err
}
