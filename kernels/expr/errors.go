package expr

import (
	"errors"
	"fmt"
)

// The conditions to test for with errors.Is. A column that a schema does not have
// wraps buffer.ErrSchema.
var (
	// ErrType: an operation is not defined for the types of its operands.
	ErrType = errors.New("operation not defined for these types")
	// ErrLiteral: a literal is of no type that can be used, or out of range for it.
	ErrLiteral = errors.New("bad literal")
	// ErrMissing: an expression or type that an operation needs was not given.
	ErrMissing = errors.New("missing")
)

// Error says which part of an expression was refused.
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
