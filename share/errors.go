package share

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// The conditions to test for with errors.Is, besides those of the packages below.
var (
	// ErrNotFound: the server has no table of that name.
	ErrNotFound = errors.New("no such table")
	// ErrExists: the server has a table of that name already.
	ErrExists = errors.New("a table of that name is published")
	// ErrInUse: another server listens on the socket, or the path is something else
	// than a socket.
	ErrInUse = errors.New("the path is in use")
	// ErrNotPermitted: the server's Allow has refused the client.
	ErrNotPermitted = errors.New("not permitted")
	// ErrTooMany: a limit of the server's is reached.
	ErrTooMany = errors.New("too many")
	// ErrDevice: the table lies on another device than the manager's.
	ErrDevice = errors.New("the table lies on another device")
	// ErrName: a table's name is empty, longer than 255 bytes, or has characters
	// that cannot be printed.
	ErrName = errors.New("bad name")
	// ErrTooLarge: a table's description does not fit into a message.
	ErrTooLarge = errors.New("too large to describe")
	// ErrType: a column's type cannot be described.
	ErrType = errors.New("type unknown")
	// ErrProtocol: the other side says what the protocol does not allow, or speaks
	// another version of it.
	ErrProtocol = errors.New("protocol violated")
	// ErrDisconnected: the other side is gone.
	ErrDisconnected = errors.New("disconnected")
	// ErrClosed: the server, client or table has been closed.
	ErrClosed = device.ErrClosed
)

// Error tells which operation failed, on what, and why.
type Error struct {
	// Operation is "publish" for example, and Name the table or the path.
	Operation, Name string
	// Err is the condition, one of this package's or one of those below.
	Err error
}

// Error formats e as "share: operation name: condition".
func (e *Error) Error() string { return fmt.Sprintf("share: %s %q: %v", e.Operation, e.Name, e.Err) }

// Unwrap returns the condition.
func (e *Error) Unwrap() error { return e.Err }

// failed wraps what is not nil.
func failed(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Operation: operation, Name: name, Err: err}
}

// codes are the conditions that a server tells a client of.
var codes = map[string]error{
	"not found": ErrNotFound, "not permitted": ErrNotPermitted, "too many": ErrTooMany, "protocol": ErrProtocol, "closed": ErrClosed,
}

// failureOf says in a message why a request failed.
func failureOf(err error) *failure {
	for code, condition := range codes {
		if errors.Is(err, condition) {
			return &failure{Code: code, Message: err.Error()}
		}
	}
	return &failure{Code: "failed", Message: err.Error()}
}

// err is what the server said. Its words are quoted, for they are not ours.
func (f *failure) err() error {
	if condition, ok := codes[f.Code]; ok {
		return fmt.Errorf("the server says %q: %w", f.Message, condition)
	}
	return fmt.Errorf("the server says %q (%q)", f.Message, f.Code)
}
