package join

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
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

// HashKeys returns the expressions of the keys of both tables whose [expr.Hash] is the same in rows
// that match: hash and divide by these, not by the keys. Keys of two types of decimals or of times,
// whose equal values have other numbers, are converted to their common type.
func HashKeys(left, right *arrow.Schema, on []On) (leftKeys, rightKeys []expr.Expr, err error) {
	for i, pair := range on {
		a, b, err := pair.hashed(left, right)
		if err != nil {
			return nil, nil, fmt.Errorf("join: hash: %w", &KeyError{i, pair, err})
		}
		leftKeys, rightKeys = append(leftKeys, a), append(rightKeys, b)
	}
	return leftKeys, rightKeys, nil
}

func (o On) hashed(left, right *arrow.Schema) (a, b expr.Expr, err error) {
	leftType, err := keyType("left", left, o.Left, o.LeftExpr)
	if err != nil {
		return a, b, err
	}
	rightType, err := keyType("right", right, o.Right, o.RightExpr)
	if err != nil {
		return a, b, err
	}
	to, err := commonType(leftType, rightType)
	if err != nil {
		return a, b, err
	}
	return hashedAs(keyExpr(o.Left, o.LeftExpr), leftType, to), hashedAs(keyExpr(o.Right, o.RightExpr), rightType, to), nil
}

// hashedAs converts a key unless its hash does not depend on its type.
func hashedAs(key expr.Expr, from, to arrow.DataType) expr.Expr {
	switch familyOf(decodedType(from)) {
	case decimals, instants, clocks, durations:
		if !arrow.TypeEqual(from, to) {
			return key.Cast(to)
		}
	}
	return key
}

func keyExpr(name string, e expr.Expr) expr.Expr {
	if e.IsZero() {
		return expr.Col(name)
	}
	return e
}

// keysOf returns the columns of all keys of both tables, in types that compare. The
// caller releases them.
func keysOf(ctx context.Context, left, right *buffer.Buffer, on []On, options kernels.Options) (keys [2][]*column.Column, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, release.All(keys[0]), release.All(keys[1]))
		}
	}()
	for i, pair := range on {
		a, b, err := pair.columns(ctx, left, right, options)
		if err != nil {
			return keys, &KeyError{i, pair, err}
		}
		keys[0], keys[1] = append(keys[0], a), append(keys[1], b)
	}
	return keys, nil
}

// withNulls returns the pairs, and for each pair of times of which the common type does not hold all
// values another one, of whether the keys are null, if nulls are equal: a key that the type does
// not hold is converted to null, and matches no null.
func (o *Options) withNulls(left, right *arrow.Schema, on []On) []On {
	if !o.NullsEqual {
		return on
	}
	pairs := slices.Clip(on)
	for _, pair := range on {
		a, leftErr := keyType("left", left, pair.Left, pair.LeftExpr)
		b, rightErr := keyType("right", right, pair.Right, pair.RightExpr)
		if leftErr != nil || rightErr != nil {
			continue // the key will be refused
		}
		a, b = decodedType(a), decodedType(b)
		if !exprtree.IsTemporal(a) || !exprtree.IsTemporal(b) {
			continue
		}
		if t, ok := exprtree.CommonTime(a, b); ok && !(exprtree.HoldsTimes(t, a) && exprtree.HoldsTimes(t, b)) {
			pairs = append(pairs, On{LeftExpr: keyExpr(pair.Left, pair.LeftExpr).IsNull(), RightExpr: keyExpr(pair.Right, pair.RightExpr).IsNull()})
		}
	}
	return pairs
}

// columns returns the two columns of a pair in one type.
func (o On) columns(ctx context.Context, left, right *buffer.Buffer, options kernels.Options) (a, b *column.Column, err error) {
	leftKey, err := keyColumn(ctx, "left", left, o.Left, o.LeftExpr, options)
	if err != nil {
		return nil, nil, err
	}
	rightKey, err := keyColumn(ctx, "right", right, o.Right, o.RightExpr, options)
	if err != nil {
		return nil, nil, errors.Join(err, leftKey.Release())
	}
	a, b, err = unify(ctx, leftKey, rightKey, options)
	if err == nil {
		err = rowkey.Check(a.Type(), 0)
	}
	if err = errors.Join(err, leftKey.Release(), rightKey.Release()); err != nil {
		return nil, nil, errors.Join(err, a.Release(), b.Release())
	}
	return a, b, nil
}

// checkOne refuses a key with both a name and an expression.
func checkOne(side, name string, e expr.Expr) error {
	if name != "" && !e.IsZero() {
		return fmt.Errorf("the %s side has both a column and an expression, expected one: %w", side, device.ErrInvalidValue)
	}
	return nil
}

// keyColumn returns the column of a key, with a reference for the caller.
func keyColumn(ctx context.Context, side string, table *buffer.Buffer, name string, e expr.Expr, options kernels.Options) (*column.Column, error) {
	if err := checkOne(side, name, e); err != nil {
		return nil, err
	}
	if !e.IsZero() {
		plain, ok := e.Column()
		if !ok {
			options.Tag = op.ScratchTag
			columns, err := expr.Evaluate(ctx, table, []expr.Expr{e}, options)
			if err != nil {
				return nil, fmt.Errorf("%s table: %w", side, err)
			}
			return columns[0], nil
		}
		name = plain
	}
	c, err := table.ColumnByName(name)
	if err != nil {
		return nil, fmt.Errorf("%s table: %w", side, err)
	}
	return c, c.Retain()
}
