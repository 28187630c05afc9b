package runs

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/driver/admission"
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/devices"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/memory"
)

// Tenancy is what the queries of an engine share, or those of a tenant of another one.
type Tenancy struct {
	// Devices are those that the queries run on.
	Devices *devices.Set
	// Planner makes the plans.
	Planner *bind.Planner
	// Stores are the rows of caches.
	Stores exec.Stores
	// Active are the queries that have not ended, those of the tenants and of the parent included.
	Active *Active

	parent *Tenancy
	// level admits the queries, and those of the tenants.
	level   *admission.Level
	queries queries
}

// NewTenancy returns the tenancy of the queries on devices. parent is nil for an engine that is no tenant.
func NewTenancy(parent *Tenancy, set *devices.Set) *Tenancy {
	t := &Tenancy{Devices: set, Planner: bind.NewPlanner(set.Optimize, exec.Facts{}), parent: parent}
	if budget := set.First().Manager.Budget; parent == nil {
		t.level, t.Active = admission.New(budget), &Active{}
	} else {
		t.level, t.Active = parent.level.Child(budget), parent.Active
	}
	return t
}

// Close ends the queries that wait, waits for those that run, and releases the rows of caches.
func (t *Tenancy) Close() error {
	t.level.Close()
	_, err := t.Stores.Evict()
	return err
}

// evict releases the rows of caches, and reports whether there were any.
func (t *Tenancy) evict() bool {
	total := 0
	for ; t != nil; t = t.parent {
		evicted, err := t.Stores.Evict()
		if total += evicted; err != nil {
			return false
		}
	}
	return total > 0
}

// lacking returns the tenancy whose manager lacked memory, this one or one that it is a tenant
// of, or nil for another error.
func (t *Tenancy) lacking(err error) *Tenancy {
	if !exec.IsShort(err) {
		return nil
	}
	var budget *memory.BudgetError
	known := errors.As(err, &budget)
	for t.parent != nil && (!known || t.Devices.First().Manager.Name() != budget.Manager) {
		t = t.parent
	}
	return t
}
