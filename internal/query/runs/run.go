package runs

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/driver/admission"
	"github.com/gpuframe/gpuframe/internal/driver/nvtx"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// Options configure a run.
type Options struct {
	// Tag is what statistics and profiles call the query by.
	Tag string
	// BatchRows is the approximate number of rows that are read from a source at a time, or 0 for the default.
	BatchRows int64
	// Profile, if it is not nil, receives what the operations take.
	Profile *exec.Profile
	// NoWait makes a query fail that would wait for others.
	NoWait bool
	// Whole is set if the result is read as one table.
	Whole bool
	// Progress, if it is not nil, receives the rows that the sources have read.
	Progress func(rows, total int64)
}

// Run is a query that runs, and what others see of it.
type Run struct {
	// Prepared is the plan of the query.
	Prepared *bind.Prepared
	// Settings are those that the plan runs with.
	Settings exec.Settings

	tenancy  *Tenancy
	noWait   bool
	progress func(rows, total int64)
	// expected is the memory that the query is expected to use.
	expected uint64
	counts   *counts
	running  *Running
	// marked is the query's range in a profiler.
	marked nvtx.Range
	// alone is the level at which no other query runs while this one has its turn.
	alone *admission.Level
	// hasStream is set if the query has taken its stream.
	hasStream bool
	// reader is open from the first part of the result to the last one.
	reader buffer.Reader
}

// Start begins a run, which ends with End. The query runs with the context that it returns.
func (t *Tenancy) Start(ctx context.Context, prepared *bind.Prepared, options Options) (*Run, context.Context) {
	manager := t.Devices.First().Manager
	expected, most := shareOf(prepared.Needs, manager.Budget(), options.BatchRows)
	r := &Run{Prepared: prepared, tenancy: t, noWait: options.NoWait, progress: options.Progress, expected: expected, Settings: exec.Settings{
		Tag: options.Tag, BatchRows: options.BatchRows, MostRows: most, Profile: options.Profile, Tables: prepared.Tables, Whole: options.Whole,
	}}
	t.Devices.Configure(&r.Settings)
	r.counts = t.queries.countsOf(options.Tag)
	r.counts.begin()
	r.running = &Running{Tag: options.Tag, Manager: manager.Name(), Needed: prepared.Needs.Smallest, Plan: prepared.Plan}
	ctx, r.running.cancel = cancel.Endable(ctx)
	r.Settings.Working = &r.running.working
	t.Active.add(r.running)
	r.marked = nvtx.Start(func() string { return "query " + options.Tag })
	return r, memory.Retrying(ctx)
}

// End counts the run as ended, and reports that it got no memory. A caller that stops before the end
// has no error.
func (r *Run) End(err error) {
	if exec.IsShort(err) {
		asked, short := uint64(0), new(memory.BudgetError)
		if errors.As(err, &short) {
			asked = short.Asked
		}
		r.Settings.Manager.ReportFailure(asked, r.Settings.Tag, err)
	}
	r.marked.End()
	if r.hasStream {
		r.tenancy.Devices.GiveStream(&r.Settings)
	}
	r.counts.end(err)
	r.tenancy.Active.end(r.running, err)
}

// IsOpen reports whether the reader of the result is open.
func (r *Run) IsOpen() bool { return r.reader != nil }

// Attempt opens the reader of the result and calls f with it, while the query has its turn. After
// an error it attempts the query again, as long as adapt changes how it runs and its sources can be read
// again. After an error the reader is closed.
func (r *Run) Attempt(ctx context.Context, f func(buffer.Reader) error) error {
	short, err := r.openAndRead(ctx, f)
	for r.adapt(short, err) {
		if r.Settings.Profile != nil {
			r.Settings.Profile.Restart()
		}
		next, failure := r.openAndRead(ctx, f)
		if errors.Is(failure, source.ErrUsed) {
			break
		}
		short, err = next, failure
	}
	return r.tenancy.Devices.ExplainSpilling(err)
}

