package observe

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe"
)

// durationBounds are the bounds of the distribution of durations of queries, in seconds.
var durationBounds = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300}

// endedQueries count the queries that have ended, by manager.
type endedQueries struct {
	mu        sync.Mutex
	byManager map[string]*endedOf
}

// endedOf counts the queries of one manager. Its durations have their own lock.
type endedOf struct {
	counts    EndedQueries
	durations histogram
}

// ended is called at the end of a query.
func (r *Recorder) ended(manager string) func(gpuframe.EndedQuery) {
	return func(q gpuframe.EndedQuery) {
		name := nameOf(cmp.Or(q.Manager, manager))
		r.queries.add(name, q)
		if r.log == nil || r.slow <= 0 || q.Duration < r.slow {
			return
		}
		attributes := []slog.Attr{
			slog.String("manager", name), slog.String("tag", q.Tag), slog.Duration("duration", q.Duration),
			slog.Duration("waited", q.Waited), slog.Int64("rows", q.Rows), slog.String("plan", q.Plan),
		}
		if q.Err != nil {
			attributes = append(attributes, slog.String("error", q.Err.Error()))
		}
		r.log.LogAttrs(context.Background(), slog.LevelWarn, "gpuframe: slow query", attributes...)
	}
}

func (e *endedQueries) add(manager string, q gpuframe.EndedQuery) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byManager == nil {
		e.byManager = make(map[string]*endedOf)
	}
	ended := e.byManager[manager]
	if ended == nil {
		ended = &endedOf{counts: EndedQueries{Manager: manager}}
		ended.durations.open(durationBounds)
		e.byManager[manager] = ended
	}
	switch {
	case q.Err == nil:
		ended.counts.Completed++
	case errors.Is(q.Err, context.Canceled), errors.Is(q.Err, context.DeadlineExceeded):
		ended.counts.Cancelled++
	default:
		ended.counts.Failed++
	}
	ended.counts.Waited += q.Waited.Seconds()
	ended.durations.add(q.Duration.Seconds())
}

// read returns the counts, ordered by manager.
func (e *endedQueries) read() []EndedQueries {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []EndedQueries{}
	for _, name := range slices.Sorted(maps.Keys(e.byManager)) {
		ended := e.byManager[name]
		counts := ended.counts
		counts.Durations = ended.durations.read()
		list = append(list, counts)
	}
	return list
}

// cancel cancels a query of an engine, and reports whether it was there.
func (r *Recorder) cancel(engine int, id uint64) bool {
	return engine >= 0 && engine < len(r.engines) && r.engines[engine].Cancel(id)
}
