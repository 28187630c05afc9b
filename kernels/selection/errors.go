package selection

import (
	"errors"
	"fmt"
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
