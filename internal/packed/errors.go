package packed

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

var (
	// ErrDamaged is wrapped by the error of a block that is not as [Packer.Pack] writes it.
	ErrDamaged = errors.New("the block is damaged")
	// ErrLong is wrapped by the error of strings that are too long for one column: unpack fewer blocks at a time.
	ErrLong = errors.New("the strings are too long for one column")
	// ErrType is wrapped by the error of a column of a type that is not packed.
	ErrType = fmt.Errorf("the type is not packed: %w", device.ErrNotSupported)
)

// Error is damage of a block.
type Error struct {
	// Column and Block are the numbers in the arguments.
	Column, Block int
	Err           error
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("column %d, block %d: %v", e.Column, e.Block, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
