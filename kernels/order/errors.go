package order

import (
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
)

// MaxRows is the largest number of rows that can be sorted: row numbers are uint32.
const MaxRows = math.MaxUint32

// ErrTooLong is wrapped by errors about more than [MaxRows] rows.
var ErrTooLong = errors.New("more rows than can be sorted")

// ErrUnsorted is wrapped by errors about input that should be sorted.
var ErrUnsorted = errors.New("the rows are not sorted")

// UnsortedError is a row that sorts before its predecessor. errors.Is matches
// [ErrUnsorted].
type UnsortedError struct {
	// Table is the number of the table in the arguments.
	Table int
	// Row is the first such row.
	Row int64
}

// Error names the row and the remedy.
func (e *UnsortedError) Error() string {
	return fmt.Sprintf("row %d of table %d comes before row %d by these keys: sort the table first, or set Unchecked if their order does not matter: %v",
		e.Row, e.Table, e.Row-1, ErrUnsorted)
}

// Unwrap returns [ErrUnsorted].
func (e *UnsortedError) Unwrap() error { return ErrUnsorted }

// errNoEstimate is the error of estimates of sizes that depend on the data.
var errNoEstimate = fmt.Errorf("the memory depends on the data, so it is not known before the operator runs: %w", device.ErrNotSupported)

// checkRows refuses tables that are too long.
func checkRows(rows int64) error {
	if rows > MaxRows {
		return fmt.Errorf("%d rows, expected at most %d: %w", rows, int64(MaxRows), ErrTooLong)
	}
	return nil
}

// checkCount refuses a negative number of first rows.
func checkCount(k int64) error {
	if k < 0 {
		return fmt.Errorf("the number of rows is %d, expected zero or more: %w", k, device.ErrInvalidValue)
	}
	return nil
}
