package dictionary

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/kernels"
)

// Options configure the functions of this package. The zero value is right for most
// programs. At most one is given: more are an error that wraps device.ErrInvalidValue.
type Options = kernels.Options

// ErrTooLong is wrapped by errors about columns of more than 2³¹−1 rows, the most
// that codes of 32 bits can number.
var ErrTooLong = errors.New("too many rows")

func failed(operation string, err error) error {
	return fmt.Errorf("dictionary: %s: %w", operation, err)
}
