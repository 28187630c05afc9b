package gpuframe

import (
	"context"
	"errors"
	"github.com/gpuframe/gpuframe/buffer/spill"

	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/query/runs"
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
	var list []*member
	for _, m := range managers {
		of := &member{device: m.Device(), manager: m}
		of.spilling.Manager = m
		list = append(list, of)
	}
	e := newEngine(nil, list, func() error {
		var failures []error
		for _, of := range list {
			failures = append(failures, of.spilling.Close())
		}
		return errors.Join(failures...)
	})
	return e
}

// SpillTo sets the options for tables that leave a device of the engine.
func (e *Engine) SpillTo(device int, options spill.Options) {
	if device == 0 {
		e.spilling.Options = options
		return
	}
	e.others[device-1].spilling.Options = options
}

// KeepFew makes the queries of an engine move shuffled rows to the first device if they are at most
// this number.
func (e *Engine) KeepFew(rows int64) { e.divide.few = rows }

// DivideAll makes the queries of an engine shuffle rows of any number, and read tables where they are.
func (e *Engine) DivideAll() { e.divide.leastBytes = 0 }

// KeepTables makes the queries of an engine read tables on the devices that have them.
func (e *Engine) KeepTables() { e.divide.stay = true }

// Without returns the query with a plan that is made without some passes of the optimizer.
// Its steps are not shared with q.
func (q Query) Without(ctx context.Context, passes ...string) (Query, error) {
	n, err := bindQuery(ctx, q, nil)
	if err != nil {
		return Query{}, err
	}
	if n, err = q.step.engine.optimize(ctx, n, passes...); err != nil {
		return Query{}, err
	}
	made := Query{&step{engine: q.step.engine, verb: q.step.verb}}
	made.step.prepared.known.Store(runs.NewPrepared(n, made.step.origin()))
	return made, nil
}

// ExplainPlan returns the plan of a query of Without.
func (q Query) ExplainPlan() string { return plan.Explain(q.step.prepared.known.Load().Plan) }

// Planned returns the number of queries that were bound and optimized.
func (e *Engine) Planned() uint64 { return e.plans.planned.Load() }

// SameShape reports whether two queries have shapes, and these have one plan.
func (q Query) SameShape(other Query) bool {
	a, b := q.shape(), other.shape()
	return a != nil && b != nil && a.same(b)
}

// Value returns the expression of package expr of an expression without aggregates.
func (e Expr) Value() expr.Expr { return e.tree }

// SpillBudgets returns the accounts of host memory of an engine's devices.
func (e *Engine) SpillBudgets() (accounts []*exec.Spilling) {
	for _, m := range append([]*member{e.member}, e.others...) {
		account := &m.spilling
		for account.Parent != nil {
			account = account.Parent
		}
		accounts = append(accounts, account)
	}
	return accounts
}
