package gpuframe

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/query/runs"
)

// preparation stores a prepared step, so that a query that is run again is not
// bound and optimized again. partial is the last one without some passes.
type preparation struct {
	known   atomic.Pointer[runs.Prepared]
	partial atomic.Pointer[partlyPrepared]
}

// partlyPrepared is a query that was optimized without some passes.
type partlyPrepared struct {
	*runs.Prepared
	without []string
}

// prepare returns the optimized plan of a query: the one of the step, the one of an earlier
// query of the shape, or a new one.
func (q Query) prepare(ctx context.Context, without []string) (*runs.Prepared, error) {
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
	var p *runs.Prepared
	if s != nil {
		if known, ok := plans.find(s); ok {
			p = &runs.Prepared{Plan: known.plan, Needs: known.needs, FixedPointSums: known.fixedPointSums, Tables: s.tables(known.slots), Tag: q.step.origin()}
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
func (q Query) preparePartly(ctx context.Context, without []string) (*runs.Prepared, error) {
	if partial := q.step.prepared.partial.Load(); partial != nil && slices.Equal(partial.without, without) {
		return partial.Prepared, nil
	}
	p, err := q.prepareAnew(ctx, nil, without)
	if err == nil {
		q.step.prepared.partial.Store(&partlyPrepared{p, slices.Clone(without)})
	}
	return p, err
}

// prepareAnew binds and optimizes a query.
func (q Query) prepareAnew(ctx context.Context, s *shape, without []string) (*runs.Prepared, error) {
	n, err := bindQuery(ctx, q, s)
	if err != nil {
		return nil, err
	}
	if n, err = q.step.engine.optimize(ctx, n, without...); err != nil {
		return nil, failed(err)
	}
	q.step.engine.plans.planned.Add(1)
	p := runs.NewPrepared(n, q.step.origin())
	if s != nil {
		p.Tables = s.tables(s.slots)
	}
	return p, nil
}
