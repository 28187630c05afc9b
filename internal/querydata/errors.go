package querydata

import (
	"errors"
	"fmt"
)

// ErrDocument is the condition of every error of a document.
var ErrDocument = errors.New("malformed query document")

// Error is an error of a document.
type Error struct {
	// Place is the place in the document: "steps[1].conditions[0].arguments[1]". It is
	// empty for the whole document.
	Place string
	// Reason names the value and the expected one.
	Reason string
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	if e.Place == "" {
		return "querydata: " + e.Reason
	}
	return fmt.Sprintf("querydata: %s: %s", e.Place, e.Reason)
}

// Unwrap returns the condition.
func (e *Error) Unwrap() error { return ErrDocument }
