package hosteval

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/function"
)

// arithmetic computes operations on numbers and decimals. It returns nil for an
// operation that the kind does not support.
func (e *evaluation) arithmetic(n *exprtree.Node) arrow.Array {
	kind := n.Arguments[0].Kind()
	if n.IsTimeArithmetic() {
		return e.timeArithmetic(n)
	}
	if kind.IsInteger() {
		if result := e.wrapping(n, kind.Bits()); result != nil {
			return result
		}
	}
	switch {
	case kind.IsNumber():
		return numbersOf(kind).arithmetic(e, n)
	case kind == exprtree.Decimal:
		return e.decimals(n)
	}
	return nil
}

// timeArithmetic computes on the 64-bit integers of times, with null for what they do not hold.
func (e *evaluation) timeArithmetic(n *exprtree.Node) arrow.Array {
	switch n.Op {
	case exprtree.Add:
		return e.checkedBinary(n, checkedBinary(addEachTime))
	case exprtree.Subtract:
		return e.checkedBinary(n, checkedBinary(subtractEachTime))
	case exprtree.Multiply:
		return e.checkedBinary(n, checkedBinary(multiplyEachTime))
	case exprtree.Divide:
		return e.checkedBinary(n, checkedBinary(divideEachTime))
	case exprtree.Abs:
		return e.checkedUnary(n, eachChecked(func(x int64) (int64, bool) { return max(x, -x), x != math.MinInt64 }))
	}
	return e.checkedUnary(n, eachChecked(func(x int64) (int64, bool) { return -x, x != math.MinInt64 }))
}

func (e *evaluation) wrapping(n *exprtree.Node, bits int) arrow.Array {
	switch bits {
	case 8:
		return wrapping[uint8](e, n)
	case 16:
		return wrapping[uint16](e, n)
	case 32:
		return wrapping[uint32](e, n)
	}
	return wrapping[uint64](e, n)
}

// wrapping computes, on unsigned integers, the operations with the same bits for signed
// and unsigned integers. It returns nil for others.
func wrapping[T integer](e *evaluation, n *exprtree.Node) arrow.Array {
	switch n.Op {
	case exprtree.Add:
		return e.binary(n, binary(addEach[T]))
	case exprtree.Subtract:
		return e.binary(n, binary(subtractEach[T]))
	case exprtree.Multiply:
		return e.binary(n, binary(multiplyEach[T]))
	case exprtree.Negate:
		return e.unary(n, unary(negateEach[T]))
	case exprtree.BitAnd:
		return e.binary(n, binary(bitAndEach[T]))
	case exprtree.BitOr:
		return e.binary(n, binary(bitOrEach[T]))
	case exprtree.BitXor:
		return e.binary(n, binary(bitXorEach[T]))
	case exprtree.BitNot:
		return e.unary(n, unary(bitNotEach[T]))
	case exprtree.ShiftLeft:
		return e.checkedBinary(n, checkedBinary(shiftLeftEach[T]))
	}
	return nil
}

func integers[T integer](e *evaluation, n *exprtree.Node) arrow.Array {
	switch n.Op {
	case exprtree.Divide:
		return e.checkedBinary(n, checkedBinary(divideEachInteger[T]))
	case exprtree.Remainder:
		return e.checkedBinary(n, checkedBinary(remainderEach[T]))
	case exprtree.Abs:
		return e.unary(n, unary(absEachInteger[T]))
	case exprtree.Sign:
		return e.unary(n, unary(signEachInteger[T]))
	case exprtree.ShiftRight:
		return e.checkedBinary(n, checkedBinary(shiftRightEach[T]))
	}
	f := n.Op.Function()
	switch t := (function.Type{Bits: n.Kind().Bits(), Signed: n.Kind().IsSigned()}); {
	case f == nil:
		return nil
	case f.Integer != nil:
		return e.unary(n, functionOfInteger[T](t, f.Integer))
	case f.Integers != nil:
		return e.binary(n, functionOfIntegers[T](t, f.Integers))
	}
	return nil
}

func floats[T float](e *evaluation, n *exprtree.Node) arrow.Array {
	switch n.Op {
	case exprtree.Add:
		return e.binary(n, binary(addEach[T]))
	case exprtree.Subtract:
		return e.binary(n, binary(subtractEach[T]))
	case exprtree.Multiply:
		return e.binary(n, binary(multiplyEach[T]))
	case exprtree.Divide:
		return e.binary(n, binary(divideEach[T]))
	case exprtree.Remainder:
		return e.binary(n, functionOfTwo[T](math.Mod)) // exact for float32 too
	case exprtree.Power:
		return e.binary(n, functionOfTwo[T](power))
	case exprtree.Negate:
		return e.unary(n, unary(negateEach[T]))
	case exprtree.Abs:
		return e.unary(n, unary(absEachFloat[T]))
	case exprtree.Sign:
		return e.unary(n, unary(signEachFloat[T]))
	case exprtree.Floor:
		return e.unary(n, unary(floorEach[T]))
	case exprtree.Ceil:
		return e.unary(n, unary(ceilEach[T]))
	case exprtree.Truncate:
		return e.unary(n, unary(truncateEach[T]))
	case exprtree.Round:
		return e.unary(n, unary(roundEach[T]))
	case exprtree.Sqrt:
		return e.unary(n, unary(sqrtEach[T]))
	case exprtree.Exp:
		return e.unary(n, functionOf[T](exponential))
	case exprtree.Log:
		return e.unary(n, functionOf[T](logarithm))
	case exprtree.Sin:
		return e.unary(n, functionOf[T](sine))
	case exprtree.Cos:
		return e.unary(n, functionOf[T](cosine))
	}
	switch f := n.Op.Function(); {
	case f == nil:
		return nil
	case f.Float != nil:
		return e.unary(n, functionOf[T](f.Float))
	case f.Floats != nil:
		return e.binary(n, functionOfTwo[T](f.Floats))
	}
	return nil
}

// logarithm is math.Log with a correction for subnormal numbers, for which math.Log is
// wrong on some processors.
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p60) - 60*math.Ln2
	}
	return math.Log(x)
}
