package runs

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/driver/admission"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/memory"
)

// Tenancy is the memory of an engine, or of a tenant of another one.
type Tenancy struct {
	manager *memory.Manager
	// level admits the queries, and those of the tenants.
	level  *admission.Level
	parent *Tenancy
	// Stores are the rows of its caches.
	Stores exec.Stores
}

// NewTenancy returns the memory of a manager. parent is nil for an engine that is no tenant.
func NewTenancy(parent *Tenancy, manager *memory.Manager) *Tenancy {
	t := &Tenancy{manager: manager, parent: parent}
	if parent == nil {
		t.level = admission.New(manager.Budget)
	} else {
		t.level = parent.level.Child(manager.Budget)
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
	for t.parent != nil && (!known || t.manager.Name() != budget.Manager) {
		t = t.parent
	}
	return t
}
