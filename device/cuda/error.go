package cuda

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// Error is a failed operation of the driver, or one that was refused because the driver
// would have misbehaved. errors.Is matches it with its Code and with the sentinel of
// package backend for the failure.
type Error struct {
	// Operation is the driver's function with the arguments that identify the call,
	// such as "cuMemAlloc(1.0 GiB)".
	Operation string
	Code      Code

	// Detail is the remedy, or names the invalid argument. It may be empty.
	Detail string

	// sentinel replaces that of the Code if the code has another meaning for this
	// operation.
	sentinel error
}

// Error returns "cuda: operation: CUDA_ERROR_NAME (number): description".
func (e *Error) Error() string {
	text := fmt.Sprintf("cuda: %s: %v", e.Operation, e.Code)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Is reports whether target is the error's Code, or its sentinel of package backend.
func (e *Error) Is(target error) bool {
	if code, ok := target.(Code); ok {
		return code == e.Code
	}
	if e.sentinel != nil {
		return target == e.sentinel
	}
	return e.Code.Is(target)
}

// CompileError is device code that could not be compiled or loaded. It matches the
// errors that its Cause matches.
type CompileError struct {
	Cause *Error
	// Log is the log of the driver's compiler; it may be empty.
	Log string
}

// Error returns the cause and then the compiler's log.
func (e *CompileError) Error() string {
	if e.Log == "" {
		return e.Cause.Error()
	}
	return e.Cause.Error() + "\n" + e.Log
}

// Unwrap returns the cause.
func (e *CompileError) Unwrap() error { return e.Cause }

// name is the backend's name in errors.
const name = "cuda"

func unavailable(format string, arguments ...any) error {
	return drivercall.Unavailable(name, format, arguments...)
}
