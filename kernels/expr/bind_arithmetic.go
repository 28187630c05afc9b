package expr

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// verbs are how messages name what was tried.
var verbs = map[exprtree.Op]string{
	exprtree.Add: "add", exprtree.Subtract: "subtract", exprtree.Multiply: "multiply", exprtree.Divide: "divide", exprtree.Remainder: "take the remainder of",
}

func (b *binder) arithmetic(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	types := chosen(op, operands)
	left, right := types[0], types[1]
	undefined := func() error { return fmt.Errorf("cannot %s %s: %w", verbs[op], listed(types), ErrType) }
	switch {
	case exprtree.IsTemporal(left) || exprtree.IsTemporal(right):
		return b.temporal(op, operands, left, right, undefined)
	case exprtree.KindOf(left) == exprtree.Decimal || exprtree.KindOf(right) == exprtree.Decimal:
		return b.decimal(op, operands, types, undefined)
	}
	t, ok := commonNumeric(types)
	if !ok {
		return nil, undefined()
	}
	return b.same(op, operands, t, t)
}

// same makes an operation of operands that all have one type.
func (b *binder) same(op exprtree.Op, operands []operand, t, result arrow.DataType) (*exprtree.Node, error) {
	nodes, err := b.all(operands, t)
	if err != nil {
		return nil, err
	}
	return b.node(op, result, nodes...), nil
}

func (b *binder) decimal(op exprtree.Op, operands []operand, types []arrow.DataType, undefined func() error) (*exprtree.Node, error) {
	common, ok := commonDecimal(types)
	switch {
	case !ok:
		return nil, undefined()
	case exprtree.KindOf(common).IsFloat():
		return b.same(op, operands, common, common)
	case op == exprtree.Divide || op == exprtree.Remainder: // divisions are steps
		return nil, fmt.Errorf("%v of decimals, cast them to float64: %w", op, ErrType)
	}
	left, _ := asDecimal(types[0])
	right, _ := asDecimal(types[1])
	if op == exprtree.Multiply {
		scale := left.Scale + right.Scale
		if scale > maximumPrecision {
			return nil, fmt.Errorf("%v times %v has a scale of %d, the largest is %d: %w", left, right, scale, maximumPrecision, ErrType)
		}
		return b.each(op, operands, decimalOf(left.Precision+right.Precision+1, scale), left, right)
	}
	scale := max(left.Scale, right.Scale)
	// One more digit than the longer has, for the carry.
	result := decimalOf(common.(*arrow.Decimal128Type).Precision+1, scale)
	return b.each(op, operands, result,
		decimalOf(left.Precision-left.Scale+scale, scale), decimalOf(right.Precision-right.Scale+scale, scale))
}

// each makes an operation of operands that have a type each.
func (b *binder) each(op exprtree.Op, operands []operand, result arrow.DataType, types ...arrow.DataType) (*exprtree.Node, error) {
	nodes := make([]*exprtree.Node, len(operands))
	for i, o := range operands {
		var err error
		if nodes[i], err = b.as(o, types[i]); err != nil {
			return nil, err
		}
	}
	return b.node(op, result, nodes...), nil
}

func (b *binder) temporal(op exprtree.Op, operands []operand, left, right arrow.DataType, undefined func() error) (*exprtree.Node, error) {
	unit := exprtree.Finest(left, right)
	span := &arrow.DurationType{Unit: unit}
	switch {
	case op == exprtree.Subtract && isInstant(left) && isInstant(right):
		if _, ok := exprtree.CommonZone(left, right); !ok {
			return nil, undefined()
		}
		return b.moved(op, operands, span, stamped(left, unit), stamped(right, unit))
	case op != exprtree.Add && op != exprtree.Subtract:
		return b.lengths(op, operands, left, right, undefined)
	case isInstant(left) && isLength(right):
		return b.moved(op, operands, stamped(left, unit), stamped(left, unit), span)
	case op == exprtree.Add && isLength(left) && isInstant(right):
		return b.moved(op, operands, stamped(right, unit), span, stamped(right, unit))
	case isLength(left) && isLength(right):
		return b.moved(op, operands, span, span, span)
	case op == exprtree.Subtract && isClock(left) && isClock(right):
		return b.same(op, operands, span, span)
	case isClock(left) && isLength(right), op == exprtree.Add && isLength(left) && isClock(right):
		moved, err := b.same(op, operands, span, span)
		if err != nil {
			return nil, err
		}
		return b.node(exprtree.Cast, exprtree.TimeOf(unit), moved), nil // null where it left the day
	}
	return nil, undefined()
}

