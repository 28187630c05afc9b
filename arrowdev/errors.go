package arrowdev

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// The conditions to test for with errors.Is, besides those of packages device
// and memory.
var (
	// ErrInvalid: the struct contradicts itself or the standard.
	ErrInvalid = errors.New("invalid struct")
	// ErrUnsupported: the struct is sound, but has no counterpart here.
	ErrUnsupported = errors.New("not supported")
	// ErrDevice: the array is not on the manager's device.
	ErrDevice = errors.New("wrong device")
	// ErrMoved: the struct was released, or moved elsewhere, before.
	ErrMoved = errors.New("the struct was released or moved elsewhere before")
)

// Error is what the functions of this package return. It says which field of
// which structure was refused in which operation.
type Error struct {
	// Operation is what was called: "export", "import", "import schema" and the
	// like.
	Operation string
	// Field is the field of the C structure, "ArrowDeviceArray.device_type" for
	// example; it is empty where the error is about no single one.
	Field string
	// Err is the reason.
	Err error
}

// Error returns "arrowdev: operation: field: reason".
func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("arrowdev: %s: %v", e.Operation, e.Err)
	}
	return fmt.Sprintf("arrowdev: %s: %s: %v", e.Operation, e.Field, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// faulty makes an error that does not know its operation yet.
func faulty(field, format string, arguments ...any) error {
	return &Error{Field: field, Err: fmt.Errorf(format, arguments...)}
}

// during names the operation in which an error came up.
func during(operation string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := err.(*Error); ok {
		known.Operation = operation
		return known
	}
	return &Error{Operation: operation, Err: err}
}

// also adds the failure of a cleanup to an error, either of which may be nil.
func also(err, cleanup error) error {
	switch known, ok := err.(*Error); {
	case cleanup == nil:
		return err
	case ok:
		known.Err = errors.Join(known.Err, cleanup)
		return known
	}
	return errors.Join(err, cleanup)
}

func notInThisBuild() error {
	return faulty("", "built without cgo, or for a 32-bit platform: build with CGO_ENABLED=1 and a C compiler: %w", device.ErrNotAvailable)
}