// Continue calls f with the open reader, while the query has another turn.
func (r *Run) Continue(ctx context.Context, f func(buffer.Reader) error) error {
	turn, err := r.admit(ctx)
	if err != nil {
		return err
	}
	defer turn.Leave()
	defer r.tenancy.Devices.First().Streams.Enter(ctx)()
	return r.tenancy.Devices.ExplainSpilling(r.read(f))
}

// Close closes the reader. Further calls do nothing.
func (r *Run) Close() error {
	if r.reader == nil {
		return nil
	}
	reader := r.reader
	r.reader = nil
	return reader.Close()
}

// adapt changes how the query runs so that another attempt may avoid an error, and reports whether it
// did. short is the level at which the query may succeed alone, or nil. The query runs
//   - without sums in fixed point, if they are inexact: then all its sources are in memory;
//   - without rows of caches, if memory is short: those are released, and the query keeps none;
//   - without other queries that use the memory: it waits until they have ended.
func (r *Run) adapt(short *admission.Level, err error) bool {
	if errors.Is(err, group.ErrInexact) && r.Settings.FixedPointSums {
		r.Settings.FixedPointSums = false
		r.Prepared.FixedPointSums.Store(false)
		return true
	}
	if exec.IsShort(err) && !r.Settings.KeepNothing {
		r.Settings.KeepNothing = true
		if r.tenancy.evict() {
			return true
		}
	}
	if short == nil || r.noWait {
		return false
	}
	r.alone = short
	return true
}

// openAndRead opens the reader and calls f with it. After an error it returns the level at which
// the query may succeed alone, or nil. A query alone at the topmost level has not shared any.
func (r *Run) openAndRead(ctx context.Context, f func(buffer.Reader) error) (short *admission.Level, err error) {
	turn, err := r.admit(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	defer r.tenancy.Devices.First().Streams.Enter(ctx)()
	if !r.hasStream { // after the wait, so that queries that work have different ones
		r.tenancy.Devices.TakeStream(&r.Settings)
		r.hasStream = true
	}
	r.Settings.Progress = exec.NewProgress(r.Prepared.Plan, r.reportProgress)
	if r.reader, err = exec.Open(ctx, r.Prepared.Plan, r.Settings); err == nil {
		err = r.read(f)
	}
	if err == nil || err == io.EOF {
		return nil, err
	}
	for t := r.tenancy.lacking(err); t != nil && short == nil; t = t.parent {
		if turn.Shared(t.level) {
			short = t.level
		}
	}
	return short, errors.Join(err, r.Close())
}

// read calls f with the reader, and closes the reader at its end.
func (r *Run) read(f func(buffer.Reader) error) error {
	r.Settings.Turns.Resume()
	err := f(r.reader)
	r.Settings.Turns.Hold()
	if err == io.EOF {
		if closing := r.Close(); closing != nil {
			return closing
		}
	}
	return err
}

// admit waits for a turn.
func (r *Run) admit(ctx context.Context) (*admission.Turn, error) {
	waited := false
	turn, err := r.tenancy.level.Enter(ctx, admission.Request{
		Bytes: r.Prepared.Needs.Smallest, Expected: r.expected, Stalled: stalled, Alone: r.alone, NoWait: r.noWait,
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
	case errors.Is(err, admission.ErrBusy):
		return nil, fmt.Errorf("query %q with NoWait: %w: %w", r.Settings.Tag, err, memory.ErrBudget)
	case err != nil:
		return nil, fmt.Errorf("query %q: %w", r.Settings.Tag, err)
	}
	return turn, nil
}

// reportProgress receives the rows that the sources have read.
func (r *Run) reportProgress(rows, total int64) {
	r.running.rows.Store(rows)
	r.running.total.Store(total)
	if r.progress != nil {
		r.progress(rows, total)
	}
}
