package kernels

import "fmt"

// ArgumentError is a refused argument of a launch and the reason. errors.Is matches
// conditions of Reason: device.ErrInvalidValue for a wrong type, width or device,
// memory.ErrReleased for a released block.
type ArgumentError struct {
	// Index counts the kernel's arguments from 0.
	Index  int
	Reason error
}

// Error returns "argument 2: …".
func (e *ArgumentError) Error() string { return fmt.Sprintf("argument %d: %v", e.Index, e.Reason) }

// Unwrap returns the reason.
func (e *ArgumentError) Unwrap() error { return e.Reason }
