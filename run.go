package gpuframe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/driver/admission"
	"github.com/gpuframe/gpuframe/internal/driver/nvtx"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// ErrBusy is wrapped by the error of a query with [NoWait] that would have to wait for
// other queries. The error wraps memory.ErrBudget too.
var ErrBusy = admission.ErrBusy

// run is a query that runs.
type run struct {
	engine   *Engine
	prepared *prepared
	settings exec.Settings
	counts   *queryCounts
	running  *running
	// marked is the query's range in a profiler.
	marked   nvtx.Range
	noWait   bool
	progress func(rows, total int64)
	// expected is the memory that the query is expected to use.
	expected uint64
	// alone is the level at which no other query runs while this one has its turn.
	alone *admission.Level
	// reader is open from the first part of the result to the last one.
	reader buffer.Reader
}

// newRun binds a query, and checks that the budget can suffice, also for the whole result if that
// becomes one frame. The query runs with the context that it returns.
func (q Query) newRun(ctx context.Context, options []RunOption, whole bool) (*run, context.Context, error) {
	chosen, err := settingsOfRun(options)
	if err != nil {
		return nil, nil, err
	}
	prepared, err := q.prepare(ctx, chosen.without)
	if err != nil {
		return nil, nil, err
	}
	e := q.step.engine
	tag := cmp.Or(chosen.tag, prepared.tag)
	budget := e.manager.Budget()
	if prepared.needs.Smallest > budget {
		return nil, nil, &NeedsError{Tag: tag, Needed: prepared.needs.Smallest, Budget: budget}
	}
	if needed := uint64(plan.LeastBytes(prepared.plan)); whole && needed > budget {
		return nil, nil, &NeedsError{Tag: tag, Needed: needed, Budget: budget, Rows: prepared.needs.Result.Rows}
	}
	expected, most := shareOf(prepared.needs, budget, chosen.batchRows)
	r := &run{engine: e, prepared: prepared, expected: expected, noWait: chosen.noWait, progress: chosen.progress, settings: exec.Settings{
		Manager: e.manager, Spilling: &e.spilling, Tag: tag, BatchRows: chosen.batchRows, MostRows: most, Tables: prepared.tables, Whole: whole,
	}}
	e.onDevices(&r.settings)
	if chosen.profile != nil {
		if err := chosen.profile.start(prepared.plan, &r.settings); err != nil {
			return nil, nil, err
		}
	}
	r.counts = e.queries.countsOf(tag)
	r.counts.begin()
	r.running = &running{tag: tag, manager: e.manager.Name(), needed: prepared.needs.Smallest, plan: prepared.plan}
	ctx, r.running.cancel = cancel.Endable(ctx)
	ctx = memory.Retrying(ctx)
	r.settings.Working = &r.running.working
	e.top().active.add(r.running)
	r.marked = nvtx.Start(func() string { return "query " + tag })
	return r, ctx, nil
}

const (
	// usualRows is the number of rows of a batch by the choice of most sources.
	usualRows = 1 << 20
	// largestShare is the part of the budget, as a divisor, that one query asks for: others can run
	// next to it.
	largestShare = 2
	// patience is the time without any begin or end of a query after which one that waits for its share
	// is admitted with less: a query that runs may read the rows of one that waits.
	patience = 10 * time.Second
)

func stalled() <-chan time.Time { return time.After(patience) }

// shareOf returns the memory that a query is expected to use, at most its share of a budget, and the
// largest number of rows of a batch with which it suffices.
func shareOf(needs exec.Needs, budget uint64, batchRows int64) (expected uint64, most int64) {
	share := max(budget/largestShare, needs.Smallest)
	if batchRows == 0 {
		batchRows = usualRows
	}
	expected = needs.Expected(min(batchRows, needs.BatchRows(share)))
	if expected > share {
		return share, needs.BatchRows(share)
	}
	return expected, needs.BatchRows(budget)
}

// end counts the run as ended, and reports that it got no memory. A caller that stops before the end
// has no error.
func (r *run) end(err error) {
	if exec.IsShort(err) {
		asked, short := uint64(0), new(memory.BudgetError)
		if errors.As(err, &short) {
			asked = short.Asked
		}
		r.engine.manager.ReportFailure(asked, r.settings.Tag, err)
	}
	r.marked.End()
	r.counts.end(err)
	r.engine.top().active.end(r.running, err)
}

