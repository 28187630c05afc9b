package dlpack

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/fielderror"
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
func (e *Error) Error() string { return fielderror.Fields(*e).Text("dlpack") }

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
