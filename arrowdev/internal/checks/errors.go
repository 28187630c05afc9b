package checks

import (
	"errors"
	"fmt"
)

// ErrOutOfRange: an element would lead whoever follows it out of bounds. The error
// is an [*ElementError].
var ErrOutOfRange = errors.New("contents out of range")

// ElementError names the first element that a check found wrong.
type ElementError struct {
	// Name is that of the check.
	Name string
	// Index is which element of the buffer it is; those ahead of the first that
	// was checked count. It is -1 where there is no element to name.
	Index int64
	// Value is the number at fault: the offset, the run end, the index, the id, or
	// the part of a view.
	Value int64
	// Reason says what is wrong: "is 5, less than 9 before it".
	Reason string
}

// Error formats e as "name: element index reason: contents out of range".
func (e *ElementError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("%s: %s: %v", e.Name, e.Reason, ErrOutOfRange)
	}
	return fmt.Sprintf("%s: element %d %s: %v", e.Name, e.Index, e.Reason, ErrOutOfRange)
}

// Unwrap returns ErrOutOfRange.
func (e *ElementError) Unwrap() error { return ErrOutOfRange }
