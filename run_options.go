package gpuframe

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/pace"
	"github.com/gpuframe/gpuframe/internal/driver/admission"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/query/runs"
)

// RunOption configures [Query.Collect], [Query.Batches] and [Rows]. Each may be given once.
type RunOption struct {
	name  string
	apply func(*runSettings)
}

type runSettings struct {
	tag       string
	batchRows int64
	profile   *Profile
	noWait    bool
	progress  func(rows, total int64)
	without   []string
}

// Tag names the query and its memory in the statistics of the engine and of its manager.
// Without this option the tag is the last verb with the place of its call: "Sort (report.go:14)".
func Tag(name string) RunOption {
	return RunOption{"Tag", func(s *runSettings) { s.tag = name }}
}

// BatchRows sets the approximate number of rows that are read from a source at a time.
func BatchRows(rows int64) RunOption {
	return RunOption{"BatchRows", func(s *runSettings) { s.batchRows = rows }}
}

// Profiled records what each operation of the query does. A query with a profile waits for
// the device after each operation, so it takes longer than one without. A profile is used
// for one run.
func Profiled(to *Profile) RunOption {
	return RunOption{"Profiled", func(s *runSettings) { s.profile = to }}
}

// NoWait makes a query fail with [ErrBusy] where it would wait for other queries. Without
// this option, a query waits while those that run need the memory together, and if it
// fails for lack of memory that others used, it begins again when they have ended and runs
// alone. Queries are admitted in the order in which they came.
//
// A query does not wait for memory that callers hold, in frames for example.
func NoWait() RunOption {
	return RunOption{"NoWait", func(s *runSettings) { s.noWait = true }}
}

// Progress calls report after each table that the query has read from its sources, with
// the rows that it has read from all of them so far, and the rows that they have, or -1 if
// that is not known. Sources skip rows that the query does not need, so a query may end
// before it has read all. The calls follow each other, on the goroutines that run the
// query. A query that begins again, see [NoWait], counts from zero again.
func Progress(report func(rows, total int64)) RunOption {
	return RunOption{"Progress", func(s *runSettings) { s.progress = report }}
}

// Pace is the progress of a query with its rate and the time that is left.
type Pace = pace.Pace

// Paced is [Progress] with the rate of the query and the time that is left. Only one of them can be given.
//
//	query.Collect(ctx, gpuframe.Paced(func(p gpuframe.Pace) { log.Print(p) }))
func Paced(report func(Pace)) RunOption {
	return RunOption{"Progress", func(s *runSettings) {
		begun := time.Now()
		s.progress = func(rows, total int64) { report(pace.Of(rows, total, time.Since(begun))) }
	}}
}

// WithoutPasses runs the query without some passes of the optimizer, to find out what they
// are worth for it, or which of them makes a plan slow. [Passes] returns their names. The
// result has the same rows.
func WithoutPasses(names ...string) RunOption {
	return RunOption{"WithoutPasses", func(s *runSettings) { s.without = names }}
}

// Passes returns the names of the passes of the optimizer in the order in which they are
// applied.
func Passes() []string { return plan.Passes() }

// ErrBusy is wrapped by the error of a query with [NoWait] that would have to wait for
// other queries. The error wraps memory.ErrBudget too.
var ErrBusy = admission.ErrBusy

func settingsOfRun(options []RunOption) (s runSettings, err error) {
	for i, o := range options {
		if o.apply == nil {
			return s, fmt.Errorf("gpuframe: option %d is the zero RunOption: %w", i, device.ErrInvalidValue)
		}
		for _, before := range options[:i] {
			if before.name == o.name {
				return s, fmt.Errorf("gpuframe: option %s is given twice: %w", o.name, device.ErrInvalidValue)
			}
		}
		o.apply(&s)
	}
	if s.batchRows < 0 {
		return s, fmt.Errorf("gpuframe: BatchRows is %d, expected one or more: %w", s.batchRows, device.ErrInvalidValue)
	}
	return s, nil
}

// start begins a run of the query. It checks that the budget can suffice, also for the whole result if that
// becomes one frame. The query runs with the context that it returns.
func (q Query) start(ctx context.Context, options []RunOption, whole bool) (*runs.Run, context.Context, error) {
	chosen, err := settingsOfRun(options)
	if err != nil {
		return nil, nil, err
	}
	prepared, err := q.step.Prepare(ctx, chosen.without)
	if err != nil {
		return nil, nil, queryError(err)
	}
	tag, budget := cmp.Or(chosen.tag, prepared.Tag), q.engine.Manager().Budget()
	if prepared.Needs.Smallest > budget {
		return nil, nil, &NeedsError{Tag: tag, Needed: prepared.Needs.Smallest, Budget: budget}
	}
	if needed := uint64(plan.LeastBytes(prepared.Plan)); whole && needed > budget {
		return nil, nil, &NeedsError{Tag: tag, Needed: needed, Budget: budget, Rows: prepared.Needs.Result.Rows}
	}
	profile, err := chosen.profile.start(prepared.Plan)
	if err != nil {
		return nil, nil, err
	}
	r, ctx := q.engine.tenancy.Start(ctx, prepared, runs.Options{
		Tag: tag, BatchRows: chosen.batchRows, Profile: profile, NoWait: chosen.noWait, Whole: whole, Progress: chosen.progress,
	})
	return r, ctx, nil
}
