package exec

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// localTop keeps the first rows of a worker, with their positions: rows with equal keys may be on
// other devices.
type localTop struct {
	once
	of        *plan.Sort
	positions positions
}

func newLocalTop(s *stage, n *plan.Sort) *localTop {
	t := &localTop{once: once{stage: s}, of: n}
	t.make = t.first
	return t
}

// first makes the result. It holds no more than two limits and a table.
func (t *localTop) first(ctx context.Context) (best *buffer.Buffer, err error) {
	for {
		table, err := t.inputs[0].Next(ctx)
		if err == errEnd {
			return best, nil
		}
		if err == nil {
			table, err = t.table(ctx, table)
		}
		if err == nil && best != nil {
			both := []*buffer.Buffer{best, table}
			best = nil
			table, err = t.merged(ctx, t.of, both)
		}
		if err != nil {
			return releasing(nil, err, best)
		}
		best = table
	}
}

// table keeps the first rows of a table, which it takes over.
func (t *localTop) table(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	first, err := order.TopK(ctx, table, t.of.Limit(), t.of.OrderKeys(), t.options())
	if first, err = releasing(first, err, table); err != nil {
		return nil, err
	}
	// The rows with equal keys of a table are in order, so their numbers may be those of the result.
	made, err := t.positioned(ctx, first, &t.positions)
	return releasing(made, err, first)
}
