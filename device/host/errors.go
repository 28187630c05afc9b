package host

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Error describes a failed operation of the host device.
type Error struct {
	// Operation is the method of [backend.Device], such as "FreeAsync".
	Operation string
	// Detail names the invalid argument and the expected value.
	Detail string
	// Err is one of the errors of package backend.
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
