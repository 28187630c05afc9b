package gpuframe

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/memory"
)

// EngineOn returns an engine on a manager. Its Close leaves the manager open.
func EngineOn(m *memory.Manager) *Engine {
	return newEngine(nil, m.Device(), m, func() error { return nil })
}

// Without returns the query with a plan that is made without some passes of the optimizer.
// Its steps are not shared with q.
func (q Query) Without(ctx context.Context, passes ...string) (Query, error) {
	n, err := bindQuery(ctx, q)
	if err != nil {
		return Query{}, err
	}
	if n, err = plan.OptimizeWithout(n, passes...); err != nil {
		return Query{}, err
	}
	made := Query{&step{engine: q.step.engine, verb: q.step.verb}}
	made.step.prepared.store(made, n)
	return made, nil
}

// ExplainPlan returns the plan of a query of Without.
func (q Query) ExplainPlan() string { return plan.Explain(q.step.prepared.known.Load().plan) }

// PlanSchema returns the schema of a query of Without.
func (q Query) PlanSchema() *arrow.Schema { return q.step.prepared.known.Load().plan.Schema() }
