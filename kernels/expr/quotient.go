package expr

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// TrueDiv is e / x as a real number: integers and decimals become float64. A duration divided
// by a number is a duration, cut off to whole units, and null if it does not fit. A duration
// divided by a duration is float64.
func (e Expr) TrueDiv(x Expr) Expr { return make2(trueDivide, e, x) }

// FloorDiv is e / x, of numbers and durations, rounded down to a whole number. Like [Expr.Div]
// it is null for an integer zero x. A duration divided by a number is a duration, and divided
// by a duration it is int64.
func (e Expr) FloorDiv(x Expr) Expr { return make2(floorDivide, e, x) }

// FloorMod is the remainder of [Expr.FloorDiv], of two numbers or two durations. It has the
// sign of x.
func (e Expr) FloorMod(x Expr) Expr { return make2(floorRemainder, e, x) }

// RoundDigits rounds to a number of decimal digits behind the point, or in front of it if
// digits is negative: floats with halves to the even one, decimals with halves away from zero. Integers
// become float64. Floats have the nearest value to the rounded number.
func (e Expr) RoundDigits(digits int) Expr { return make2(roundDigits, e, Lit(digits)) }

var float64Type arrow.DataType = arrow.PrimitiveTypes.Float64

// quotient binds TrueDiv, FloorDiv and FloorMod.
func (b *binder) quotient(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	plain := exprtree.Divide
	if op == floorRemainder {
		plain = exprtree.Remainder
	}
	types := chosen(plain, operands)
	undefined := func() error { return fmt.Errorf("cannot %s %s: %w", verbs[plain], listed(types), ErrType) }
	switch {
	case isLength(types[0]):
		return b.lengthQuotient(op, operands, types, undefined)
	case exprtree.IsTemporal(types[0]) || exprtree.IsTemporal(types[1]):
		return nil, undefined()
	case op == trueDivide:
		return b.floats(plain, operands)
	}
	divided, err := b.arithmetic(plain, operands)
	if err != nil {
		return nil, err
	}
	return b.floored(divided), nil
}

// floored returns the quotient or the remainder of two numbers, rounded down.
func (b *binder) floored(divided *exprtree.Node) *exprtree.Node {
	t, x, y := divided.Type, divided.Arguments[0], divided.Arguments[1]
	kind := exprtree.KindOf(t)
	switch {
	case divided.Op == exprtree.Divide && kind.IsFloat():
		return b.node(exprtree.Floor, t, divided)
	case kind.IsInteger() && !kind.IsSigned():
		return divided
	}
	rest := b.node(exprtree.Remainder, t, x, y)
	zero := number(t, 0)
	signs := b.node(exprtree.Xor, boolean, b.node(exprtree.Less, boolean, rest, zero), b.node(exprtree.Less, boolean, y, zero))
	apart := b.node(exprtree.AndStrict, boolean, b.node(exprtree.NotEqual, boolean, rest, zero), signs)
	if divided.Op == exprtree.Remainder {
		return b.node(exprtree.IfElse, t, apart, b.node(exprtree.Add, t, rest, y), rest)
	}
	less := b.node(exprtree.Subtract, t, divided, number(t, 1))
	return b.node(exprtree.IfElse, t, apart, less, divided)
}

// number is a literal of a type of numbers.
func number(t arrow.DataType, value int) *exprtree.Node {
	literal, err := literalNode(value, t)
	if err != nil {
		panic(err) // every type of numbers holds 0 and 1
	}
	return literal
}

// lengthQuotient binds the quotients of a duration. They are computed on its units.
func (b *binder) lengthQuotient(op exprtree.Op, operands []operand, types []arrow.DataType, undefined func() error) (*exprtree.Node, error) {
	span, divisor := types[0], types[1]
	byLength := isLength(divisor)
	if byLength {
		span = &arrow.DurationType{Unit: exprtree.Finest(span, divisor)}
		divisor = span
	} else if kind := exprtree.KindOf(divisor); op == floorRemainder || !isCount(divisor) && !kind.IsFloat() && kind != exprtree.Decimal {
		return nil, undefined()
	}
	units, err := b.as(operands[0], span)
	if err != nil {
		return nil, err
	}
	by, err := b.as(operands[1], divisor)
	if err != nil {
		return nil, err
	}
	units = b.cast(units, int64Type)
	if byLength || isCount(divisor) {
		by = b.cast(by, int64Type)
	}
	switch {
	case byLength && op == trueDivide:
		return b.node(exprtree.Divide, float64Type, b.cast(units, float64Type), b.cast(by, float64Type)), nil
	case byLength && op == floorDivide:
		return b.floored(b.node(exprtree.Divide, int64Type, units, by)), nil
	case byLength:
		return b.reinterpreted(b.floored(b.node(exprtree.Remainder, int64Type, units, by)), span), nil
	}
	return b.reinterpreted(b.wholeUnits(op, units, by), span), nil
}

