package backend

import "errors"

// The errors that callers distinguish. A backend's errors wrap them; test with
// errors.Is.
var (
	// ErrNotAvailable means that the backend cannot be used in this process, because
	// the driver, a device, or cgo in the build is missing.
	ErrNotAvailable = errors.New("backend not available")
	// ErrNotSupported means that this device, or its driver's version, lacks the
	// operation.
	ErrNotSupported = errors.New("operation not supported by the device")
	// ErrNoDevice means that no device has the given name or number.
	ErrNoDevice = errors.New("no such device")
	// ErrDeviceLost means that the device or its context can no longer be used. Every
	// later call fails too; only a new process can use the device again.
	ErrDeviceLost = errors.New("device lost")
	// ErrOutOfMemory means that the driver has not enough memory for the request.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrInvalidValue means that an argument is out of range, is not memory, or is not
	// a handle of this device.
	ErrInvalidValue = errors.New("invalid value")
	// ErrNotFound means that a module has no function of that name.
	ErrNotFound = errors.New("not found")
	// ErrInvalidCode means that device code could not be compiled or loaded.
	ErrInvalidCode = errors.New("invalid device code")
	// ErrCapturing means that the operation is not possible while a stream is captured,
	// or that such an operation invalidated the stream's capture.
	ErrCapturing = errors.New("not possible while a stream is captured")
	// ErrClosed means that the device, stream or event has been closed.
	ErrClosed = errors.New("already closed")
)
