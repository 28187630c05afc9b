package gpuframe

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/memory"
)

// Conditions of sources, to test for with errors.Is. Files that do not exist are
// fs.ErrNotExist, files of different schemas buffer.ErrSchema.
var (
	// ErrContents reports a file that is damaged or not of its format.
	ErrContents = source.ErrContents
	// ErrUnsupported reports contents that gpuframe cannot read.
	ErrUnsupported = source.ErrUnsupported
	// ErrRead reports that the io.ReaderAt of a source failed.
	ErrRead = source.ErrRead
	// ErrUsed reports the reader of [Engine.Reader] in a second query.
	ErrUsed = source.ErrUsed
)

// SourceError is an error of a source: a file that is missing, damaged, or of another schema
// than the first one. It names the source, the file and the row group.
type SourceError = source.Error

// QueryError lists all that is wrong with a query. Nothing was run.
type QueryError struct{ Problems []Problem }

// Problem is one thing that is wrong with a query.
type Problem struct {
	// Verb is the method, File and Line the place of its call.
	Verb string
	File string
	Line int
	Err  error
}

// Error lists the problems, one on each line if there are several.
func (e *QueryError) Error() string {
	if len(e.Problems) == 1 {
		return "gpuframe: " + e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "gpuframe: %d problems:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n\t" + p.String())
	}
	return b.String()
}

// Unwrap returns the errors of the problems.
func (e *QueryError) Unwrap() []error {
	list := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		list[i] = p.Err
	}
	return list
}

// String formats the problem: "Filter (report.go:12): …".
func (p Problem) String() string {
	if p.File == "" {
		return fmt.Sprintf("%s: %v", p.Verb, p.Err)
	}
	return fmt.Sprintf("%s (%s:%d): %v", p.Verb, filepath.Base(p.File), p.Line, p.Err)
}

// Place is a place in a program that a [Problem] of a query names.
type Place struct {
	// Verb is the name of the method, in the language of the program.
	Verb string
	File string
	Line int
}

// At returns the query with another place for problems of its last verb. Without it they
// name the Go code that called the verb. Programs that make queries for others, from
// documents or another language, name the code of those.
func (q Query) At(place Place) Query {
	if q.step == nil {
		return q
	}
	return Query{q.engine, q.step.At(bind.Place(place))}
}

// queryError makes the error of a query.
func queryError(err error) error {
	var problems bind.Problems
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.As(err, &problems):
		list := make([]Problem, len(problems))
		for i, p := range problems {
			list[i] = Problem{Verb: p.Verb, File: p.File, Line: p.Line, Err: p.Err}
		}
		return &QueryError{list}
	}
	return fmt.Errorf("gpuframe: %w", plan.ReadableError(err))
}

// NeedsError refuses a query before it reads anything: its engine's budget is too small for
// it even if its rows are divided, or for the result of Collect. It wraps memory.ErrBudget.
type NeedsError struct {
	// Tag is the tag of the query.
	Tag string
	// Needed is the smallest budget that the query is expected to run with, Budget that of
	// the engine, in bytes. With several devices both are those of each.
	Needed, Budget uint64
	// Rows is the number of rows of a result that needs more than the budget as one frame, or zero if
	// the query needs more in parts too.
	Rows int64
}

// Error names both budgets.
func (e *NeedsError) Error() string {
	if e.Rows > 0 {
		return fmt.Sprintf("gpuframe: the result of query %q has %s rows, which need %s of device memory at least as one frame, and the budget is %s: read it in parts with Batches, or raise the budget",
			e.Tag, humanize.Comma(e.Rows), humanize.IBytes(e.Needed), humanize.IBytes(e.Budget))
	}
	return fmt.Sprintf("gpuframe: query %q needs %s of device memory at least, and the budget is %s: open the engine with a larger Budget, or read fewer columns",
		e.Tag, humanize.IBytes(e.Needed), humanize.IBytes(e.Budget))
}

// Unwrap returns memory.ErrBudget.
func (e *NeedsError) Unwrap() error { return memory.ErrBudget }

// A PatternError is a regular expression that does not compile, with the position in it.
// [Query.Explain] and Collect return it.
type PatternError = text.PatternError
