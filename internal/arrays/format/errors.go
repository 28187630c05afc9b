package format

import (
	"errors"
	"fmt"
)

// The conditions to test for with errors.Is.
var (
	// ErrInvalid means that the text or the type contradicts itself or the standard.
	ErrInvalid = errors.New("against the Arrow C data interface")
	// ErrUnsupported means that the text or the type is valid, but has no counterpart.
	ErrUnsupported = errors.New("not supported")
)

// Error names the invalid part of an ArrowSchema.
type Error struct {
	// Part is a field of the struct, such as "children[0].dictionary".
	Part string
	// Err is the reason.
	Err error
}

// Error returns "part: reason".
func (e *Error) Error() string { return e.Part + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// in returns an error about a part.
func in(part string, err error) error { return &Error{Part: part, Err: err} }

// inChild returns an error about a child.
func inChild(i int, err error) error { return in(fmt.Sprintf("children[%d]", i), err) }
