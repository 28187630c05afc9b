package arrowdev

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// StreamError is a failure that another library's stream or producer reported.
type StreamError struct {
	// Code is the errno code of the failure.
	Code int
	// Message is the description of the failure. It may be empty.
	Message string
}

// Error returns the message and the code.
func (e *StreamError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("the producer failed with code %d and no message", e.Code)
	}
	return fmt.Sprintf("the producer failed: %s (code %d)", e.Message, e.Code)
}

// Is matches ENOMEM with device.ErrOutOfMemory and ECANCELED with
// context.Canceled.
func (e *StreamError) Is(target error) bool {
	switch target {
	case device.ErrOutOfMemory:
		return e.Code == cabi.ENOMEM
	case context.Canceled:
		return e.Code == cabi.ECANCELED
	}
	return false
}

// invalid are the conditions that are reported to the other side as EINVAL.
var invalid = []error{
	ErrInvalid, ErrUnsupported, ErrDevice, ErrMoved, device.ErrInvalidValue, device.ErrNotSupported,
	buffer.ErrSchema, buffer.ErrRows, memory.ErrReleased, memory.ErrClosed,
}

// errnoOf returns the errno code of an error for the other side. The code of a
// StreamError is passed on.
func errnoOf(err error) int {
	var told *StreamError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &told) && told.Code > 0 && told.Code <= math.MaxInt32:
		return told.Code
	case errors.Is(err, memory.ErrBudget), errors.Is(err, device.ErrOutOfMemory):
		return cabi.ENOMEM
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return cabi.ECANCELED
	}
	for _, condition := range invalid {
		if errors.Is(err, condition) {
			return cabi.EINVAL
		}
	}
	return cabi.EIO
}

// guarded turns a panic of a reader into an error, because a panic must not unwind
// into C.
func guarded(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = faulty("", "the reader panicked: %v", cause)
		}
	}()
	return f()
}

// outOfMemory is the error for structs that malloc could not allocate.
func outOfMemory() error {
	return faulty("", "no C memory for the struct: %w", device.ErrOutOfMemory)
}
