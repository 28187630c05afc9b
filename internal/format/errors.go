package format

import (
	"errors"
	"fmt"
)

// The conditions to test for with errors.Is.
var (
	// ErrInvalid: the text or the type contradicts itself or the standard.
	ErrInvalid = errors.New("against the Arrow C data interface")
	// ErrUnsupported: it is sound, but has no counterpart on the other side.
	ErrUnsupported = errors.New("not supported")
)

// Error says which part of an ArrowSchema is at fault.
type Error struct {
	// Part is a field of the struct, "children[0].dictionary" for example.
	Part string
	// Err is the reason.
	Err error
}

// Error returns "part: reason".
func (e *Error) Error() string { return e.Part + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// in names the part that an error is about.
func in(part string, err error) error { return &Error{Part: part, Err: err} }

// inChild is in for one of the children.
func inChild(i int, err error) error { return in(fmt.Sprintf("children[%d]", i), err) }
