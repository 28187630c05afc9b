package join

import (
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
)

// ErrTooManyRows is wrapped by errors about results and tables with too many rows.
var ErrTooManyRows = errors.New("too many rows")

// TooManyRowsError is a result with more rows than its options, or [MaxPairs], allow.
// errors.Is matches [ErrTooManyRows].
type TooManyRowsError struct {
	// Rows is the number of rows of the result, Limit the most that are allowed.
	Rows, Limit int64
}

// Error has both numbers and the remedy.
func (e *TooManyRowsError) Error() string {
	return fmt.Sprintf("the result has %d rows, at most %d are allowed: use Batches, or join fewer rows: %v", e.Rows, e.Limit, ErrTooManyRows)
}

// Unwrap returns [ErrTooManyRows].
func (e *TooManyRowsError) Unwrap() error { return ErrTooManyRows }

// KeyError is a pair of keys that cannot be used.
type KeyError struct {
	// Number is the number of the pair, counted from 0.
	Number int
	On     On
	Err    error
}

// Error names the pair.
func (e *KeyError) Error() string { return fmt.Sprintf("key %d, %v: %v", e.Number, e.On, e.Err) }

// Unwrap returns Err.
func (e *KeyError) Unwrap() error { return e.Err }

// errNoEstimate is the error of estimates that need the data.
var errNoEstimate = fmt.Errorf("the memory depends on the data, so it is not known before the operator runs: %w", device.ErrNotSupported)

// errConditionWithoutBound is the error of estimates of joins with a condition.
var errConditionWithoutBound = fmt.Errorf("an estimate of a join with a condition has no bound, because all pairs of equal keys are tested: filter the result instead: %w", device.ErrNotSupported)

// maxSide is the most rows that a table can have. The largest uint32 stands for no row.
const maxSide = math.MaxUint32 - 1

// checkSide refuses tables that are too long.
func checkSide(side string, rows int64) error {
	if rows > maxSide {
		return fmt.Errorf("the %s table has %d rows, at most %d can be joined: join it in parts: %w", side, rows, int64(maxSide), ErrTooManyRows)
	}
	return nil
}
