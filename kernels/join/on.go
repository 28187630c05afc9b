package join

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// On is a pair of keys that rows match by. Each of the two is a column or an expression.
type On struct {
	// Left and Right are names of columns.
	Left, Right string
	// LeftExpr and RightExpr are evaluated for each row of their table.
	LeftExpr, RightExpr expr.Expr
}

// Using returns the pairs of columns that have the same name in both tables.
func Using(names ...string) []On {
	on := make([]On, len(names))
	for i, name := range names {
		on[i] = On{Left: name, Right: name}
	}
	return on
}

// String returns the pair for messages.
func (o On) String() string {
	return keyText(o.Left, o.LeftExpr) + " = " + keyText(o.Right, o.RightExpr)
}

func keyText(name string, e expr.Expr) string {
	if !e.IsZero() {
		return e.String()
	}
	return fmt.Sprintf("%q", name)
}

// shared returns the name of the two columns, if they have the same.
func (o On) shared() (name string, ok bool) {
	left, leftOK := columnName(o.Left, o.LeftExpr)
	right, rightOK := columnName(o.Right, o.RightExpr)
	return left, leftOK && rightOK && left == right
}

func columnName(name string, e expr.Expr) (string, bool) {
	if !e.IsZero() {
		return e.Column()
	}
	return name, true
}

func keyExpr(name string, e expr.Expr) expr.Expr {
	if e.IsZero() {
		return expr.Col(name)
	}
	return e
}

// checkOne refuses a key with both a name and an expression.
func checkOne(side, name string, e expr.Expr) error {
	if name != "" && !e.IsZero() {
		return fmt.Errorf("the %s side has both a column and an expression, expected one: %w", side, device.ErrInvalidValue)
	}
	return nil
}

func keyType(side string, schema *arrow.Schema, name string, e expr.Expr) (arrow.DataType, error) {
	if err := checkOne(side, name, e); err != nil {
		return nil, err
	}
	t, _, err := keyExpr(name, e).Type(schema)
	if err != nil {
		return nil, fmt.Errorf("%s table: %w", side, err)
	}
	return t, nil
}

// types returns the types of both keys.
func (o On) types(left, right *arrow.Schema) (a, b arrow.DataType, err error) {
	if a, err = keyType("left", left, o.Left, o.LeftExpr); err == nil {
		b, err = keyType("right", right, o.Right, o.RightExpr)
	}
	return a, b, err
}

// side returns the name or the expression of a key: that of the left table or, as side 1, of the right one.
func (o On) side(side int) (name string, e expr.Expr) {
	if side == 1 {
		return o.Right, o.RightExpr
	}
	return o.Left, o.LeftExpr
}

// checkTypes refuses keys of types that do not compare.
func (o On) checkTypes(left, right *arrow.Schema) error {
	a, b, err := o.types(left, right)
	if err != nil {
		return err
	}
	if _, err := commonType(a, b); err != nil {
		return err
	}
	return rowkey.Check(unifiedType(a, b), 0)
}
