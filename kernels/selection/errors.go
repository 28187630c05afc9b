package selection

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
)

// ErrBounds is wrapped by errors about an index that is out of bounds.
var ErrBounds = errors.New("index out of bounds")

// IndexError reports an index that is out of bounds. errors.Is matches [ErrBounds].
type IndexError struct {
	// Row is the first row with such an index.
	Row int64
	// Index is the index, formatted as its type.
	Index string
	// Rows is the largest number of rows that the input can have.
	Rows int64
}

// Error returns "row 3 has index 17 of 5 rows: index out of bounds".
func (e *IndexError) Error() string {
	return fmt.Sprintf("row %d has index %s of %d rows: %v", e.Row, e.Index, e.Rows, ErrBounds)
}

// Unwrap returns [ErrBounds].
func (e *IndexError) Unwrap() error { return ErrBounds }

// unsoundError reports a row of strings or lists with offsets that are not in order or
// point outside the data.
func unsoundError(row, begin, end, extent int64) error {
	return fmt.Errorf("row %d of the input has the offsets %d and %d, of %d bytes or elements: %w", row, begin, end, extent, column.ErrInvalid)
}
