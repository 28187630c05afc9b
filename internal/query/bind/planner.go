package bind

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Planner makes the plans of the queries of an engine, and keeps those of the latest shapes.
type Planner struct {
	optimize func(ctx context.Context, n plan.Node, without ...string) (plan.Node, error)
	facts    plan.Facts
	// planned is the number of plans that were made, of all queries.
	planned atomic.Uint64

	mu   sync.Mutex
	kept []keptPlan
	next int
}

// mostPlans is the number of shapes that a planner keeps plans of.
const mostPlans = 64

// keptPlan is a plan with the slots of its shape.
type keptPlan struct {
	*shape
	plan Prepared
}

// NewPlanner makes a planner. optimize returns the plan that is run, made without some passes; facts are those of its sources.
func NewPlanner(optimize func(ctx context.Context, n plan.Node, without ...string) (plan.Node, error), facts plan.Facts) *Planner {
	return &Planner{optimize: optimize, facts: facts}
}

// Planned returns the number of plans that were made.
func (p *Planner) Planned() uint64 { return p.planned.Load() }

// find returns the plan of a shape.
func (p *Planner) find(ctx context.Context, s *shape) (known keptPlan, ok bool) {
	p.mu.Lock()
	var candidates []keptPlan
	for _, k := range p.kept {
		if k.hash == s.hash {
			candidates = append(candidates, k)
		}
	}
	p.mu.Unlock()
	for _, k := range candidates {
		if k.same(s) && p.isUnique(ctx, k.shape, s) {
			return k, true
		}
	}
	return known, false
}

// isUnique reports whether the tables of a shape have the unique columns that a kept plan needs. Those of new tables are
// counted. An error is that of the new plan, which counts them again.
func (p *Planner) isUnique(ctx context.Context, kept, s *shape) bool {
	for i, slot := range kept.slots {
		for _, name := range source.UniqueColumns(slot) {
			if unique, err := p.facts.IsUnique(ctx, s.sources[i], name); err != nil || !unique {
				return false
			}
		}
	}
	return true
}

// keep keeps a plan, in place of the oldest one if there are many.
func (p *Planner) keep(s *shape, added *Prepared) {
	kept := keptPlan{&shape{verbs: s.verbs, slots: s.slots, hash: s.hash}, *added}
	kept.plan.Tables = nil
	for _, slot := range s.slots {
		slot.Forget()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) < mostPlans {
		p.kept = append(p.kept, kept)
		return
	}
	p.kept[p.next] = kept
	p.next = (p.next + 1) % mostPlans
}

// Preparation stores the plan of a step, so that a query that is run again is not bound and optimized
// again.
type Preparation struct {
	// Known is the plan with all passes, or nil until it is made.
	Known atomic.Pointer[Prepared]
	// partial is the last plan that was made without some passes.
	partial atomic.Pointer[partlyPrepared]
}

// partlyPrepared is a query that was optimized without some passes.
type partlyPrepared struct {
	*Prepared
	without []string
}

// Prepare returns the optimized plan of a query, made without some passes: the one of the step, the one
// of an earlier query of the shape, or a new one. A nil step is a query without a source.
func (s *Step) Prepare(ctx context.Context, without []string) (*Prepared, error) {
	if s == nil {
		return s.prepareAnew(ctx, nil, without)
	}
	if len(without) > 0 {
		return s.preparePartly(ctx, without)
	}
	if known := s.Prepared.Known.Load(); known != nil && known.isUnique() {
		return known, nil
	}
	p, err := s.prepareShape(ctx)
	if err == nil {
		s.Prepared.Known.Store(p)
	}
	return p, err
}

// prepareShape returns the plan of an earlier query of the shape, or a new one.
func (s *Step) prepareShape(ctx context.Context) (*Prepared, error) {
	slots := s.shape()
	if slots == nil {
		return s.prepareAnew(ctx, nil, nil)
	}
	if known, ok := s.planner.find(ctx, slots); ok {
		p := known.plan
		p.Tables, p.Tag = slots.tables(known.slots), s.Origin()
		return &p, nil
	}
	p, err := s.prepareAnew(ctx, slots, nil)
	if err == nil {
		s.planner.keep(slots, p)
	}
	return p, err
}

// preparePartly returns the plan of a query without some passes: the last one of the step, or a
// new one.
func (s *Step) preparePartly(ctx context.Context, without []string) (*Prepared, error) {
	if partial := s.Prepared.partial.Load(); partial != nil && slices.Equal(partial.without, without) {
		return partial.Prepared, nil
	}
	p, err := s.prepareAnew(ctx, nil, without)
	if err == nil {
		s.Prepared.partial.Store(&partlyPrepared{p, slices.Clone(without)})
	}
	return p, err
}

// prepareAnew binds and optimizes a query.
func (s *Step) prepareAnew(ctx context.Context, slots *shape, without []string) (*Prepared, error) {
	n, err := s.bind(ctx, slots)
	if err != nil {
		return nil, err
	}
	if n, err = s.planner.optimize(ctx, n, without...); err != nil {
		return nil, err
	}
	s.planner.planned.Add(1)
	p := NewPrepared(n, s.Origin())
	if slots != nil {
		p.Tables = slots.tables(slots.slots)
	}
	return p, nil
}
