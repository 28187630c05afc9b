package gpuframe

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// ErrCancelled is wrapped by the error of a query that [Engine.Cancel] has ended. The error
// wraps context.Canceled too.
var ErrCancelled = errors.New("the query was cancelled with Engine.Cancel")

// RunningQuery is a query that runs, waits, or is between two frames of [Query.Batches].
type RunningQuery struct {
	// ID identifies the query among those of the engine and its tenants.
	ID  uint64
	Tag string
	// Manager is the name of the manager of the query's memory: that of the tenant.
	Manager string
	Begin   time.Time
	// Waiting is set while the query waits for memory that other queries use.
	Waiting bool
	// Operation is the operation of the plan that works now. It is empty between tables.
	Operation string
	// Rows is the number of rows that were read from the sources, and OfRows the number
	// of all their rows, or negative if it is not known.
	Rows, OfRows int64
	// Needed is the device memory that the query needs at least, in bytes.
	Needed uint64
	// Plan is the plan as it runs.
	Plan string
}

// EndedQuery is a query that has ended.
type EndedQuery struct {
	RunningQuery
	// Duration is the time from the begin to the end. Waited is the part of it in which
	// the query waited for memory that other queries use.
	Duration, Waited time.Duration
	// Err is nil for a query that has completed.
	Err error
}

// Running returns the queries of the engine and its tenants, or of the engine that it is a
// tenant of, that have begun and not ended, in the order in which they began.
func (e *Engine) Running() []RunningQuery { return e.top().active.list() }

// Cancel ends a query that [Engine.Running] has returned: its error wraps [ErrCancelled]. It
// does not wait for the end. It reports whether the query was there.
func (e *Engine) Cancel(id uint64) bool { return e.top().active.cancel(id) }

// ObserveQueries calls a function with each query of the engine and its tenants that ends,
// on the goroutine that runs the query. The function must return quickly. Queries that end
// after stop has returned are not reported.
func (e *Engine) ObserveQueries(ended func(EndedQuery)) (stop func()) {
	return e.top().active.observe(ended)
}

func (e *Engine) top() *Engine {
	for e.parent != nil {
		e = e.parent
	}
	return e
}

// active are the queries of a topmost engine and its tenants that have not ended.
type active struct {
	mu    sync.Mutex
	last  uint64
	runs  map[uint64]*running
	watch []*func(EndedQuery)
}

// running is the state of a query that others may see. All but the atomic fields and those
// with a lock are constant.
type running struct {
	id          uint64
	tag         string
	manager     string
	begin       time.Time
	needed      uint64
	plan        plan.Node
	cancel      context.CancelCauseFunc
	working     exec.Working
	rows, total atomic.Int64

	mu sync.Mutex
	// waiting is the time at which the query began to wait, or zero. waited is the sum of
	// earlier waits.
	waiting time.Time
	waited  time.Duration
}

func (a *active) add(r *running) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.runs == nil {
		a.runs = make(map[uint64]*running)
	}
	a.last++
	r.id, r.begin = a.last, time.Now()
	a.runs[r.id] = r
}

// end removes a query and reports it.
func (a *active) end(r *running, err error) {
	a.mu.Lock()
	delete(a.runs, r.id)
	watch := a.watch
	a.mu.Unlock()
	r.cancel(nil)
	if len(watch) == 0 {
		return
	}
	ended := EndedQuery{RunningQuery: r.describe(), Duration: time.Since(r.begin), Waited: r.waited, Err: err}
	for _, f := range watch {
		(*f)(ended)
	}
}

func (a *active) list() []RunningQuery {
	a.mu.Lock()
	runs := slices.SortedFunc(maps.Values(a.runs), func(x, y *running) int { return cmp.Compare(x.id, y.id) })
	a.mu.Unlock()
	list := make([]RunningQuery, len(runs))
	for i, r := range runs {
		list[i] = r.describe()
	}
	return list
}

func (a *active) cancel(id uint64) bool {
	a.mu.Lock()
	r := a.runs[id]
	a.mu.Unlock()
	if r == nil {
		return false
	}
	r.cancel(ErrCancelled)
	return true
}

func (a *active) observe(f func(EndedQuery)) (stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch = append(slices.Clip(a.watch), &f)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.watch = slices.DeleteFunc(slices.Clone(a.watch), func(other *func(EndedQuery)) bool { return other == &f })
	}
}

func (r *running) describe() RunningQuery {
	r.mu.Lock()
	waiting := !r.waiting.IsZero()
	r.mu.Unlock()
	q := RunningQuery{
		ID: r.id, Tag: r.tag, Manager: r.manager, Begin: r.begin, Waiting: waiting, Needed: r.needed,
		Rows: r.rows.Load(), OfRows: r.total.Load(), Plan: plan.Explain(r.plan),
	}
	if n := r.working.Node(); n != nil && !waiting {
		q.Operation = n.String()
	}
	return q
}

// wait notes that the query waits; resume that it does not.
func (r *running) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = time.Now()
}

func (r *running) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waited += time.Since(r.waiting)
	r.waiting = time.Time{}
}
