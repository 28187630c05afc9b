package nvrtc

import (
	"errors"
	"fmt"
)

// PathVariable is the environment variable for the path of the library.
const PathVariable = "GPUFRAME_LIBNVRTC"

var (
	// ErrNotAvailable reports that the library cannot be opened, or lacks a function. The error is an [*Unavailable].
	ErrNotAvailable = errors.New("NVRTC is not available")
	// ErrSource reports code that does not compile. The error is a [*CompileError].
	ErrSource = errors.New("the CUDA source does not compile")
)

// Unavailable is why the library cannot be used.
type Unavailable struct {
	// Path is the path of the library.
	Path string
	// Reason is the dynamic linker's message, or a missing function.
	Reason string
}

// Error returns the reason and the remedy.
func (e *Unavailable) Error() string {
	return fmt.Sprintf("nvrtc: %s cannot be used: %s: install NVRTC, set %s to its path, or pass PTX", e.Path, e.Reason, PathVariable)
}

// Unwrap returns [ErrNotAvailable].
func (e *Unavailable) Unwrap() error { return ErrNotAvailable }

// CompileError is a failure of the compiler.
type CompileError struct {
	// Code is NVRTC's result, Text its text.
	Code int
	Text string
	// Log is what the compiler printed, with the lines of the source.
	Log string
}

// Error returns the text and the log.
func (e *CompileError) Error() string {
	if e.Log == "" {
		return fmt.Sprintf("nvrtc: %s (%d)", e.Text, e.Code)
	}
	return fmt.Sprintf("nvrtc: %s (%d):\n%s", e.Text, e.Code, e.Log)
}

// Unwrap returns [ErrSource].
func (e *CompileError) Unwrap() error { return ErrSource }
