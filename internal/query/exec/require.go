package exec

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// requiring passes tables on. It waits for the number of rows that do not meet the condition of each.
func requiring(s *stage, n *plan.Require) func(context.Context, *buffer.Buffer) (*buffer.Buffer, error) {
	return func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
		broken, err := selection.FindMatches(ctx, table, n.Broken(), s.options())
		if err != nil {
			return nil, err
		}
		rows := broken.Rows()
		if err := broken.Release(); err != nil {
			return nil, err
		}
		if rows > 0 {
			return nil, fmt.Errorf("%d rows do not meet it: %w", rows, n.Failure())
		}
		return columns(table, n.Schema())
	}
}
