package sink

import (
	"errors"
	"fmt"
	"io/fs"
)

// Conditions to test for with errors.Is.
var (
	// ErrUnsupported reports a type or value that a format cannot hold.
	ErrUnsupported = errors.New("the format cannot hold it")
	// ErrArgument reports an option that a format does not accept.
	ErrArgument = errors.New("invalid argument")
)

// Error is an error of a write.
type Error struct {
	// Format is the name of the format.
	Format string
	// Path is the path of the file, or empty.
	Path string
	Err  error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("sink: %s: %v", e.Format, e.Err)
	}
	return fmt.Sprintf("sink: %s %s: %v", e.Format, e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// plainPath removes the path from an error of a file system: the error of the sink has
// the path that the caller gave, not the temporary one.
func plainPath(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return fmt.Errorf("%s: %w", failed.Op, failed.Err)
	}
	return err
}
