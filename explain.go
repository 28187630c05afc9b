package gpuframe

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Explain returns the plan of the query as text, as written and as run, with the needs that are
// expected. It reads the schemas of the sources and the footers of Parquet files and nothing
// more. A scan of Parquet files with conditions shows how many row groups and files their
// statistics leave out; the run may leave out more by dictionaries and Bloom filters.
func (q Query) Explain(ctx context.Context) (string, error) {
	n, err := q.step.Bind(ctx)
	if err != nil {
		return "", queryError(err)
	}
	devices := q.engine.tenancy.Devices
	optimized, err := devices.Optimize(ctx, n)
	if err != nil {
		return "", queryError(err)
	}
	return fmt.Sprintf("as written:\n%s\nas run on %v:\n%s\n%v\n", indented(plan.Explain(n)), devices,
		indented(plan.ExplainScans(ctx, optimized)), needsOf(exec.NeedsOf(optimized))), nil
}

// Diagram returns the plan of the query, as run, as a flowchart of Mermaid, which notebooks, GitHub and mermaid.live
// draw: a box for each operation with the rows that are expected, and arrows to those that read them. It reads what
// Explain reads.
func (q Query) Diagram(ctx context.Context) (string, error) { return q.pictured(ctx, plan.Diagram) }

// DiagramSVG is [Query.Diagram] as a picture in SVG, which needs no other program: the result is at the top, its sources
// are below it.
func (q Query) DiagramSVG(ctx context.Context) (string, error) { return q.pictured(ctx, plan.SVG) }

// pictured returns the plan as run in a format.
func (q Query) pictured(ctx context.Context, format func(context.Context, plan.Node) string) (string, error) {
	n, err := q.step.Bind(ctx)
	if err != nil {
		return "", queryError(err)
	}
	optimized, err := q.engine.tenancy.Devices.Optimize(ctx, n)
	if err != nil {
		return "", queryError(err)
	}
	return format(ctx, optimized), nil
}

// Needs are the expected needs of a query: see [Query.Needs].
type Needs struct {
	// Rows is the number of rows of the result, or negative if nothing is known of it.
	// Exact is set if it is not an estimate.
	Rows  int64
	Exact bool
	// Bytes is the device memory of the result, or zero if nothing is known of it. Strings
	// and lists count as 24 bytes.
	Bytes uint64
	// Smallest is the smallest budget that the query runs with, in bytes: each operation then
	// works on a few hundred rows at a time. A query with a smaller budget is refused with a
	// [*NeedsError]. Collect also needs room for the result. With several devices each of them
	// needs as much.
	Smallest uint64
}

// Needs returns the expected needs of the query. It reads the schemas of the sources and
// nothing more.
//
// Smallest does not count sizes that only the rows show: strings that are much longer than 24
// bytes, rows of a join with very many matches, and of a window or a Distinct, if their input is
// of unknown size. A query that needs more than the budget for them fails while it runs.
func (q Query) Needs(ctx context.Context) (Needs, error) {
	prepared, err := q.step.Prepare(ctx, nil)
	if err != nil {
		return Needs{}, queryError(err)
	}
	return needsOf(prepared.Needs), nil
}

func needsOf(n exec.Needs) Needs {
	return Needs{Rows: n.Result.Rows, Exact: n.Result.Exact, Bytes: uint64(n.Result.Bytes()), Smallest: n.Smallest}
}

// String formats the needs on one line.
func (n Needs) String() string {
	text := "result of unknown size"
	if n.Rows >= 0 {
		about := "about "
		if n.Exact {
			about = ""
		}
		text = fmt.Sprintf("result of %s%s rows, %s", about, humanize.Comma(n.Rows), humanize.IBytes(n.Bytes))
	}
	return fmt.Sprintf("%s; smallest budget %s", text, humanize.IBytes(n.Smallest))
}

// Schema returns the names and types of the query's columns. It reads the schemas of the
// sources and nothing more.
//
// # Errors
//
// The error is a [*QueryError], which lists all that is wrong with the query.
func (q Query) Schema(ctx context.Context) (*arrow.Schema, error) {
	n, err := q.step.Bind(ctx)
	if err != nil {
		return nil, queryError(err)
	}
	return n.Schema(), nil
}
