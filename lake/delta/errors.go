package delta

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// Errors wrap one of these conditions, or [fs.ErrNotExist] if the table has no log, or one of package objectstore.
var (
	// ErrLog means that the log is damaged or incomplete.
	ErrLog = errors.New("the log of the Delta table is damaged")
	// ErrVector means that a deletion vector is damaged.
	ErrVector = errors.New("the deletion vector is damaged")
	// ErrUnsupported means that the table needs something that this package does not read.
	ErrUnsupported = errors.New("the Delta table needs a feature that is not supported")
	// ErrVersion means that the log does not have the version, or none as old as the time.
	ErrVersion = errors.New("the Delta table has no such version")
	// ErrLimit means that a file of the log is larger than this package reads.
	ErrLimit = storage.ErrLimit
)

// Error is an error about a table.
type Error struct {
	// Table is the path of the table, without secrets.
	Table string
	// File is the file of the log, of a deletion vector or of data that it is about, without secrets, or empty.
	File string
	Err  error
}

func (e *Error) Error() string {
	if e.File == "" {
		return fmt.Sprintf("delta: table %s: %v", e.Table, e.Err)
	}
	return fmt.Sprintf("delta: table %s: %s: %v", e.Table, e.File, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// inFile adds a file to an error that has none.
func inFile(file string, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Error{File: file, Err: err}
}

// resolve returns the name of a file that the log names by a URI.
func resolve(root, uri string) (string, error) {
	name, err := storage.Resolve(root, uri)
	if err != nil {
		return "", fmt.Errorf("%w: %w", err, ErrLog)
	}
	return name, nil
}
