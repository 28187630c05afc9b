package layout

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/text/render"
)

// TypeError is a type that has no layout.
type TypeError struct {
	// Type is the type, or nil.
	Type arrow.DataType
	// Problem completes the sentence "type T …".
	Problem string
	// Unknown is set if the type is not in the table. Otherwise the type contradicts
	// itself.
	Unknown bool
}

// Error names the type and the problem.
func (e *TypeError) Error() string {
	if e.Type == nil {
		return e.Problem
	}
	return fmt.Sprintf("type %v %s", e.Type, e.Problem)
}

// Refuse returns the error of an operator for a type without a kernel. expected names the
// types with one, such as "numbers". The error wraps the cause.
func Refuse(t arrow.DataType, expected string, cause error) error {
	text := t.String()
	if _, isNested := t.(arrow.NestedType); isNested {
		text = render.TypeName(t)
	}
	return fmt.Errorf("the type is %s, expected %s: %w", text, expected, cause)
}