// moved makes the sum or difference of two temporal operands, which the node computes as those of
// the given types. An operand of another unit is not converted, because the type may not hold
// it although it holds the result: AddSpan adds its units in 128 bits.
func (b *binder) moved(op exprtree.Op, operands []operand, result, left, right arrow.DataType) (*exprtree.Node, error) {
	isCoarse := func(o operand) bool {
		return o.node != nil && exprtree.DayOf(o.node.Type) < exprtree.DayOf(result)
	}
	coarse, fine, fineType := 0, 1, right
	switch {
	case isCoarse(operands[0]) == isCoarse(operands[1]): // seconds hold two dates too
		return b.each(op, operands, result, left, right)
	case isCoarse(operands[1]):
		coarse, fine, fineType = 1, 0, left
	}
	base, err := b.as(operands[fine], fineType)
	if err != nil {
		return nil, err
	}
	factor := exprtree.DayOf(result) / exprtree.DayOf(operands[coarse].node.Type)
	if op == exprtree.Add {
		return b.constant(exprtree.AddSpan, factor, result, base, b.stored(operands[coarse].node)), nil
	}
	difference := b.constant(exprtree.AddSpan, -factor, result, base, b.stored(operands[coarse].node))
	if coarse == 0 { // it is the subtrahend minus the minuend
		return b.node(exprtree.Negate, result, difference), nil
	}
	return difference, nil
}

// lengths are the products and quotients of durations and integers.
func (b *binder) lengths(op exprtree.Op, operands []operand, left, right arrow.DataType, undefined func() error) (*exprtree.Node, error) {
	switch {
	case isLength(left) && isCount(right) && op != exprtree.Remainder:
	case isCount(left) && isLength(right) && op == exprtree.Multiply:
	case isLength(left) && isLength(right) && op == exprtree.Remainder:
		span := &arrow.DurationType{Unit: exprtree.Finest(left, right)}
		return b.same(op, operands, span, span)
	default:
		return nil, undefined()
	}
	// The integer takes the duration's type: the node computes on integers.
	span := left
	if isLength(right) {
		span = right
	}
	nodes := make([]*exprtree.Node, 2)
	for i, t := range []arrow.DataType{left, right} {
		var err error
		if isCount(t) {
			t = arrow.PrimitiveTypes.Int64
		}
		if nodes[i], err = b.as(operands[i], t); err != nil {
			return nil, err
		}
		if !isLength(t) {
			nodes[i] = b.reinterpreted(nodes[i], span)
		}
	}
	return b.node(op, span, nodes...), nil
}

// reinterpreted returns a node of int64 as one of a temporal type of that width.
func (b *binder) reinterpreted(n *exprtree.Node, t arrow.DataType) *exprtree.Node {
	if n.Op == exprtree.Literal {
		return &exprtree.Node{Op: exprtree.Literal, Type: t, Value: n.Value, Slot: n.Slot}
	}
	return b.node(exprtree.Cast, t, n)
}

func (b *binder) sign(op exprtree.Op, o operand) (*exprtree.Node, error) {
	n, err := b.alone(o)
	if err != nil {
		return nil, err
	}
	kind := n.Kind()
	d, isDecimal := n.Type.(*arrow.Decimal128Type)
	switch {
	case isDecimal && badDecimal(d):
	case isDecimal && op == exprtree.Sign:
		return b.node(op, arrow.PrimitiveTypes.Int64, n), nil
	case isDecimal, kind.IsNumber() && !exprtree.IsTemporal(n.Type), isLength(n.Type) && op != exprtree.Sign:
		return b.node(op, n.Type, n), nil
	}
	return nil, fmt.Errorf("%v of %v: %w", op, n.Type, ErrType)
}

// floats makes an operation of floats. Integers and decimals become float64, but
// decimals are not rounded that way: Round gives decimals of them, Floor, Ceil and Trunc refuse them.
func (b *binder) floats(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	types := chosen(op, operands)
	for i, t := range types {
		kind := exprtree.KindOf(t)
		if d, ok := t.(*arrow.Decimal128Type); ok && op == exprtree.Round {
			return b.roundDecimal(operands[i], d, 0)
		}
		rounding := op >= exprtree.Floor && op <= exprtree.Round
		if kind == exprtree.Decimal && rounding || op == exprtree.IsNaN && kind == exprtree.Decimal {
			return nil, fmt.Errorf("%v of %v, cast it first: %w", op, t, ErrType)
		}
		if kind == exprtree.Decimal || isCount(t) {
			types[i] = arrow.PrimitiveTypes.Float64
		}
	}
	t, ok := commonNumeric(types)
	if !ok {
		return nil, fmt.Errorf("%v of %s: %w", op, listed(types), ErrType)
	}
	if op == exprtree.IsNaN {
		return b.same(op, operands, t, arrow.FixedWidthTypes.Boolean)
	}
	return b.same(op, operands, t, t)
}

func (b *binder) bits(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	types := chosen(op, operands)
	t, ok := commonNumeric(types)
	if !ok || !exprtree.KindOf(t).IsInteger() {
		return nil, fmt.Errorf("%v of %s, it is of integers: %w", op, listed(types), ErrType)
	}
	return b.same(op, operands, t, t)
}
