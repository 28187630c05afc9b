package rows

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Conditions to test for with errors.Is.
var (
	// ErrType reports a Go type and an Arrow type that do not fit.
	ErrType = errors.New("types do not fit")
	// ErrColumn reports a field without a column, or several for one name.
	ErrColumn = errors.New("no column for the field")
	// ErrNull reports a null for a field that cannot hold it.
	ErrNull = errors.New("null for a field without nulls")
	// ErrRange reports a value that the other type cannot represent.
	ErrRange = errors.New("value out of range")
)

// Error is an error about a field.
type Error struct {
	// Field is the path of the field from the struct's type on: Sale.Address.City. It
	// is the type itself if rows are not structs.
	Field string
	// Column is the name of the column.
	Column string
	// Go and Arrow are the types, if known.
	Go    reflect.Type
	Arrow arrow.DataType
	// Row is the row of the record or slice, or -1.
	Row int64
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "rows: field %s", e.Field)
	if e.Go != nil {
		fmt.Fprintf(&text, " of %v", e.Go)
	}
	if e.Column != "" {
		fmt.Fprintf(&text, ", column %q", e.Column)
	}
	if e.Arrow != nil {
		fmt.Fprintf(&text, " of %v", e.Arrow)
	}
	if e.Row >= 0 {
		fmt.Fprintf(&text, ", row %d", e.Row)
	}
	return fmt.Sprintf("%s: %v", text.String(), e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }
