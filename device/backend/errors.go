package backend

import "errors"

// The conditions that callers act upon. A backend's errors wrap them, so test
// with errors.Is.
var (
	// ErrNotAvailable: the backend cannot be used in this process at all, for
	// want of a driver, a device, or cgo in the build.
	ErrNotAvailable = errors.New("backend not available")
	// ErrNotSupported: this device, or its driver's version, lacks the operation.
	ErrNotSupported = errors.New("operation not supported by the device")
	// ErrNoDevice: there is no device of the given name or number.
	ErrNoDevice = errors.New("no such device")
	// ErrDeviceLost: the device or its context can no longer be used. Every
	// later call fails too; a process has to start again to get it back.
	ErrDeviceLost = errors.New("device lost")
	// ErrOutOfMemory: the driver has not enough memory for the request.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrInvalidValue: an argument is out of range, or not memory, or not a
	// handle of this device.
	ErrInvalidValue = errors.New("invalid value")
	// ErrNotFound: a module holds no function of that name.
	ErrNotFound = errors.New("not found")
	// ErrInvalidCode: device code could not be compiled or loaded.
	ErrInvalidCode = errors.New("invalid device code")
	// ErrCapturing: the operation cannot be done while a stream is captured, or its
	// capture was lost by such an operation.
	ErrCapturing = errors.New("not possible while a stream is captured")
	// ErrClosed: the device, stream or event has been closed.
	ErrClosed = errors.New("already closed")
)
