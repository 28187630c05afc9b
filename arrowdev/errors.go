package arrowdev

import "fmt"

// Error is what the functions of this package return. It says which field of
// which structure was refused in which operation.
type Error struct {
	// Operation is "export" or "import".
	Operation string
	// Field is the field of the C structure, "ArrowDeviceArray.device_type" for
	// example; it is empty where the error is about no single one.
	Field string
	// Err is the reason.
	Err error
}

// Error returns "arrowdev: operation: field: reason".
func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("arrowdev: %s: %v", e.Operation, e.Err)
	}
	return fmt.Sprintf("arrowdev: %s: %s: %v", e.Operation, e.Field, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }
