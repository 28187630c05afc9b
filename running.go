package gpuframe

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/query/runs"
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
func (e *Engine) Running() []RunningQuery {
	active := e.tenancy.Active.List()
	list := make([]RunningQuery, len(active))
	for i, r := range active {
		list[i] = runningQuery(r)
	}
	return list
}

// Cancel ends a query that [Engine.Running] has returned: its error wraps [ErrCancelled]. It
// does not wait for the end. It reports whether the query was there.
func (e *Engine) Cancel(id uint64) bool { return e.tenancy.Active.Cancel(id, ErrCancelled) }

// ObserveQueries calls a function with each query of the engine and its tenants that ends,
// on the goroutine that runs the query. The function must return quickly. Queries that end
// after stop has returned are not reported.
func (e *Engine) ObserveQueries(ended func(EndedQuery)) (stop func()) {
	return e.tenancy.Active.Observe(func(r *runs.Running, err error) {
		ended(EndedQuery{RunningQuery: runningQuery(r), Duration: time.Since(r.Begin), Waited: r.Waited(), Err: err})
	})
}

// runningQuery returns the present state of a query.
func runningQuery(r *runs.Running) RunningQuery {
	q := RunningQuery{ID: r.ID, Tag: r.Tag, Manager: r.Manager, Begin: r.Begin, Waiting: r.Waiting(), Needed: r.Needed, Plan: plan.Explain(r.Plan)}
	q.Rows, q.OfRows = r.Rows()
	if !q.Waiting {
		q.Operation = r.Operation()
	}
	return q
}

// QueryStats are the statistics of the queries of an engine with one tag.
type QueryStats struct {
	Tag string
	// Waiting queries wait for memory that others use, Running ones run or are between two
	// frames of [Query.Batches].
	Waiting, Running int
	// Completed and Failed count queries that have ended, Waits the times that one had
	// to wait.
	Completed, Failed, Waits uint64
	// InUse is the device memory with the tag, in bytes, that of results included. Peak is
	// the most at a time, with several devices the sum of their peaks.
	InUse, Peak uint64
}

// Queries returns the statistics of the queries that the engine has run, ordered by their
// tags. Those of its tenants are not included.
func (e *Engine) Queries() []QueryStats {
	var list []QueryStats
	for _, c := range e.tenancy.Queries() {
		list = append(list, QueryStats{Tag: c.Tag, Waiting: c.Waiting, Running: c.Running, Completed: c.Completed, Failed: c.Failed, Waits: c.Waits})
	}
	for _, m := range e.Managers() {
		for _, tag := range m.Stats().Tags {
			at, known := slices.BinarySearchFunc(list, tag.Tag, func(s QueryStats, tag string) int { return cmp.Compare(s.Tag, tag) })
			if known {
				list[at].InUse += tag.InUse
				list[at].Peak += tag.Peak
			}
		}
	}
	return list
}
