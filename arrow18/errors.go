package arrow18

import (
	"errors"
	"fmt"
)

// Conditions to test for with errors.Is.
var (
	// ErrType reports a type that one of the versions of arrow-go does not support.
	ErrType = errors.New("the type is not supported by both versions of arrow-go: cast it first")
	// ErrContents reports arrays that do not fit their types.
	ErrContents = errors.New("the contents do not fit the type")
	// ErrArgument reports a nil record, reader or frame.
	ErrArgument = errors.New("invalid argument")
)

// Error is an error of a conversion.
type Error struct {
	// Operation is import, which leads to v17, or export.
	Operation string
	// Column is the name of the column at fault, or empty.
	Column string
	Err    error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("arrow18: %s: %v", e.Operation, e.Err)
	}
	return fmt.Sprintf("arrow18: %s: column %q: %v", e.Operation, e.Column, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// recovered turns a panic of arrow-go about contents or types into an error.
func recovered(err *error, condition error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf("arrow-go failed: %v: %w", reason, condition)
	}
}
