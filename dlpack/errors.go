package dlpack

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// The conditions to test for with errors.Is, besides those of packages device
// and memory.
var (
	// ErrVersion: the tensor is of a major version of DLPack other than 1.
	ErrVersion = errors.New("unsupported version of DLPack")
	// ErrUnsupported: the tensor or column is sound, but has no counterpart on
	// the other side.
	ErrUnsupported = errors.New("not supported")
	// ErrInvalid: the tensor contradicts itself or the standard.
	ErrInvalid = errors.New("invalid tensor")
	// ErrDevice: the tensor is not on the manager's device.
	ErrDevice = errors.New("wrong device")
	// ErrNulls: the column has nulls, which DLPack cannot express.
	ErrNulls = errors.New("the column has nulls: export column.Values() for the values and use dlpack.ExportValidity(column) for the validity bitmap")
	// ErrNoValidity: the column has no validity bitmap, for it has no nulls.
	ErrNoValidity = errors.New("the column has no validity bitmap: all its values are valid")
)

// Error is what all functions of this package return.
type Error struct {
	// Operation is "export", "export matrix", "export validity", "import", "import
	// matrix", "consumer stream", "producer stream" or "release".
	Operation string
	// Field is the field of the C struct, or the part of the column or of the
	// options, that is at fault. It may be empty.
	Field string
	// Err is the reason.
	Err error
}

// Error returns "dlpack: operation: field: reason".
func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("dlpack: %s: %v", e.Operation, e.Err)
	}
	return fmt.Sprintf("dlpack: %s: %s: %v", e.Operation, e.Field, e.Err)
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
