// Package fielderror has the operations on the errors of packages that exchange C
// structs. Each of these packages has an error type of its fields.
package fielderror

import (
	"errors"
	"fmt"
)

// Fields are the fields of such an error: the operation that failed, the field of the
// struct at fault, which may be empty, and the reason.
type Fields struct {
	Operation string
	Field     string
	Err       error
}

// Type is a type with these fields.
type Type interface {
	~struct {
		Operation string
		Field     string
		Err       error
	}
}

// Pointer is a pointer to such a type, which is an error.
type Pointer[t Type] interface {
	*t
	error
}

// Text returns "prefix: operation: field: reason".
func (f Fields) Text(prefix string) string {
	if f.Field == "" {
		return fmt.Sprintf("%s: %s: %v", prefix, f.Operation, f.Err)
	}
	return fmt.Sprintf("%s: %s: %s: %v", prefix, f.Operation, f.Field, f.Err)
}

// New makes an error without an operation. During adds the operation.
func New[t Type, p Pointer[t]](field, format string, arguments ...any) error {
	typed := t(Fields{Field: field, Err: fmt.Errorf(format, arguments...)})
	return p(&typed)
}

// During returns a copy of an error with the operation. The error may be nil. It stays
// as it is, because another goroutine may read it: a failed task of an asynchronous
// stream ends the stream and answers its own caller with the same error.
func During[t Type, p Pointer[t]](operation string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := err.(p); ok {
		fields := Fields(*known)
		fields.Operation = operation
		copied := t(fields)
		return p(&copied)
	}
	typed := t(Fields{Operation: operation, Err: err})
	return p(&typed)
}

// Also joins the error of a cleanup to a copy of an error. Either may be nil.
func Also[t Type, p Pointer[t]](err, cleanup error) error {
	known, ok := err.(p)
	switch {
	case cleanup == nil:
		return err
	case ok:
		fields := Fields(*known)
		fields.Err = errors.Join(fields.Err, cleanup)
		copied := t(fields)
		return p(&copied)
	}
	return errors.Join(err, cleanup)
}
