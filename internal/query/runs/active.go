package runs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Active are the queries of an engine and its tenants that have not ended.
type Active struct {
	mu    sync.Mutex
	last  uint64
	runs  map[uint64]*Running
	watch []*func(ended *Running, err error)
}

// Running is the state of a query that others may see. The exported fields are constant.
type Running struct {
	ID           uint64
	Tag, Manager string
	Begin        time.Time
	Needed       uint64
	Plan         plan.Node

	cancel      context.CancelCauseFunc
	working     exec.Working
	rows, total atomic.Int64

	mu sync.Mutex
	// waiting is the time at which the query began to wait, or zero. waited is the sum of
	// earlier waits.
	waiting time.Time
	waited  time.Duration
}

func (a *Active) add(r *Running) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.runs == nil {
		a.runs = make(map[uint64]*Running)
	}
	a.last++
	r.ID, r.Begin = a.last, time.Now()
	a.runs[r.ID] = r
}

// end removes a query and reports it.
func (a *Active) end(r *Running, err error) {
	a.mu.Lock()
	delete(a.runs, r.ID)
	watch := a.watch
	a.mu.Unlock()
	r.cancel(nil)
	for _, f := range watch {
		(*f)(r, err)
	}
}

// List returns the queries in the order in which they began.
func (a *Active) List() []*Running {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.SortedFunc(maps.Values(a.runs), func(x, y *Running) int { return cmp.Compare(x.ID, y.ID) })
}

// Cancel ends a query with a cause, and reports whether it was there.
func (a *Active) Cancel(id uint64, cause error) bool {
	a.mu.Lock()
	r := a.runs[id]
	a.mu.Unlock()
	if r == nil {
		return false
	}
	r.cancel(cause)
	return true
}

// Observe calls a function with each query that ends, until stop is called.
func (a *Active) Observe(f func(ended *Running, err error)) (stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch = append(slices.Clip(a.watch), &f)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.watch = slices.DeleteFunc(slices.Clone(a.watch), func(other *func(*Running, error)) bool { return other == &f })
	}
}

// Waiting reports whether the query waits for memory that other queries use.
func (r *Running) Waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.waiting.IsZero()
}

// Waited returns the sum of the waits of a query that has ended.
func (r *Running) Waited() time.Duration { return r.waited }

// Rows returns the rows that the sources have read, and those that they have, or negative.
func (r *Running) Rows() (rows, total int64) { return r.rows.Load(), r.total.Load() }

// Operation describes the operation that works, if one does.
func (r *Running) Operation() string {
	if n := r.working.Node(); n != nil {
		return n.String()
	}
	return ""
}

// wait notes that the query waits; resume that it does not.
func (r *Running) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = time.Now()
}

func (r *Running) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waited += time.Since(r.waiting)
	r.waiting = time.Time{}
}
