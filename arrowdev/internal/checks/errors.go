package checks

import (
	"errors"
	"fmt"
)

// ErrOutOfRange means that an element would cause an access out of bounds. The error is
// an [*ElementError].
var ErrOutOfRange = errors.New("contents out of range")

// ElementError names the first wrong element of a check.
type ElementError struct {
	// Name is that of the check.
	Name string
	// Index is the index of the element in the buffer, including the elements before
	// the first that was checked. It is -1 if no element is at fault.
	Index int64
	// Value is the invalid number: the offset, the run end, the index, the id, or the
	// part of a view.
	Value int64
	// Reason is the rest of the sentence: "is 5, less than 9 before it".
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
