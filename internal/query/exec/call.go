package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// calledShare is the part of the budget that the rows of one call of a function may take: the arguments, copies of
// them and the results are in memory together.
const calledShare = 8

// call calls a function of the user for each table, or for parts of one that takes much of the budget. It waits for
// the number of rows of each table.
func call(s *stage, n *plan.Call) *mapping {
	return &mapping{
		stage: s,
		apply: func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			rows, err := table.NumRows(ctx)
			if err != nil {
				return nil, err
			}
			exact, err := table.Slice(0, rows)
			if err != nil {
				return nil, err
			}
			called, err := expr.Project(ctx, exact, n.Expressions(), s.options())
			if err = errors.Join(err, exact.Release()); err != nil {
				return nil, errors.Join(err, called.Release())
			}
			return called, nil
		},
		grown: func(_ context.Context, table *buffer.Buffer) (uint64, error) { return table.Bytes(), nil }, share: calledShare,
	}
}
