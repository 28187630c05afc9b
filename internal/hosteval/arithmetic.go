package hosteval

import (
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// arithmetic computes numbers and decimals from one another. It returns nil for an
// operation that the kind does not have.
func (e *evaluation) arithmetic(n *exprtree.Node) arrow.Array {
	switch n.Arguments[0].Kind() {
	case exprtree.Int8:
		return integers[int8](e, n)
	case exprtree.Int16:
		return integers[int16](e, n)
	case exprtree.Int32:
		return integers[int32](e, n)
	case exprtree.Int64:
		return integers[int64](e, n)
	case exprtree.Uint8:
		return integers[uint8](e, n)
	case exprtree.Uint16:
		return integers[uint16](e, n)
	case exprtree.Uint32:
		return integers[uint32](e, n)
	case exprtree.Uint64:
		return integers[uint64](e, n)
	case exprtree.Float32:
		return floats[float32](e, n)
	case exprtree.Float64:
		return floats[float64](e, n)
	case exprtree.Decimal:
		return e.decimals(n)
	}
	return nil
}

// unaryOf computes an operation of one operand, whose null rows are left out.
func unaryOf[T, R number](e *evaluation, n *exprtree.Node, f func(T) R) arrow.Array {
	x := laneOf[T](e, n.Arguments[0])
	return build(e, n.Type, func(i int) (R, bool) {
		if !x.ok(i) {
			return 0, false
		}
		return f(x.at(i)), true
	})
}

// binaryOf computes an operation of two operands that can give null for values.
func binaryOf[T number](e *evaluation, n *exprtree.Node, f func(x, y T) (T, bool)) arrow.Array {
	x, y := laneOf[T](e, n.Arguments[0]), laneOf[T](e, n.Arguments[1])
	return build(e, n.Type, func(i int) (T, bool) {
		if !x.ok(i) || !y.ok(i) {
			return 0, false
		}
		return f(x.at(i), y.at(i))
	})
}

func integers[T integer](e *evaluation, n *exprtree.Node) arrow.Array {
	var width T
	bits := uint64(8 * unsafe.Sizeof(width))
	switch n.Op {
	case exprtree.Add:
		return zipped(e, n, addEach[T])
	case exprtree.Subtract:
		return zipped(e, n, subtractEach[T])
	case exprtree.Multiply:
		return zipped(e, n, multiplyEach[T])
	case exprtree.Divide: // in Go too the lowest integer by -1 wraps around
		return binaryOf(e, n, func(x, y T) (T, bool) {
			if y == 0 {
				return 0, false
			}
			return x / y, true
		})
	case exprtree.Remainder:
		return binaryOf(e, n, func(x, y T) (T, bool) {
			if y == 0 {
				return 0, false
			}
			return x % y, true
		})
	case exprtree.Negate:
		return mapped(e, n, negateEach[T])
	case exprtree.Abs:
		return mapped(e, n, absEachInteger[T])
	case exprtree.Sign:
		return unaryOf(e, n, func(x T) T {
			switch {
			case x > 0:
				return 1
			case x < 0:
				var zero T
				return zero - 1
			}
			return 0
		})
	case exprtree.BitAnd:
		return zipped(e, n, bitAndEach[T])
	case exprtree.BitOr:
		return zipped(e, n, bitOrEach[T])
	case exprtree.BitXor:
		return zipped(e, n, bitXorEach[T])
	case exprtree.BitNot:
		return mapped(e, n, bitNotEach[T])
	case exprtree.ShiftLeft:
		return binaryOf(e, n, func(x, y T) (T, bool) { return x << uint64(y), y >= 0 && uint64(y) < bits })
	case exprtree.ShiftRight:
		return binaryOf(e, n, func(x, y T) (T, bool) { return x >> uint64(y), y >= 0 && uint64(y) < bits })
	}
	return nil
}

func floats[T float](e *evaluation, n *exprtree.Node) arrow.Array {
	two := func(f func(x, y float64) float64) arrow.Array {
		return binaryOf(e, n, func(x, y T) (T, bool) { return T(f(float64(x), float64(y))), true })
	}
	one := func(f func(x float64) float64) arrow.Array {
		return unaryOf(e, n, func(x T) T { return T(f(float64(x))) })
	}
	switch n.Op {
	case exprtree.Add:
		return zipped(e, n, addEach[T])
	case exprtree.Subtract:
		return zipped(e, n, subtractEach[T])
	case exprtree.Multiply:
		return zipped(e, n, multiplyEach[T])
	case exprtree.Divide:
		return zipped(e, n, divideEach[T])
	case exprtree.Remainder:
		return two(math.Mod) // the remainder of float32 is exact too
	case exprtree.Negate:
		return mapped(e, n, negateEach[T])
	case exprtree.Abs:
		return mapped(e, n, absEachFloat[T])
	case exprtree.Sign:
		return unaryOf(e, n, func(x T) T {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return x // zeros and NaN
		})
	case exprtree.Floor:
		return mapped(e, n, floorEach[T])
	case exprtree.Ceil:
		return mapped(e, n, ceilEach[T])
	case exprtree.Truncate:
		return mapped(e, n, truncateEach[T])
	case exprtree.Round:
		return mapped(e, n, roundEach[T])
	case exprtree.Sqrt:
		return mapped(e, n, sqrtEach[T])
	case exprtree.Exp:
		return one(exponential)
	case exprtree.Log:
		return one(logarithm)
	case exprtree.Sin:
		return one(sine)
	case exprtree.Cos:
		return one(cosine)
	case exprtree.Power:
		return two(power)
	}
	return nil
}

// logarithm is math.Log, which is wrong for subnormal numbers on some processors.
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p60) - 60*math.Ln2
	}
	return math.Log(x)
}
