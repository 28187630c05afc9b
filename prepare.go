package gpuframe

import (
	"context"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/plan"
)

// preparation stores the plan of a step, so that a query that is run again is not bound and
// optimized again.
type preparation struct{ plan atomic.Pointer[plan.Node] }

// prepare returns the optimized plan of a query. One without some passes is not stored.
func (q Query) prepare(ctx context.Context, without []string) (plan.Node, error) {
	if q.step != nil && len(without) == 0 {
		if known := q.step.prepared.plan.Load(); known != nil {
			return *known, nil
		}
	}
	n, err := bindQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	if n, err = plan.OptimizeWithout(n, without...); err != nil {
		return nil, failed(err)
	}
	if len(without) > 0 {
		return n, nil
	}
	q.step.prepared.plan.Store(&n)
	return n, nil
}
