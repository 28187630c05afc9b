package gpuframe

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/devices"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// EngineOn returns an engine on a manager. Its Close leaves the manager open.
func EngineOn(m *memory.Manager) *Engine {
	e, err := Managed(m)
	if err != nil {
		panic(err)
	}
	return e
}

// EngineOnSeveral returns an engine on managers of several devices, which divides all scans. Its
// Close leaves the managers open.
func EngineOnSeveral(managers ...*memory.Manager) *Engine {
	set := &devices.Set{}
	for _, m := range managers {
		set.Members = append(set.Members, devices.NewMember(m))
	}
	return newEngine(nil, set, set.CloseFiles)
}

// SpillTo sets the options for tables that leave a device of the engine.
func (e *Engine) SpillTo(device int, options spill.Options) {
	e.tenancy.Devices.Members[device].Spilling.Options = options
}

// KeepFew makes the queries of an engine move shuffled rows to the first device if they are at most
// this number.
func (e *Engine) KeepFew(rows int64) { e.tenancy.Devices.Divide.Few = rows }

// DivideAll makes the queries of an engine shuffle rows of any number, and read tables where they are.
func (e *Engine) DivideAll() { e.tenancy.Devices.Divide.LeastBytes = 0 }

// KeepTables makes the queries of an engine read tables on the devices that have them.
func (e *Engine) KeepTables() { e.tenancy.Devices.Divide.Stay = true }

// Without returns the query with a plan that is made without some passes of the optimizer.
// Its steps are not shared with q.
func (q Query) Without(ctx context.Context, passes ...string) (Query, error) {
	n, err := q.step.Bind(ctx)
	if err != nil {
		return Query{}, queryError(err)
	}
	if n, err = q.engine.tenancy.Devices.Optimize(ctx, n, passes...); err != nil {
		return Query{}, err
	}
	step := q.step.At(bind.Place(q.step.Place()))
	step.Prepared.Known.Store(bind.NewPrepared(n, step.Origin()))
	return Query{q.engine, step}, nil
}

// ExplainPlan returns the plan of a query of Without.
func (q Query) ExplainPlan() string { return plan.Explain(q.step.Prepared.Known.Load().Plan) }

// Planned returns the number of queries that were bound and optimized.
func (e *Engine) Planned() uint64 { return e.tenancy.Planner.Planned() }

// SameShape reports whether two queries have shapes, and these have one plan.
func (q Query) SameShape(other Query) bool { return q.step.SameShape(other.step) }

// Value returns the expression of package expr of an expression without aggregates.
func (e Expr) Value() expr.Expr { return e.tree }

// SpillBudgets returns the accounts of host memory of an engine's devices.
func (e *Engine) SpillBudgets() (accounts []*exec.Spilling) {
	for _, m := range e.tenancy.Devices.Members {
		account := &m.Spilling
		for account.Parent != nil {
			account = account.Parent
		}
		accounts = append(accounts, account)
	}
	return accounts
}
