package hosteval

import (
	"math"

	"github.com/gpuframe/gpuframe/internal/expr/function"
)

// The loops of operations without null results for valid operands. All slices of a call
// have the same length. The compiler makes one loop per type, because calling a
// function for each row would take longer than the computation.

func addEach[T number](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] + y[i]
	}
}

func subtractEach[T number](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] - y[i]
	}
}

func multiplyEach[T number](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] * y[i]
	}
}

func divideEach[T float](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] / y[i]
	}
}

func bitAndEach[T integer](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] & y[i]
	}
}

func bitOrEach[T integer](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] | y[i]
	}
}

func bitXorEach[T integer](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] ^ y[i]
	}
}

func bitNotEach[T integer](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = ^x[i]
	}
}

func negateEach[T number](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = -x[i]
	}
}

func absEachInteger[T integer](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		value := x[i]
		if value < 0 {
			value = -value
		}
		to[i] = value
	}
}

func absEachFloat[T float](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = T(math.Abs(float64(x[i])))
	}
}

// sqrtEach computes in float64. Rounding the result to float32 again is also correctly
// rounded. The functions below do the same.
func sqrtEach[T float](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = T(math.Sqrt(float64(x[i])))
	}
}

func floorEach[T float](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = T(math.Floor(float64(x[i])))
	}
}

func ceilEach[T float](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = T(math.Ceil(float64(x[i])))
	}
}

func truncateEach[T float](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = T(math.Trunc(float64(x[i])))
	}
}

func roundEach[T float](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = T(math.RoundToEven(float64(x[i])))
	}
}

// convertEach converts by Go's rules: integers keep their low bits, and floats round to
// nearest even.
func convertEach[R, T number](to []R, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = R(x[i])
	}
}

// functionOf returns the loop of a function of float64. Its result is rounded to T.
func functionOf[T float](f func(x float64) float64) unaryLoop {
	return unary(func(to, x []T) {
		for i := range to {
			to[i] = T(f(float64(x[i])))
		}
	})
}

// functionOfTwo is functionOf for two operands.
func functionOfTwo[T float](f func(x, y float64) float64) binaryLoop {
	return binary(func(to, x, y []T) {
		for i := range to {
			to[i] = T(f(float64(x[i]), float64(y[i])))
		}
	})
}

// functionOfInteger returns the loop of a registered function of integers.
func functionOfInteger[T integer](t function.Type, f func(t function.Type, x uint64) uint64) unaryLoop {
	return unary(func(to, x []T) {
		for i := range to {
			to[i] = T(f(t, uint64(x[i])))
		}
	})
}

// functionOfIntegers is functionOfInteger for two operands.
func functionOfIntegers[T integer](t function.Type, f func(t function.Type, x, y uint64) uint64) binaryLoop {
	return binary(func(to, x, y []T) {
		for i := range to {
			to[i] = T(f(t, uint64(x[i]), uint64(y[i])))
		}
	})
}

func signEachInteger[T integer](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = T(bit(x[i] > 0)) - T(bit(x[i] < 0))
	}
}

// signEachFloat returns zeros and NaN unchanged.
func signEachFloat[T float](to, x []T) {
	x = x[:len(to)]
	for i := range to {
		to[i] = x[i]
		switch {
		case x[i] > 0:
			to[i] = 1
		case x[i] < 0:
			to[i] = -1
		}
	}
}