// runWithRetry opens the reader of the result and calls f with it, while the query has its turn. After
// an error it attempts the query again, as long as adapt changes how it runs and its sources can be read
// again. After an error the reader is closed.
func (r *run) runWithRetry(ctx context.Context, f func(buffer.Reader) error) error {
	short, err := r.openAndRead(ctx, f)
	for r.adapt(short, err) {
		if r.settings.Profile != nil {
			r.settings.Profile.Restart()
		}
		next, failure := r.openAndRead(ctx, f)
		if errors.Is(failure, source.ErrUsed) {
			break
		}
		short, err = next, failure
	}
	return failed(r.engine.explainSpilling(err))
}

// adapt changes how the query runs so that another attempt may avoid an error, and reports whether it
// did. short is the level at which the query may succeed alone, or nil. The query runs
//   - without sums in fixed point, if they are inexact: then all its sources are in memory;
//   - without rows of caches, if memory is short: those are released, and the query keeps none;
//   - without other queries that use the memory: it waits until they have ended.
func (r *run) adapt(short *admission.Level, err error) bool {
	if errors.Is(err, group.ErrInexact) && r.settings.FixedPointSums {
		r.settings.FixedPointSums = false
		r.prepared.fixedPointSums.Store(false)
		return true
	}
	if exec.IsShort(err) && !r.settings.KeepNothing {
		r.settings.KeepNothing = true
		if r.evict() {
			return true
		}
	}
	if short == nil || r.noWait {
		return false
	}
	r.alone = short
	return true
}

// evict releases the rows of caches, and reports whether there were any.
func (r *run) evict() bool {
	total := 0
	for e := r.engine; e != nil; e = e.parent {
		evicted, err := e.stores.Evict()
		if total += evicted; err != nil {
			return false
		}
	}
	return total > 0
}

// openAndRead opens the reader and calls f with it. After an error it returns the level at which
// the query may succeed alone, or nil. A query alone at the topmost level has not shared any.
func (r *run) openAndRead(ctx context.Context, f func(buffer.Reader) error) (short *admission.Level, err error) {
	turn, err := r.admit(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	r.settings.Progress = exec.NewProgress(r.prepared.plan, r.reportProgress)
	if r.reader, err = exec.Open(ctx, r.prepared.plan, r.settings); err == nil {
		err = r.read(f)
	}
	if err == nil || err == io.EOF {
		return nil, err
	}
	for e := r.lacking(err); e != nil && short == nil; e = e.parent {
		if turn.Shared(e.level) {
			short = e.level
		}
	}
	return short, errors.Join(err, r.close())
}

// reportProgress receives the rows that the sources have read.
func (r *run) reportProgress(rows, total int64) {
	r.running.rows.Store(rows)
	r.running.total.Store(total)
	if r.progress != nil {
		r.progress(rows, total)
	}
}

// readMore calls f with the open reader, while the query has another turn.
func (r *run) readMore(ctx context.Context, f func(buffer.Reader) error) error {
	turn, err := r.admit(ctx)
	if err != nil {
		return failed(err)
	}
	defer turn.Leave()
	return failed(r.engine.explainSpilling(r.read(f)))
}

// read calls f with the reader, and closes the reader at its end.
func (r *run) read(f func(buffer.Reader) error) error {
	r.settings.Turns.Resume()
	err := f(r.reader)
	r.settings.Turns.Hold()
	if err == io.EOF {
		if closing := r.close(); closing != nil {
			return closing
		}
	}
	return err
}

// admit waits for a turn.
func (r *run) admit(ctx context.Context) (*admission.Turn, error) {
	waited := false
	turn, err := r.engine.level.Enter(ctx, admission.Request{
		Bytes: r.prepared.needs.Smallest, Expected: r.expected, Stalled: stalled, Alone: r.alone, NoWait: r.noWait,
		Waiting: func() {
			waited = true
			r.counts.wait()
			r.running.wait()
		},
	})
	if waited {
		r.counts.resume()
		r.running.resume()
	}
	switch {
	case errors.Is(err, ErrBusy):
		return nil, fmt.Errorf("query %q with NoWait: %w: %w", r.settings.Tag, err, memory.ErrBudget)
	case err != nil:
		return nil, fmt.Errorf("query %q: %w", r.settings.Tag, err)
	}
	return turn, nil
}

// lacking returns the engine whose manager lacked memory, this one or one that it is a tenant
// of, or nil for another error.
func (r *run) lacking(err error) *Engine {
	if !exec.IsShort(err) {
		return nil
	}
	e := r.engine
	var budget *memory.BudgetError
	known := errors.As(err, &budget)
	for e.parent != nil && (!known || e.manager.Name() != budget.Manager) {
		e = e.parent
	}
	return e
}

// close closes the reader. Further calls do nothing.
func (r *run) close() error {
	if r.reader == nil {
		return nil
	}
	reader := r.reader
	r.reader = nil
	return reader.Close()
}

// failed makes the error of a query that ran.
func failed(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("gpuframe: %w", readable{err})
}
