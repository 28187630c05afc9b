package gpuframe

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// prepared is a query that can run.
type prepared struct {
	plan  plan.Node
	needs exec.Needs
	// fixedPointSums is whether partial results may add floats in fixed point: the rows are in memory,
	// so that the query can begin again, and in no run the parts had magnitudes that differ too much.
	fixedPointSums *atomic.Bool
	// tables are those for the slots of the plan.
	tables map[*source.Slot]source.Source
	// tag is the tag of a query without another one: its last verb and the place of
	// its call.
	tag string
}

// preparation stores a prepared step, so that a query that is run again is not
// bound and optimized again. partial is the last one without some passes.
type preparation struct {
	known   atomic.Pointer[prepared]
	partial atomic.Pointer[partlyPrepared]
}

// partlyPrepared is a query that was optimized without some passes.
type partlyPrepared struct {
	*prepared
	without []string
}

// prepare returns the optimized plan of a query: the one of the step, the one of an earlier
// query of the shape, or a new one.
func (q Query) prepare(ctx context.Context, without []string) (*prepared, error) {
	if q.step == nil {
		return q.prepareAnew(ctx, nil, without)
	}
	if len(without) > 0 {
		return q.preparePartly(ctx, without)
	}
	if known := q.step.prepared.known.Load(); known != nil {
		return known, nil
	}
	s, plans := q.shape(), &q.step.engine.plans
	var p *prepared
	if s != nil {
		if known, ok := plans.find(s); ok {
			p = &prepared{plan: known.plan, needs: known.needs, fixedPointSums: known.fixedPointSums, tables: s.tables(known.slots), tag: q.step.origin()}
		}
	}
	if p == nil {
		var err error
		if p, err = q.prepareAnew(ctx, s, nil); err != nil {
			return nil, err
		}
		if s != nil {
			plans.keep(s, p)
		}
	}
	q.step.prepared.known.Store(p)
	return p, nil
}

// preparePartly returns the plan of a query without some passes: the last one of the step, or a
// new one.
func (q Query) preparePartly(ctx context.Context, without []string) (*prepared, error) {
	if partial := q.step.prepared.partial.Load(); partial != nil && slices.Equal(partial.without, without) {
		return partial.prepared, nil
	}
	p, err := q.prepareAnew(ctx, nil, without)
	if err == nil {
		q.step.prepared.partial.Store(&partlyPrepared{p, slices.Clone(without)})
	}
	return p, err
}

// prepareAnew binds and optimizes a query.
func (q Query) prepareAnew(ctx context.Context, s *shape, without []string) (*prepared, error) {
	n, err := bindQuery(ctx, q, s)
	if err != nil {
		return nil, err
	}
	if n, err = q.step.engine.optimize(ctx, n, without...); err != nil {
		return nil, failed(err)
	}
	q.step.engine.plans.planned.Add(1)
	p := newPrepared(n, q.step.origin())
	if s != nil {
		p.tables = s.tables(s.slots)
	}
	return p, nil
}

func newPrepared(n plan.Node, tag string) *prepared {
	p := &prepared{plan: n, needs: exec.NeedsOf(n), fixedPointSums: new(atomic.Bool), tag: tag}
	p.fixedPointSums.Store(readsMemory(n))
	return p
}

// readsMemory reports whether all rows of a plan are in memory.
func readsMemory(n plan.Node) bool {
	inMemory := true
	plan.Walk(n, func(n plan.Node) {
		if scan, ok := n.(*plan.Scan); ok {
			inMemory = inMemory && source.InMemory(scan.Source())
		}
	})
	return inMemory
}
