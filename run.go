package gpuframe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/driver/admission"
	"github.com/gpuframe/gpuframe/internal/driver/nvtx"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/query/runs"
	"github.com/gpuframe/gpuframe/memory"
)

// ErrBusy is wrapped by the error of a query with [NoWait] that would have to wait for
// other queries. The error wraps memory.ErrBudget too.
var ErrBusy = admission.ErrBusy

// run is a query that runs, and what others see of it.
type run struct {
	runs.Run
	engine  *Engine
	counts  *queryCounts
	running *running
	// marked is the query's range in a profiler.
	marked   nvtx.Range
	progress func(rows, total int64)
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
	tag := cmp.Or(chosen.tag, prepared.Tag)
	budget := e.manager.Budget()
	if prepared.Needs.Smallest > budget {
		return nil, nil, &NeedsError{Tag: tag, Needed: prepared.Needs.Smallest, Budget: budget}
	}
	if needed := uint64(plan.LeastBytes(prepared.Plan)); whole && needed > budget {
		return nil, nil, &NeedsError{Tag: tag, Needed: needed, Budget: budget, Rows: prepared.Needs.Result.Rows}
	}
	expected, most := runs.ShareOf(prepared.Needs, budget, chosen.batchRows)
	r := &run{engine: e, progress: chosen.progress, Run: runs.Run{
		Tenancy: e.tenancy, Prepared: prepared, NoWait: chosen.noWait, Expected: expected, Explain: e.explainSpilling,
		Settings: exec.Settings{
			Manager: e.manager, Spilling: &e.spilling, Tag: tag, BatchRows: chosen.batchRows, MostRows: most, Tables: prepared.Tables, Whole: whole,
		},
	}}
	r.Waiting, r.Resumed, r.Progress = r.reportWait, r.reportResumption, r.reportProgress
	e.onDevices(&r.Settings)
	if chosen.profile != nil {
		if err := chosen.profile.start(prepared.Plan, &r.Settings); err != nil {
			return nil, nil, err
		}
	}
	r.counts = e.queries.countsOf(tag)
	r.counts.begin()
	r.running = &running{tag: tag, manager: e.manager.Name(), needed: prepared.Needs.Smallest, plan: prepared.Plan}
	ctx, r.running.cancel = cancel.Endable(ctx)
	ctx = memory.Retrying(ctx)
	r.Settings.Working = &r.running.working
	e.top().active.add(r.running)
	r.marked = nvtx.Start(func() string { return "query " + tag })
	return r, ctx, nil
}

// end counts the run as ended, and reports that it got no memory. A caller that stops before the end
// has no error.
func (r *run) end(err error) {
	if exec.IsShort(err) {
		asked, short := uint64(0), new(memory.BudgetError)
		if errors.As(err, &short) {
			asked = short.Asked
		}
		r.engine.manager.ReportFailure(asked, r.Settings.Tag, err)
	}
	r.marked.End()
	r.counts.end(err)
	r.engine.top().active.end(r.running, err)
}

// attempt is [runs.Run.Attempt].
func (r *run) attempt(ctx context.Context, f func(buffer.Reader) error) error {
	return failed(r.Attempt(ctx, f))
}

// reportWait notes that the query waits; reportResumption that it does not.
func (r *run) reportWait() {
	r.counts.wait()
	r.running.wait()
}

func (r *run) reportResumption() {
	r.counts.resume()
	r.running.resume()
}

// reportProgress receives the rows that the sources have read.
func (r *run) reportProgress(rows, total int64) {
	r.running.rows.Store(rows)
	r.running.total.Store(total)
	if r.progress != nil {
		r.progress(rows, total)
	}
}

// failed makes the error of a query that ran.
func failed(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("gpuframe: %w", readable{err})
}
