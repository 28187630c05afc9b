package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// openPartial makes the reader of partial results.
func openPartial(ctx context.Context, o *opener, s *stage, node plan.Node) (buffer.Reader, error) {
	n := node.(*plan.Partial).Operation()
	if partial := operationOf(n).partial; partial != nil {
		return partial(ctx, o, s, n)
	}
	return notSupported(ctx, o, s, n)
}

// newPartialGroups makes the reader of the partial groups of a worker.
func newPartialGroups(s *stage, n *plan.Aggregate) (buffer.Reader, error) {
	g, err := newGrouping(s, n, s.inputs[0].Schema())
	if err != nil {
		return nil, err
	}
	if n.Combines() {
		return &partialGroups{grouping: g}, nil
	}
	return &mapping{stage: s, apply: func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
		return g.by(table).Partial(ctx, g.aggregates, g.options)
	}}, nil
}

// newPartialSlice makes the reader of the rows of a worker that may be part of a slice.
func newPartialSlice(s *stage, n *plan.Slice) (buffer.Reader, error) {
	if n.Offset() < 0 {
		return newPartialTail(s, n), nil
	}
	return &slice{stage: s, left: n.Length()}, nil
}

// partialGroups combines the partial groups of all tables of a worker, as far as memory suffices.
// It is for groups that do not depend on the order of the rows.
type partialGroups struct {
	*grouping
	partials *held
}

// Next implements buffer.Reader.
func (p *partialGroups) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := p.next(ctx)
	return table, p.failed(err)
}

func (p *partialGroups) next(ctx context.Context) (*buffer.Buffer, error) {
	if !p.started {
		p.started = true
		if len(p.inputs) == 0 {
			return nil, errEnd
		}
		partials, unused, err := p.states(ctx)
		if err != nil {
			return nil, unended(err)
		}
		if partials == nil {
			return nil, errors.Join(fmt.Errorf("the aggregates have no partial results: %w", device.ErrNotSupported), release.All(unused))
		}
		p.partials = partials
		if len(partials.tables) > 1 {
			if _, err := p.combine(ctx, partials); err != nil {
				return nil, unended(err)
			}
		}
	}
	return p.partials.pop(ctx)
}

// states reads partial results, or makes those of the rows.
func (p *partialGroups) states(ctx context.Context) (states *held, unused []*buffer.Buffer, err error) {
	if p.merges {
		states, err = p.heldPartials(ctx)
		return states, nil, err
	}
	return p.grouping.partials(ctx)
}

// Close implements buffer.Reader.
func (p *partialGroups) Close() error { return errors.Join(p.partials.Release(), p.grouping.Close()) }

// newMerging makes the reader of the groups of partial results.
func newMerging(s *stage, n *plan.Merge) (buffer.Reader, error) {
	g, err := newGrouping(s, n.Aggregate(), n.Aggregate().Input().Schema())
	if err != nil {
		return nil, err
	}
	g.merges = true
	return g, nil
}

// readPartials reads partial results. It returns the result of no rows, or leaves the partial
// results in parts.
func (g *grouping) readPartials(ctx context.Context) (*buffer.Buffer, error) {
	partials, err := g.heldPartials(ctx)
	if err != nil {
		return nil, err
	}
	if partials.isEmpty() {
		return g.emptyResult(ctx)
	}
	g.parts = []dividedPart{{partials, 0}}
	return nil, nil
}

// heldPartials reads partial results, and combines many.
func (g *grouping) heldPartials(ctx context.Context) (*held, error) {
	partials, limit := &held{stage: g.stage}, mostPartials
	for {
		partial, err := g.inputs[0].Next(ctx)
		if err == errEnd {
			return partials, nil
		}
		if err == nil {
			limit, err = g.keep(ctx, partials, partial, limit)
		}
		if err != nil {
			return nil, errors.Join(err, partials.Release())
		}
	}
}
