package dictionary

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Options configure the functions of this package. The zero value is right for most
// programs.
type Options struct {
	kernels.Options
	// Rows is the number of rows of the column that count, as one int64 in device
	// memory, for columns of tables whose row count only the device knows
	// (buffer.Buffer.DeviceRows). Where it is empty all count.
	Rows memory.Slice[int64]
}

func choose(options []Options) Options {
	if len(options) == 0 {
		return Options{}
	}
	return options[0]
}

// ErrTooLong is wrapped by errors about columns of more than 2³¹−1 rows, the most
// that codes of 32 bits can number.
var ErrTooLong = errors.New("too many rows")

func failed(operation string, err error) error {
	return fmt.Errorf("dictionary: %s: %w", operation, err)
}
