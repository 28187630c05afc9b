package exprtest

import (
	"math"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/function"
)

// whole returns an integer as a big one.
func whole(x any) *big.Int {
	switch x := x.(type) {
	case int64:
		return big.NewInt(x)
	case uint64:
		return new(big.Int).SetUint64(x)
	case *big.Int:
		return x
	}
	return nil
}

// wrap returns the low bits of an integer as a value of the type.
func wrap(x *big.Int, t arrow.DataType) any {
	kind := exprtree.KindOf(t)
	size := new(big.Int).Lsh(big.NewInt(1), uint(kind.Bits()))
	low := new(big.Int).Mod(x, size)
	if kind.IsUnsigned() {
		return low.Uint64()
	}
	if low.Bit(kind.Bits()-1) == 1 {
		low.Sub(low, size)
	}
	return low.Int64()
}

// within returns an integer as a value of the type, or nil if it is out of range.
func within(x *big.Int, t arrow.DataType) any {
	wrapped := wrap(x, t)
	if whole(wrapped).Cmp(x) != 0 {
		return nil
	}
	return wrapped
}

// low64 returns the low 64 bits of an integer; its sign extends it.
func low64(x *big.Int) uint64 {
	return new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// integerResult computes without bounds; it returns nil for null.
func integerResult(n *exprtree.Node, x, y *big.Int) *big.Int {
	result := new(big.Int)
	switch n.Op {
	case exprtree.Add:
		return result.Add(x, y)
	case exprtree.Subtract:
		return result.Sub(x, y)
	case exprtree.Multiply:
		return result.Mul(x, y)
	case exprtree.Divide, exprtree.Remainder:
		switch {
		case y.Sign() == 0:
			return nil
		case n.Op == exprtree.Divide:
			return result.Quo(x, y)
		}
		return result.Rem(x, y)
	case exprtree.Negate:
		return result.Neg(x)
	case exprtree.Abs:
		return result.Abs(x)
	case exprtree.Sign:
		return big.NewInt(int64(x.Sign()))
	case exprtree.BitAnd:
		return result.And(x, y)
	case exprtree.BitOr:
		return result.Or(x, y)
	case exprtree.BitXor:
		return result.Xor(x, y)
	case exprtree.BitNot:
		return result.Not(x)
	case exprtree.ShiftLeft, exprtree.ShiftRight:
		if y.Sign() < 0 || y.Cmp(big.NewInt(int64(n.Kind().Bits()))) >= 0 {
			return nil
		}
		if n.Op == exprtree.ShiftLeft {
			return result.Lsh(x, uint(y.Uint64()))
		}
		return result.Rsh(x, uint(y.Uint64()))
	}
	if f := n.Op.Function(); f != nil {
		integer := function.Type{Bits: n.Kind().Bits(), Signed: n.Kind().IsSigned()}
		if f.Integer != nil {
			return result.SetUint64(f.Integer(integer, low64(x)))
		}
		return result.SetUint64(f.Integers(integer, low64(x), low64(y)))
	}
	panic("no integer operation: " + n.Op.String())
}

// floatResult computes in float64.
func floatResult(op exprtree.Op, x float64, other any) float64 {
	y, _ := other.(float64)
	switch op {
	case exprtree.Add:
		return x + y
	case exprtree.Subtract:
		return x - y
	case exprtree.Multiply:
		return x * y
	case exprtree.Divide:
		return x / y
	case exprtree.Remainder:
		return math.Mod(x, y)
	case exprtree.Negate:
		return -x
	case exprtree.Abs:
		return math.Abs(x)
	case exprtree.Sign:
		if x == 0 || math.IsNaN(x) {
			return x
		}
		return math.Copysign(1, x)
	case exprtree.Power:
		return Pow(x, y)
	case exprtree.Sqrt:
		return math.Sqrt(x)
	case exprtree.Exp:
		return Exp(x)
	case exprtree.Log:
		return Log(x)
	case exprtree.Sin:
		return Sin(x)
	case exprtree.Cos:
		return Cos(x)
	case exprtree.Floor:
		return math.Floor(x)
	case exprtree.Ceil:
		return math.Ceil(x)
	case exprtree.Truncate:
		return math.Trunc(x)
	case exprtree.Round:
		return math.RoundToEven(x)
	}
	if f := op.Function(); f != nil {
		if f.Float != nil {
			return f.Float(x)
		}
		return f.Floats(x, y)
	}
	panic("no float operation: " + op.String())
}

// round rounds a float to the type.
func round(t arrow.DataType, x float64) float64 {
	if t.ID() == arrow.FLOAT32 {
		return float64(float32(x))
	}
	return x
}

func powerOfTen(exponent int32) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}

// decimalWithin returns an unscaled value, or nil if it has too many digits.
func decimalWithin(x *big.Int, t *arrow.Decimal128Type) any {
	if new(big.Int).Abs(x).Cmp(powerOfTen(t.Precision)) >= 0 {
		return nil
	}
	return x
}

func decimalResult(n *exprtree.Node, x *big.Int, other any) any {
	y, _ := other.(*big.Int)
	result := new(big.Int)
	switch n.Op {
	case exprtree.Negate:
		return result.Neg(x)
	case exprtree.Abs:
		return result.Abs(x)
	case exprtree.Sign:
		return int64(x.Sign())
	case exprtree.Add:
		result.Add(x, y)
	case exprtree.Subtract:
		result.Sub(x, y)
	case exprtree.Multiply:
		result.Mul(x, y)
	default:
		panic("no decimal operation: " + n.Op.String())
	}
	return decimalWithin(result, n.Type.(*arrow.Decimal128Type))
}
