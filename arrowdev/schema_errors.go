package arrowdev

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
)

// faultyPart makes an error of an error of package format. Its field is relative to
// the current struct.
func faultyPart(field string, err error) error {
	condition := ErrInvalid
	if errors.Is(err, format.ErrUnsupported) {
		condition = ErrUnsupported
	}
	if part, ok := err.(*format.Error); ok {
		field, err = part.Part, part.Err
	}
	return &Error{Field: field, Err: &reason{err, condition}}
}

// reason is an error with a complete message and a condition for errors.Is.
type reason struct {
	error
	condition error
}

func (r *reason) Unwrap() []error { return []error{r.error, r.condition} }

// below prefixes the field of an error with another.
func below(above string, err error) error {
	known, ok := err.(*Error)
	switch {
	case !ok:
		return &Error{Field: above, Err: err}
	case known.Field == "":
		known.Field = above
	default:
		known.Field = above + "." + known.Field
	}
	return known
}

// belowChild is below for a child.
func belowChild(i int, err error) error { return below(fmt.Sprintf("children[%d]", i), err) }

// inSchema prefixes the field of an error with the name of the struct.
func inSchema(err error) error {
	if err == nil {
		return nil
	}
	return below("ArrowSchema", err)
}
