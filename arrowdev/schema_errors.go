package arrowdev

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/format"
)

// faultyPart makes an error of one of package format's. Its field is within the
// struct that is being looked at.
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

// reason is an error that says all there is to say, and a condition to test for.
type reason struct {
	error
	condition error
}

func (r *reason) Unwrap() []error { return []error{r.error, r.condition} }

// below puts the field of an error below another.
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

// inSchema ends the way up: it names the struct.
func inSchema(err error) error {
	if err == nil {
		return nil
	}
	return below("ArrowSchema", err)
}
