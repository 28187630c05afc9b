package host

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Error tells which operation of the host device failed and why.
type Error struct {
	// Operation is the method of [backend.Device], "FreeAsync" for example.
	Operation string
	// Detail names the argument at fault and what was expected of it.
	Detail string
	// Err is the condition, one of the errors of package backend.
	Err error
}

// Error formats e as "host: operation: detail: condition".
func (e *Error) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("host: %s: %v", e.Operation, e.Err)
	}
	return fmt.Sprintf("host: %s: %s: %v", e.Operation, e.Detail, e.Err)
}

// Unwrap returns the condition.
func (e *Error) Unwrap() error { return e.Err }

func failure(operation string, condition error, format string, arguments ...any) error {
	return &Error{Operation: operation, Detail: fmt.Sprintf(format, arguments...), Err: condition}
}

func invalid(operation, format string, arguments ...any) error {
	return failure(operation, backend.ErrInvalidValue, format, arguments...)
}
