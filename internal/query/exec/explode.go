package exec

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/nested"
)

// grownShare is the part of the budget that the rows made of one piece may take. The next
// operation copies them at least once.
const grownShare = 8

// explode makes rows of the elements of lists. A table with elements that are expected to
// take much of the budget is cut first.
func explode(s *stage, n *plan.Explode) *mapping {
	options := n.Options()
	options.Options = s.options()
	return &mapping{
		stage: s,
		apply: func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return nested.Explode(ctx, table, n.Columns(), options)
		},
		grown: func(_ context.Context, table *buffer.Buffer) (uint64, error) {
			return exploded(table, n.Columns()[0]), nil
		}, share: grownShare,
	}
}

// exploded returns the expected number of bytes of the rows that a table becomes: those of the
// table for each element of an average list.
func exploded(table *buffer.Buffer, name string) uint64 {
	list, err := table.ColumnByName(name)
	if err != nil || list.NumChildren() == 0 || list.Len() == 0 {
		return 0
	}
	elements := uint64(list.Child(0).Len())/uint64(list.Len()) + 1
	return table.Bytes() * elements
}
