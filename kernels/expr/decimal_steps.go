package expr

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// mayBeDecimal reports whether a part of an expression may be a step of decimals that the host computes: a division, or a
// cast between decimals and text or decimals of 256 bits.
func mayBeDecimal(n *node) bool {
	switch {
	case n.op == exprtree.Divide:
		return len(n.arguments) == 2
	case n.op != exprtree.Cast || n.to == nil || len(n.arguments) != 1:
		return false
	}
	switch n.to.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.DECIMAL128, arrow.DECIMAL256:
		return true
	}
	return false
}

// decimals returns the step for a part that is one of decimals.
func (a *apart) decimals(part, root Expr) (Expr, bool) {
	if a.err != nil || part.node == nil || !mayBeDecimal(part.node) {
		return Expr{}, false
	}
	if part.node.op == exprtree.Divide {
		return a.division(part, root)
	}
	operand := part.Operands()[0]
	from, ok := a.typeOfPart(operand, root)
	if !ok || !castsDecimals(from, part.node.to) {
		return Expr{}, false
	}
	if exprtree.KindOf(from) == exprtree.String && from.ID() == arrow.DICTIONARY {
		operand = Concat(operand)
	}
	return Apply(castDecimal{part.node.to}, operand), true
}

// typeOfPart returns the type of an operand. It is false if binding reports an error of it.
func (a *apart) typeOfPart(operand, root Expr) (arrow.DataType, bool) {
	replaced := a.replace(operand, root)
	if a.err != nil {
		return nil, false
	}
	t, _, err := typeOf(a.schema, replaced)
	return t, err == nil
}

// division returns the step of a division of decimals, or of a decimal and an integer.
func (a *apart) division(part, root Expr) (Expr, bool) {
	operands := part.Operands()
	var types [2]*arrow.Decimal128Type
	isDecimal := false
	for i, o := range operands {
		if literal, t, ok := decimalLiteral(o); ok {
			operands[i], types[i] = literal, t
			continue
		}
		t, ok := a.typeOfPart(o, root)
		if !ok {
			return Expr{}, false
		}
		isDecimal = isDecimal || exprtree.KindOf(t) == exprtree.Decimal
		if types[i], ok = asDecimal(t); !ok {
			return Expr{}, false // of floats, or binding reports the error
		}
	}
	if !isDecimal {
		return Expr{}, false
	}
	for i := range operands {
		operands[i] = operands[i].Cast(types[i])
	}
	return Apply(divideDecimals{Dividend: *types[0], Divisor: *types[1]}, operands...), true
}

// decimalLiteral returns an untyped number as a decimal that holds it.
func decimalLiteral(e Expr) (Expr, *arrow.Decimal128Type, bool) {
	if e.node == nil || !e.node.isOpen() {
		return Expr{}, nil, false
	}
	switch v := e.node.value.(type) {
	case int:
		text := strconv.Itoa(v)
		t := decimalOf(int32(len(strconv.FormatUint(magnitudeOf(int64(v)), 10))), 0)
		return LitOf(t, text), t, true
	case float64:
		if t, ok := decimalOfFloat(v); ok {
			return LitOf(t, strconv.FormatFloat(v, 'f', -1, 64)), t, true
		}
	}
	return Expr{}, nil, false
}

// magnitudeOf returns an integer without its sign.
func magnitudeOf(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// quotientType is the type of a quotient, the rule of Spark and SQL Server: the digits before the point that a quotient may
// have, and behind it those of the dividend and one for each digit of the divisor, at least 6. Of more than 38 digits, those
// behind the point become fewer, but not below 6.
func quotientType(dividend, divisor *arrow.Decimal128Type) *arrow.Decimal128Type {
	const fewest = 6
	ahead := dividend.Precision - dividend.Scale + divisor.Scale
	scale := max(fewest, dividend.Scale+divisor.Precision+1)
	if ahead+scale > maximumPrecision {
		scale = max(maximumPrecision-ahead, min(scale, fewest))
	}
	return decimalOf(ahead+scale, scale)
}

// refuseOperand is the error of an operand that a step of decimals does not take.
func refuseOperand(name string, t arrow.DataType) error {
	return fmt.Errorf("%s of %v: %w", name, t, ErrType)
}
