package group

import (
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Key is a value of each row that rows are grouped by: a column of the table, an expression on its columns, or
// a column with a value for each row of the table. Exactly one of Column, Expr and Values
// is set.
type Key struct {
	// Column is the name of a column, of the first one if several have it.
	Column string
	// Expr is evaluated for each row.
	Expr expr.Expr
	// Values has as many rows as the table.
	Values *column.Column
	// Name is the name of the key's column in the result. The default is the name of the
	// column or of the expression.
	Name string
}

// Columns returns keys for columns of the table.
func Columns(names ...string) []Key {
	keys := make([]Key, len(names))
	for i, name := range names {
		keys[i].Column = name
	}
	return keys
}

// String returns the name of the column, or the expression, for messages.
func (k Key) String() string {
	switch {
	case k.Values != nil:
		return fmt.Sprint(k.Values)
	case !k.Expr.IsZero():
		return k.Expr.String()
	}
	return fmt.Sprintf("%q", k.Column)
}

// name returns the name of the key's column in the result. number is the number of the key.
func (k Key) name(number int) string {
	switch {
	case k.Name != "":
		return k.Name
	case k.Column != "":
		return k.Column
	case !k.Expr.IsZero():
		return k.Expr.Name()
	}
	return fmt.Sprintf("key%d", number)
}

// expression returns the expression of a key without Values.
func (k Key) expression() expr.Expr {
	if k.Column != "" {
		return expr.Col(k.Column)
	}
	return k.Expr
}

// check refuses keys that are not of exactly one kind, and Values of another length.
func (k Key) check(table *buffer.Buffer) error {
	given := 0
	for _, set := range []bool{k.Column != "", !k.Expr.IsZero(), k.Values != nil} {
		if set {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("%d of Column, Expr and Values are set, expected one: %w", given, device.ErrInvalidValue)
	}
	if k.Values == nil {
		return nil
	}
	if err := k.Values.Check(); err != nil {
		return err
	}
	if int64(k.Values.Len()) != table.Capacity() {
		return fmt.Errorf("the column has %d elements, expected the table's %d: %w", k.Values.Len(), table.Capacity(), buffer.ErrRows)
	}
	return nil
}

// KeyError is a key that cannot be used.
type KeyError struct {
	// Number is the number of the key, counted from 0.
	Number int
	Key    Key
	Err    error
}

// Error names the key.
func (e *KeyError) Error() string { return fmt.Sprintf("key %d, %v: %v", e.Number, e.Key, e.Err) }

// Unwrap returns Err.
func (e *KeyError) Unwrap() error { return e.Err }
