package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// newPartial makes the reader of partial results.
func newPartial(s *stage, n *plan.Partial) (buffer.Reader, error) {
	switch node := n.Operation().(type) {
	case *plan.Aggregate:
		g, err := newGrouping(s, node, s.inputs[0].Schema())
		if err != nil {
			return nil, err
		}
		if node.Combines() {
			return &partialGroups{grouping: g}, nil
		}
		return &mapping{stage: s, apply: func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return g.by(table).Partial(ctx, g.aggregates, g.options)
		}}, nil
	case *plan.Sort:
		return newLocalTop(s, node), nil
	case *plan.Slice:
		if node.Offset() < 0 {
			return newPartialTail(s, node), nil
		}
		return &slice{stage: s, left: node.Length()}, nil
	case *plan.Distinct:
		return &mapping{stage: s, apply: func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			return s.firstRows(ctx, table, node.Columns())
		}}, nil
	}
	return nil, fmt.Errorf("no partial execution of %T: %w", n.Operation(), device.ErrNotSupported)
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
		partials, unused, err := p.grouping.partials(ctx)
		if err != nil {
			return nil, unended(err)
		}
		if partials == nil {
			return releasing(nil, fmt.Errorf("the aggregates have no partial results: %w", device.ErrNotSupported), unused...)
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

// Close implements buffer.Reader.
func (p *partialGroups) Close() error { return errors.Join(p.partials.release(), p.grouping.Close()) }

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
	partials, limit := &held{stage: g.stage}, mostPartials
	for {
		partial, err := g.inputs[0].Next(ctx)
		if err == errEnd {
			break
		}
		if err == nil {
			limit, err = g.keep(ctx, partials, partial, limit)
		}
		if err != nil {
			return nil, errors.Join(err, partials.release())
		}
	}
	if partials.isEmpty() {
		return g.emptyResult(ctx)
	}
	g.parts = []dividedPart{{partials, 0}}
	return nil, nil
}
