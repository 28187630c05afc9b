package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// nearest joins each left row with the nearest right row. It holds the right side; the left
// side streams.
type nearest struct {
	*stage
	plan  *plan.AsOf
	right *buffer.Buffer
	left  pieces
}

func newNearest(s *stage, n *plan.AsOf) *nearest { return &nearest{stage: s, plan: n} }

// Next implements buffer.Reader.
func (n *nearest) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := n.next(ctx)
	return table, n.failed(err)
}

func (n *nearest) next(ctx context.Context) (*buffer.Buffer, error) {
	if len(n.inputs) == 0 {
		return nil, errEnd
	}
	if n.right == nil {
		right, err := n.collect(ctx, n.inputs[1])
		if err != nil {
			return nil, unended(err)
		}
		n.right = right
	}
	if n.left.isEmpty() {
		table, err := n.inputs[0].Next(ctx)
		if err != nil {
			return nil, err
		}
		n.left.push(table)
	}
	options := n.plan.JoinOptions()
	options.Options = n.options()
	joined, err := n.left.next(ctx, func(piece *buffer.Buffer) (*buffer.Buffer, error) {
		return join.AsOf(ctx, piece, n.right, n.plan.On(), options)
	})
	return joined, unended(err)
}

// Close implements buffer.Reader.
func (n *nearest) Close() error {
	right := n.right
	n.right = nil
	err := errors.Join(n.left.Release(), right.Release())
	if failure := n.stage.Close(); err == nil {
		err = failure
	}
	return err
}
