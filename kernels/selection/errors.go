package selection

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
)

// ErrBounds is wrapped by the error of an index that is out of bounds.
var ErrBounds = errors.New("index out of bounds")

// IndexError says which index is out of bounds. errors.Is matches [ErrBounds].
type IndexError struct {
	// Row is the first row of the indices that is wrong.
	Row int64
	// Index is what stands there, as its type is written.
	Index string
	// Rows is how many rows there were to take from at most.
	Rows int64
}

// Error returns "row 3 has index 17 of 5 rows: index out of bounds".
func (e *IndexError) Error() string {
	return fmt.Sprintf("row %d has index %s of %d rows: %v", e.Row, e.Index, e.Rows, ErrBounds)
}

// Unwrap returns [ErrBounds].
func (e *IndexError) Unwrap() error { return ErrBounds }

// unsoundError says that the offsets of a row of strings or lists are not in order or
// point outside the data.
func unsoundError(row, begin, end, extent int64) error {
	return fmt.Errorf("row %d of the input has the offsets %d and %d, of %d bytes or elements: %w", row, begin, end, extent, column.ErrInvalid)
}
