package join

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

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
	leftType, rightType, err := o.types(left, right)
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
