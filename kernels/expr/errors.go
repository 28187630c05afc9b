package expr

import (
	"errors"
	"fmt"
)

// The conditions to test for with errors.Is. A column that a schema does not have
// wraps buffer.ErrSchema.
var (
	// ErrType means that an operation is not defined for the types of its operands.
	ErrType = errors.New("operation not defined for these types")
	// ErrLiteral means that a literal has no supported type, or is out of range for it.
	ErrLiteral = errors.New("bad literal")
	// ErrMissing means that an operation lacks an expression or type.
	ErrMissing = errors.New("missing")
)

// Error is the error for a part of an expression that was refused.
type Error struct {
	// Expression is the whole expression as text, Part the operation in it that was
	// refused.
	Expression, Part string
	Reason           error
}

// Error returns "delay > "x": cannot compare int64 with utf8: …".
func (e *Error) Error() string {
	if e.Part == e.Expression {
		return fmt.Sprintf("expr: %s: %v", e.Expression, e.Reason)
	}
	return fmt.Sprintf("expr: in %s: %s: %v", e.Expression, e.Part, e.Reason)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Reason }
