package kernels

import "fmt"

// ArgumentError says which argument of a launch was refused and why. errors.Is
// matches what its Reason matches: device.ErrInvalidValue for a type, a width or
// a device that does not fit, memory.ErrReleased for a block that is gone.
type ArgumentError struct {
	// Index counts the kernel's arguments from 0.
	Index  int
	Reason error
}

// Error returns "argument 2: …".
func (e *ArgumentError) Error() string { return fmt.Sprintf("argument %d: %v", e.Index, e.Reason) }

// Unwrap returns the reason.
func (e *ArgumentError) Unwrap() error { return e.Reason }
