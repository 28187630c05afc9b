package hosteval

import (
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

// arithmetic does what has no compute function, or one with other rules. It returns
// nil for what it does not know.
func (e *evaluation) arithmetic(n *tree.Node) arrow.Array {
	switch n.Arguments[0].Kind() {
	case tree.Int8:
		return integers[int8](e, n)
	case tree.Int16:
		return integers[int16](e, n)
	case tree.Int32:
		return integers[int32](e, n)
	case tree.Int64:
		return integers[int64](e, n)
	case tree.Uint8:
		return integers[uint8](e, n)
	case tree.Uint16:
		return integers[uint16](e, n)
	case tree.Uint32:
		return integers[uint32](e, n)
	case tree.Uint64:
		return integers[uint64](e, n)
	case tree.Float32:
		return floats[float32](e, n)
	case tree.Float64:
		return floats[float64](e, n)
	case tree.Decimal:
		return e.decimals(n)
	}
	return nil
}

func unary[T, R number](e *evaluation, n *tree.Node, f func(T) R) arrow.Array {
	x := laneOf[T](e, n.Arguments[0])
	return build(e, n.Type, func(i int) (R, bool) {
		if !x.ok(i) {
			return 0, false
		}
		return f(x.at(i)), true
	})
}

func binary[T number](e *evaluation, n *tree.Node, f func(x, y T) (T, bool)) arrow.Array {
	x, y := laneOf[T](e, n.Arguments[0]), laneOf[T](e, n.Arguments[1])
	return build(e, n.Type, func(i int) (T, bool) {
		if !x.ok(i) || !y.ok(i) {
			return 0, false
		}
		return f(x.at(i), y.at(i))
	})
}

func integers[T integer](e *evaluation, n *tree.Node) arrow.Array {
	var width T
	bits := uint64(8 * unsafe.Sizeof(width))
	switch n.Op {
	case tree.Add:
		return binary(e, n, func(x, y T) (T, bool) { return x + y, true })
	case tree.Subtract:
		return binary(e, n, func(x, y T) (T, bool) { return x - y, true })
	case tree.Multiply:
		return binary(e, n, func(x, y T) (T, bool) { return x * y, true })
	case tree.Divide: // Go has the lowest integer by -1 wrap around
		return binary(e, n, func(x, y T) (T, bool) {
			if y == 0 {
				return 0, false
			}
			return x / y, true
		})
	case tree.Remainder:
		return binary(e, n, func(x, y T) (T, bool) {
			if y == 0 {
				return 0, false
			}
			return x % y, true
		})
	case tree.Negate:
		return unary(e, n, func(x T) T { return -x })
	case tree.Abs:
		return unary(e, n, func(x T) T {
			if x < 0 {
				return -x
			}
			return x
		})
	case tree.Sign:
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
	case tree.BitAnd:
		return binary(e, n, func(x, y T) (T, bool) { return x & y, true })
	case tree.BitOr:
		return binary(e, n, func(x, y T) (T, bool) { return x | y, true })
	case tree.BitXor:
		return binary(e, n, func(x, y T) (T, bool) { return x ^ y, true })
	case tree.BitNot:
		return unary(e, n, func(x T) T { return ^x })
	case tree.ShiftLeft:
		return binary(e, n, func(x, y T) (T, bool) { return x << uint64(y), y >= 0 && uint64(y) < bits })
	case tree.ShiftRight:
		return binary(e, n, func(x, y T) (T, bool) { return x >> uint64(y), y >= 0 && uint64(y) < bits })
	}
	return nil
}

func floats[T float](e *evaluation, n *tree.Node) arrow.Array {
	two := func(f func(x, y float64) float64) arrow.Array {
		return binary(e, n, func(x, y T) (T, bool) { return T(f(float64(x), float64(y))), true })
	}
	one := func(f func(x float64) float64) arrow.Array {
		return unary(e, n, func(x T) T { return T(f(float64(x))) })
	}
	switch n.Op {
	case tree.Add:
		return binary(e, n, func(x, y T) (T, bool) { return x + y, true })
	case tree.Subtract:
		return binary(e, n, func(x, y T) (T, bool) { return x - y, true })
	case tree.Multiply:
		return binary(e, n, func(x, y T) (T, bool) { return x * y, true })
	case tree.Divide:
		return binary(e, n, func(x, y T) (T, bool) { return x / y, true })
	case tree.Remainder:
		return two(math.Mod) // of float32 too the remainder is exact
	case tree.Power:
		return two(power)
	case tree.Negate:
		return unary(e, n, func(x T) T { return -x })
	case tree.Sign:
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
var functions = map[tree.Op]func(float64) float64{
	tree.Abs: math.Abs, tree.Sqrt: math.Sqrt, tree.Exp: exponential, tree.Log: logarithm, tree.Sin: sine, tree.Cos: cosine,
	tree.Floor: math.Floor, tree.Ceil: math.Ceil, tree.Truncate: math.Trunc, tree.Round: math.RoundToEven,
}

// logarithm is math.Log, which takes no subnormal numbers on some processors.
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p60) - 60*math.Ln2
	}
	return math.Log(x)
}
