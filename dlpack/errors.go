package dlpack

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// These are the conditions to test for with errors.Is, along with those of packages
// device and memory.
var (
	// ErrVersion reports a tensor of a major version of DLPack other than 1.
	ErrVersion = errors.New("unsupported version of DLPack")
	// ErrUnsupported reports a valid tensor or column that has no counterpart on the
	// other side.
	ErrUnsupported = errors.New("not supported")
	// ErrInvalid reports a tensor that contradicts itself or the standard.
	ErrInvalid = errors.New("invalid tensor")
	// ErrDevice reports a tensor that is not on the manager's device.
	ErrDevice = errors.New("wrong device")
	// ErrNulls reports a column with nulls, which DLPack cannot represent.
	ErrNulls = errors.New("the column has nulls: export column.Values() for the values and use dlpack.ExportValidity(column) for the validity bitmap")
	// ErrNoValidity reports a column without a validity bitmap, which therefore has
	// no nulls.
	ErrNoValidity = errors.New("the column has no validity bitmap: all its values are valid")
)

// Error is the error type of this package.
type Error struct {
	// Operation is "export", "export matrix", "export validity", "import", "import
	// matrix", "consumer stream", "producer stream" or "release".
	Operation string
	// Field is the field of the C struct, of the column or of the options that is at
	// fault. It may be empty.
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

// faulty makes an error without an operation. during adds the operation.
func faulty(field, format string, arguments ...any) error {
	return &Error{Field: field, Err: fmt.Errorf(format, arguments...)}
}

// during adds the operation to an error.
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

// also joins the error of a cleanup to an error. Either may be nil.
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
