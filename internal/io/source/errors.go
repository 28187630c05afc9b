package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
	"github.com/gpuframe/gpuframe/internal/base/names"
)

// Conditions to test for with errors.Is, along with those of package buffer, such as
// buffer.ErrSchema for columns that do not exist and files of different schemas, and of
// io/fs, such as fs.ErrNotExist.
var (
	// ErrContents reports a file that is damaged or not of its format.
	ErrContents = arrowipc.ErrContents
	// ErrUnsupported reports contents that gpuframe cannot read.
	ErrUnsupported = errors.New("the contents are not supported")
	// ErrRead reports that an io.Reader or io.ReaderAt failed.
	ErrRead = errors.New("reading failed")
	// ErrUsed reports a source that can be read once and was opened again.
	ErrUsed = errors.New("the source can be read only once")
	// ErrArgument reports an option or argument that a constructor does not accept.
	ErrArgument = errors.New("invalid argument")
)

// Error is an error of a source.
type Error struct {
	// Source is the description of the source, as in plans.
	Source string
	// Path is the file at fault, or empty.
	Path string
	// RowGroup is the row group of the file at fault, or -1.
	RowGroup int
	Err      error
}

// Error implements error.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "source: %s: ", e.Source)
	if e.Path != "" && !strings.HasSuffix(e.Source, " "+e.Path) { // a source of one file names it
		fmt.Fprintf(&text, "%s: ", e.Path)
	}
	if e.RowGroup >= 0 {
		fmt.Fprintf(&text, "row group %d: ", e.RowGroup)
	}
	return text.String() + e.Err.Error()
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// wrap returns err as an [*Error] of the source. An error that is one already, and nil,
// stay as they are.
func wrap(s Source, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Error{Source: s.String(), RowGroup: -1, Err: err}
}

// unknownColumn is the error for a column that a schema does not have.
func unknownColumn(name string, candidates []string, condition error) error {
	return &ColumnError{name, candidates, condition}
}

// ColumnError reports the name of a column that does not exist.
type ColumnError struct {
	Name string
	// Columns are the names that exist.
	Columns []string
	err     error
}

// Error implements error.
func (e *ColumnError) Error() string {
	return fmt.Sprintf("%s: %v", names.Unknown("column", e.Name, e.Columns), e.err)
}

// Unwrap returns the condition, such as buffer.ErrSchema.
func (e *ColumnError) Unwrap() error { return e.err }
