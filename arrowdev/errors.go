package arrowdev

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/fielderror"
)

// These are the conditions to test for with errors.Is, along with those of packages
// device and memory.
var (
	// ErrInvalid reports a struct that contradicts itself or the standard.
	ErrInvalid = errors.New("invalid struct")
	// ErrUnsupported reports a valid struct that has no counterpart in gpuframe.
	ErrUnsupported = errors.New("not supported")
	// ErrDevice reports an array that is not on the manager's device.
	ErrDevice = errors.New("wrong device")
	// ErrMoved reports a struct that was released or moved before.
	ErrMoved = errors.New("the struct was released or moved elsewhere before")
)

// Error is the error type of this package. It names the operation and the field of
// the C structure at fault.
type Error struct {
	// Operation is the operation that failed: "export", "import", "import schema" and
	// so on.
	Operation string
	// Field is the field of the C structure, for example
	// "ArrowDeviceArray.device_type". It is empty if the error is not about one
	// field.
	Field string
	// Err is the reason.
	Err error
}

// Error returns "arrowdev: operation: field: reason".
func (e *Error) Error() string { return fielderror.Fields(*e).Text("arrowdev") }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// faulty makes an error without an operation. during adds the operation.
func faulty(field, format string, arguments ...any) error {
	return fielderror.New[Error](field, format, arguments...)
}

func during(operation string, err error) error { return fielderror.During[Error](operation, err) }

// also joins the error of a cleanup to an error. Either may be nil.
func also(err, cleanup error) error { return fielderror.Also[Error](err, cleanup) }

func notInThisBuild() error {
	return faulty("", "built without cgo, or for a 32-bit platform: build with CGO_ENABLED=1 and a C compiler: %w", device.ErrNotAvailable)
}
