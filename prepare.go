package gpuframe

import (
	"context"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/exec"
	"github.com/gpuframe/gpuframe/internal/plan"
)

// prepared is a query that can run.
type prepared struct {
	plan  plan.Node
	needs exec.Needs
	// tag is the tag of a query without another one: its last verb and the place of
	// its call.
	tag string
}

// preparation stores a prepared step, so that a query that is run again is not
// bound and optimized again.
type preparation struct{ known atomic.Pointer[prepared] }

func (p *preparation) store(q Query, n plan.Node) *prepared {
	made := newPrepared(q, n)
	p.known.Store(made)
	return made
}

func newPrepared(q Query, n plan.Node) *prepared {
	return &prepared{plan: n, needs: exec.NeedsOf(n), tag: q.step.origin()}
}

// prepare returns the optimized plan of a query. One without some passes is not stored.
func (q Query) prepare(ctx context.Context, without []string) (*prepared, error) {
	if q.step != nil && len(without) == 0 {
		if known := q.step.prepared.known.Load(); known != nil {
			return known, nil
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
		return newPrepared(q, n), nil
	}
	return q.step.prepared.store(q, n), nil
}