// wholeUnits returns the quotient of the units of a duration and a number as int64.
func (b *binder) wholeUnits(op exprtree.Op, units, by *exprtree.Node) *exprtree.Node {
	switch whole := isCount(by.Type); {
	case whole && op == trueDivide:
		return b.node(exprtree.Divide, int64Type, units, by)
	case whole:
		return b.floored(b.node(exprtree.Divide, int64Type, units, by))
	}
	rounding := exprtree.Truncate
	if op == floorDivide {
		rounding = exprtree.Floor
	}
	divided := b.node(exprtree.Divide, float64Type, b.cast(units, float64Type), b.cast(by, float64Type))
	return b.cast(b.node(rounding, float64Type, divided), int64Type)
}

// mostDigits limits the digits of RoundDigits, so that a float64 holds their power of ten.
const mostDigits = 300

// roundDigits is round(e · 10ⁿ) / 10ⁿ. A float without digits behind n stays as it is, which
// keeps the product from overflowing.
func (b *binder) roundDigits(operands []operand) (*exprtree.Node, error) {
	digits := operands[1].open.value.(int)
	if d, ok := operands[0].typeOf().(*arrow.Decimal128Type); ok {
		return b.roundDecimal(operands[0], d, digits)
	}
	if digits < -mostDigits || digits > mostDigits {
		return nil, fmt.Errorf("%d digits, they have to be %d to %d: %w", digits, -mostDigits, mostDigits, ErrLiteral)
	}
	whole, err := b.floats(exprtree.Round, operands[:1])
	if err != nil || digits == 0 {
		return whole, err
	}
	t, value := whole.Type, b.cast(whole.Arguments[0], float64Type)
	power := &exprtree.Node{Op: exprtree.Literal, Type: float64Type, Value: math.Pow10(max(digits, -digits))}
	there, back := exprtree.Multiply, exprtree.Divide
	if digits < 0 {
		there, back = back, there
	}
	scaled := b.node(there, float64Type, value, power)
	limit := &exprtree.Node{Op: exprtree.Literal, Type: float64Type, Value: float64(1 << 52)} // above are whole numbers only
	rounded := b.node(back, float64Type, b.node(exprtree.Round, float64Type, scaled), power)
	short := b.node(exprtree.Less, boolean, b.node(exprtree.Abs, float64Type, scaled), limit)
	return b.cast(b.node(exprtree.IfElse, float64Type, short, rounded, value), t), nil
}

// roundDecimal is a cast to a decimal of the digits behind the point. Digits before it are rounded as
// those behind it of a decimal that is smaller by their power of ten.
func (b *binder) roundDecimal(o operand, t *arrow.Decimal128Type, digits int) (*exprtree.Node, error) {
	before := -min(digits, 0)
	if badDecimal(t) || before > 0 && before >= maximumPrecision-int(t.Scale) {
		return nil, fmt.Errorf("%v to %d digits, expected more than %d: %w", t, digits, int(t.Scale)-maximumPrecision, ErrType)
	}
	x, err := b.alone(o)
	if err != nil || digits >= int(t.Scale) {
		return x, err
	}
	to := decimalOf(max(t.Precision-t.Scale, 0)+int32(digits+before)+1, int32(digits+before))
	if before == 0 {
		return b.cast(x, to), nil
	}
	unit := func(precision, scale int, value int64) *exprtree.Node {
		return &exprtree.Node{Op: exprtree.Literal, Type: decimalOf(int32(precision), int32(scale)), Value: decimal128.FromI64(value)}
	}
	small := b.node(exprtree.Multiply, decimalOf(maximumPrecision, t.Scale+int32(before)), x, unit(before, before, 1))
	whole := b.cast(small, decimalOf(maximumPrecision, 0))
	power, err := literalNode(powerOfTen(int32(before)).String(), decimalOf(int32(before)+1, 0))
	if err != nil {
		return nil, err
	}
	return b.cast(b.node(exprtree.Multiply, decimalOf(maximumPrecision, 0), whole, power), to), nil
}
