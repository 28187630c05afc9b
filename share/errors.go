package share

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// Conditions for errors.Is. Errors of this package may also wrap conditions of the
// packages below.
var (
	// ErrNotFound: the server has no table of that name.
	ErrNotFound = errors.New("no such table")
	// ErrExists: the server already has a table of that name.
	ErrExists = errors.New("a table of that name is published")
	// ErrInUse: another server listens on the socket, or the path is not a socket.
	ErrInUse = errors.New("the path is in use")
	// ErrNotPermitted: ServerOptions.Allow refused the client.
	ErrNotPermitted = errors.New("not permitted")
	// ErrTooMany: a limit of the server is reached.
	ErrTooMany = errors.New("too many")
	// ErrDevice: the table and the manager are on different devices.
	ErrDevice = errors.New("the table lies on another device")
	// ErrName: a table's name is empty, longer than 255 bytes, or has characters that
	// cannot be printed.
	ErrName = errors.New("bad name")
	// ErrTooLarge: a table's description does not fit into a message.
	ErrTooLarge = errors.New("too large to describe")
	// ErrType: a column's type cannot be described.
	ErrType = errors.New("type unknown")
	// ErrProtocol: the other side violates the protocol or speaks another version of it.
	ErrProtocol = errors.New("protocol violated")
	// ErrDisconnected: the other side closed the connection or died.
	ErrDisconnected = errors.New("disconnected")
	// ErrClosed: the server, client or table has been closed.
	ErrClosed = device.ErrClosed
)

// Error is a failed operation, its object and the cause.
type Error struct {
	// Operation is "publish", for example, and Name the table or the path.
	Operation, Name string
	// Err is the cause: a condition of this package or an error of a package below.
	Err error
}

// Error formats e as "share: operation name: condition".
func (e *Error) Error() string { return fmt.Sprintf("share: %s %q: %v", e.Operation, e.Name, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// failed wraps an error that is not nil.
func failed(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Operation: operation, Name: name, Err: err}
}

// codes maps the protocol's error codes to the conditions of the client.
var codes = map[string]error{
	"not found": ErrNotFound, "not permitted": ErrNotPermitted, "too many": ErrTooMany, "protocol": ErrProtocol, "closed": ErrClosed,
}

// failureOf describes an error in a message.
func failureOf(err error) *failure {
	for code, condition := range codes {
		if errors.Is(err, condition) {
			return &failure{Code: code, Message: err.Error()}
		}
	}
	return &failure{Code: "failed", Message: err.Error()}
}

// err returns the error that the server reported. It quotes the server's message.
func (f *failure) err() error {
	if condition, ok := codes[f.Code]; ok {
		return fmt.Errorf("the server answers %q: %w", f.Message, condition)
	}
	return fmt.Errorf("the server answers %q (%q)", f.Message, f.Code)
}
