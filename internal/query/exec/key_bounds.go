package exec

import (
	"context"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
)

// keyBounds are the bounds of a key of a join's right side, in one run of a plan. A scan makes
// them before the join reads its right side, if its source has bounds to compare with. Of several
// devices that find them, the first one sets them.
type keyBounds struct {
	mu sync.Mutex
	foundBounds
}

// get returns the bounds as far as they are known.
func (b *keyBounds) get() foundBounds {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.foundBounds
}

func (b *keyBounds) set(to foundBounds) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.known {
		b.foundBounds = to
	}
}

// foundBounds are bounds, if they are known.
type foundBounds struct {
	known bool
	// low and high are literals. They are zero if the type has none here, or if there is no
	// key: then empty is set.
	low, high expr.Expr
	empty     bool
}

// conditions returns the conditions on a column.
func (b foundBounds) conditions(column string) []expr.Expr {
	switch {
	case !b.known || !b.empty && b.low.IsZero():
		return nil
	case b.empty:
		return []expr.Expr{expr.Col(column).IsNull().And(expr.Col(column).IsValid())}
	}
	return []expr.Expr{expr.Col(column).Ge(b.low), expr.Col(column).Le(b.high)}
}

// findBounds finds the bounds of the right keys that scans wait for. Without memory for that
// the scans read all rows.
func (j *joining) findBounds(ctx context.Context) error {
	bounds := j.plan.Options().Bounds
	if bounds == nil {
		return nil
	}
	// A bound that the type of the left key lacks would compare as null with all its values.
	_, keys, err := j.plan.HashKeys()
	if err != nil {
		return err
	}
	for i, bound := range bounds {
		wanted := j.bounds[bound]
		if bound == nil || wanted == nil {
			continue
		}
		key := keys[i]
		t, _, err := key.Type(j.right.Schema())
		if err != nil {
			return err
		}
		if _, ok := literalOf(scalar.MakeNullScalar(t)); !ok || arrow.IsFloating(t.ID()) { // NaN is a key beyond the bounds
			continue
		}
		extremes, err := reduce.Scalars(ctx, j.right, []reduce.Aggregate{reduce.Min(key), reduce.Max(key)}, j.options())
		if isShort(err) {
			continue
		}
		if err != nil {
			return err
		}
		limits := foundBounds{known: true, empty: !extremes[0].IsValid()}
		limits.low, _ = literalOf(extremes[0])
		limits.high, _ = literalOf(extremes[1])
		wanted.set(limits)
	}
	return nil
}

// literalOf returns a scalar as a literal, or false for types for which there is no use:
// statistics of other types are rare, or their keys are seldom in ranges.
func literalOf(s scalar.Scalar) (expr.Expr, bool) {
	var value any
	switch s := s.(type) {
	case *scalar.Int8:
		value = s.Value
	case *scalar.Int16:
		value = s.Value
	case *scalar.Int32:
		value = s.Value
	case *scalar.Int64:
		value = s.Value
	case *scalar.Uint8:
		value = s.Value
	case *scalar.Uint16:
		value = s.Value
	case *scalar.Uint32:
		value = s.Value
	case *scalar.Uint64:
		value = s.Value
	case *scalar.Date32:
		value = s.Value
	case *scalar.Timestamp:
		value = s.Value
	default:
		return expr.Expr{}, false
	}
	return expr.LitOf(s.DataType(), value), true
}
