package gpuframe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/exec"
	"github.com/gpuframe/gpuframe/internal/plan"
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
	progress  func(rows, of int64)
	without   []string
}

// Tag names the memory of a query in the statistics of the engine's manager.
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

// Progress calls report after each table that the query has read from its sources, with
// the rows that it has read from all of them so far, and the rows that they have, or -1 if
// that is not known. Sources skip rows that the query does not need, so a query may end
// before it has read all. The calls follow each other, on the goroutines that run the
// query.
func Progress(report func(rows, of int64)) RunOption {
	return RunOption{"Progress", func(s *runSettings) { s.progress = report }}
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

func settingsOfRun(options []RunOption) (s runSettings, err error) {
	given := map[string]bool{}
	for i, o := range options {
		switch {
		case o.apply == nil:
			return s, fmt.Errorf("gpuframe: option %d is the zero RunOption: %w", i, device.ErrInvalidValue)
		case given[o.name]:
			return s, fmt.Errorf("gpuframe: option %s is given twice: %w", o.name, device.ErrInvalidValue)
		}
		given[o.name] = true
		o.apply(&s)
	}
	if s.batchRows < 0 {
		return s, fmt.Errorf("gpuframe: BatchRows is %d, expected one or more: %w", s.batchRows, device.ErrInvalidValue)
	}
	return s, nil
}

// start binds a query and opens the readers of its plan.
func (q Query) start(ctx context.Context, options []RunOption) (*running, error) {
	chosen, err := settingsOfRun(options)
	if err != nil {
		return nil, err
	}
	n, err := q.prepare(ctx, chosen.without)
	if err != nil {
		return nil, err
	}
	r := &running{query: q, settings: exec.Settings{
		Manager: q.step.engine.manager, Spilling: &q.step.engine.spilling, Tag: chosen.tag, BatchRows: chosen.batchRows,
	}}
	if chosen.progress != nil {
		r.settings.Progress = exec.NewProgress(n, chosen.progress)
	}
	if chosen.profile != nil {
		if err := chosen.profile.start(n, &r.settings); err != nil {
			return nil, err
		}
	}
	reader, err := exec.Open(ctx, n, r.settings)
	if err != nil {
		return nil, failed(err)
	}
	r.reader = reader
	return r, nil
}

// failed makes the error of a query that ran.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("gpuframe: %w", readable{err})
}

// Collect runs the query and returns its whole result.
//
// # Ownership
//
// The caller releases the frame. A query that fails leaves nothing behind.
//
// # Errors
//
// A query that does not fit its sources is a [*QueryError], which lists all that is wrong;
// nothing was run. Other errors name the operation of the plan. They wrap
// memory.ErrBudget if the budget is too small, and the cause of ctx if it ended.
func (q Query) Collect(ctx context.Context, options ...RunOption) (*Frame, error) {
	r, err := q.start(ctx, options)
	if err != nil {
		return nil, err
	}
	table, err := exec.Collect(ctx, r.reader, r.settings)
	if closing := r.reader.Close(); closing != nil {
		err = errors.Join(err, closing)
		if table != nil {
			err = errors.Join(err, table.Release())
		}
	}
	if err != nil {
		return nil, failed(err)
	}
	return newFrame(q.step.engine, table)
}

// Batches runs the query and yields its result in parts, as they come. The caller releases
// each frame. The iteration ends after an error.
func (q Query) Batches(ctx context.Context, options ...RunOption) iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		r, err := q.start(ctx, options)
		if err != nil {
			yield(nil, err)
			return
		}
		stopped := true
		// Also if yield panics, or ends the goroutine.
		defer func() {
			if err := r.reader.Close(); err != nil && !stopped {
				yield(nil, failed(err))
			}
		}()
		for {
			f, err := r.next(ctx)
			if err == io.EOF {
				stopped = false
				return
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// running is a query that runs.
type running struct {
	query    Query
	settings exec.Settings
	reader   buffer.Reader
}

// next returns the next part of the result that has rows, or io.EOF.
func (r *running) next(ctx context.Context) (*Frame, error) {
	for {
		table, err := r.reader.Next(ctx)
		if err != nil {
			if err == io.EOF {
				return nil, err
			}
			return nil, failed(err)
		}
		if table, err = exec.Exact(ctx, table, r.settings); err != nil {
			return nil, failed(err)
		}
		f, err := newFrame(r.query.step.engine, table)
		if err != nil || f.rows > 0 {
			return f, err
		}
		if err := f.Release(); err != nil {
			return nil, err
		}
	}
}

// Schema returns the names and types of the query's columns. It reads the schemas of the
// sources and nothing more.
//
// # Errors
//
// The error is a [*QueryError], which lists all that is wrong with the query.
func (q Query) Schema(ctx context.Context) (*arrow.Schema, error) {
	n, err := bindQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	return n.Schema(), nil
}

// Explain returns the plan of the query as text, as written and as run. It
// reads the schemas of the sources and nothing more.
func (q Query) Explain(ctx context.Context) (string, error) {
	n, err := bindQuery(ctx, q)
	if err != nil {
		return "", err
	}
	optimized, err := plan.Optimize(n)
	if err != nil {
		return "", failed(err)
	}
	e := q.step.engine
	return fmt.Sprintf("as written:\n%s\nas run on %v:\n%s", indented(plan.Explain(n)), e.device.Name(), indented(plan.Explain(optimized))), nil
}
