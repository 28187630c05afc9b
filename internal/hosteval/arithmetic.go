package hosteval

import (
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// arithmetic does what has no compute function, or one with other rules. It returns
// nil for what it does not know.
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

func unary[T, R number](e *evaluation, n *exprtree.Node, f func(T) R) arrow.Array {
	x := laneOf[T](e, n.Arguments[0])
	return build(e, n.Type, func(i int) (R, bool) {
		if !x.ok(i) {
			return 0, false
		}
		return f(x.at(i)), true
	})
}

func binary[T number](e *evaluation, n *exprtree.Node, f func(x, y T) (T, bool)) arrow.Array {
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
		return binary(e, n, func(x, y T) (T, bool) { return x + y, true })
	case exprtree.Subtract:
		return binary(e, n, func(x, y T) (T, bool) { return x - y, true })
	case exprtree.Multiply:
		return binary(e, n, func(x, y T) (T, bool) { return x * y, true })
	case exprtree.Divide: // Go has the lowest integer by -1 wrap around
		return binary(e, n, func(x, y T) (T, bool) {
			if y == 0 {
				return 0, false
			}
			return x / y, true
		})
	case exprtree.Remainder:
		return binary(e, n, func(x, y T) (T, bool) {
			if y == 0 {
				return 0, false
			}
			return x % y, true
		})
	case exprtree.Negate:
		return unary(e, n, func(x T) T { return -x })
	case exprtree.Abs:
		return unary(e, n, func(x T) T {
			if x < 0 {
				return -x
			}
			return x
		})
	case exprtree.Sign:
		return unary(e, n, func(x T) T {
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
		return binary(e, n, func(x, y T) (T, bool) { return x & y, true })
	case exprtree.BitOr:
		return binary(e, n, func(x, y T) (T, bool) { return x | y, true })
	case exprtree.BitXor:
		return binary(e, n, func(x, y T) (T, bool) { return x ^ y, true })
	case exprtree.BitNot:
		return unary(e, n, func(x T) T { return ^x })
	case exprtree.ShiftLeft:
		return binary(e, n, func(x, y T) (T, bool) { return x << uint64(y), y >= 0 && uint64(y) < bits })
	case exprtree.ShiftRight:
		return binary(e, n, func(x, y T) (T, bool) { return x >> uint64(y), y >= 0 && uint64(y) < bits })
	}
	return nil
}

func floats[T float](e *evaluation, n *exprtree.Node) arrow.Array {
	two := func(f func(x, y float64) float64) arrow.Array {
		return binary(e, n, func(x, y T) (T, bool) { return T(f(float64(x), float64(y))), true })
	}
	one := func(f func(x float64) float64) arrow.Array {
		return unary(e, n, func(x T) T { return T(f(float64(x))) })
	}
	switch n.Op {
	case exprtree.Add:
		return binary(e, n, func(x, y T) (T, bool) { return x + y, true })
	case exprtree.Subtract:
		return binary(e, n, func(x, y T) (T, bool) { return x - y, true })
	case exprtree.Multiply:
		return binary(e, n, func(x, y T) (T, bool) { return x * y, true })
	case exprtree.Divide:
		return binary(e, n, func(x, y T) (T, bool) { return x / y, true })
	case exprtree.Remainder:
		return two(math.Mod) // of float32 too the remainder is exact
	case exprtree.Power:
		return two(power)
	case exprtree.Negate:
		return unary(e, n, func(x T) T { return -x })
	case exprtree.Sign:
		return unary(e, n, func(x T) T {
			switch {
			case x > 0:
				return 1
			case x < 0:
				return -1
			}
			return x // zeros and NaN
		})
	}
	if f := functions[n.Op]; f != nil {
		return one(f)
	}
	return nil
}

// functions are those of one float. Sqrt of a float32 is correctly rounded too when
// that of the float64 is rounded again.
var functions = map[exprtree.Op]func(float64) float64{
	exprtree.Abs: math.Abs, exprtree.Sqrt: math.Sqrt, exprtree.Exp: exponential, exprtree.Log: logarithm, exprtree.Sin: sine, exprtree.Cos: cosine,
	exprtree.Floor: math.Floor, exprtree.Ceil: math.Ceil, exprtree.Truncate: math.Trunc, exprtree.Round: math.RoundToEven,
}

// logarithm is math.Log, which takes no subnormal numbers on some processors.
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p60) - 60*math.Ln2
	}
	return math.Log(x)
}
