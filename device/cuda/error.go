package cuda

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Error is a failed operation of the driver, or one that was refused because
// the driver would have misbehaved. errors.Is matches it with its Code and with
// the sentinel of package backend that the failure amounts to.
type Error struct {
	// Operation is the driver's function and what tells the call apart, as
	// "cuMemAlloc(1.0 GiB)".
	Operation string
	Code      Code

	// detail says what to do, or which argument is wrong.
	detail string
	// sentinel stands in for the Code's own where the operation gives it
	// another meaning.
	sentinel error
}

// Error returns "cuda: operation: CUDA_ERROR_NAME (number): description".
func (e *Error) Error() string {
	text := fmt.Sprintf("cuda: %s: %v", e.Operation, e.Code)
	if e.detail != "" {
		text += ": " + e.detail
	}
	return text
}

// Is reports whether target is the error's Code, or the sentinel of package
// backend that it amounts to.
func (e *Error) Is(target error) bool {
	if code, ok := target.(Code); ok {
		return code == e.Code
	}
	if e.sentinel != nil {
		return target == e.sentinel
	}
	return e.Code.Is(target)
}

// CompileError is device code that could not be compiled or loaded. It matches
// whatever its Cause matches.
type CompileError struct {
	Cause *Error
	// Log is what the driver's compiler said; it may be empty.
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

// refuse is the error for an argument that never reached the driver.
func refuse(operation, format string, arguments ...any) error {
	return &Error{Operation: operation, Code: CodeInvalidValue, detail: fmt.Sprintf(format, arguments...)}
}

func unavailable(format string, arguments ...any) error {
	return fmt.Errorf("cuda: "+format+": %w", append(arguments, backend.ErrNotAvailable)...)
}
