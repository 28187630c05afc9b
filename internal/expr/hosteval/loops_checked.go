package hosteval

import (
	"math"
	"unsafe"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// The loops of operations that give null for some values. They compute at most 64 rows
// and return a bit per row: 0 for null.

// divideEachInteger gives null for a zero divisor. The lowest integer by -1 wraps
// around, as in Go.
func divideEachInteger[T integer](to, x, y []T) (valid uint64) {
	for i := range to {
		if y[i] != 0 {
			to[i] = x[i] / y[i]
			valid |= 1 << i
		}
	}
	return valid
}

func remainderEach[T integer](to, x, y []T) (valid uint64) {
	for i := range to {
		if y[i] != 0 {
			to[i] = x[i] % y[i]
			valid |= 1 << i
		}
	}
	return valid
}

// addEachTime gives null for a sum beyond 64 bits: both operands have the other sign.
func addEachTime(to, x, y []int64) (valid uint64) {
	for i := range to {
		to[i] = x[i] + y[i]
		valid |= uint64(bit(^(x[i]^y[i])&(x[i]^to[i]) >= 0)) << i
	}
	return valid
}

// subtractEachTime gives null for a difference beyond 64 bits.
func subtractEachTime(to, x, y []int64) (valid uint64) {
	for i := range to {
		to[i] = x[i] - y[i]
		valid |= uint64(bit((x[i]^y[i])&(x[i]^to[i]) >= 0)) << i
	}
	return valid
}

// multiplyEachTime gives null for a product beyond 64 bits.
func multiplyEachTime(to, x, y []int64) (valid uint64) {
	for i := range to {
		product, fits := scaleAndAdd(x[i], y[i], 0)
		to[i] = product
		valid |= uint64(bit(fits)) << i
	}
	return valid
}

// divideEachTime gives null for a zero divisor, and for the lowest integer by -1.
func divideEachTime(to, x, y []int64) (valid uint64) {
	for i := range to {
		if y[i] != 0 && (x[i] != math.MinInt64 || y[i] != -1) {
			to[i] = x[i] / y[i]
			valid |= 1 << i
		}
	}
	return valid
}

// shiftLeftEach gives null for a distance that is negative, or at least the width.
func shiftLeftEach[T integer](to, x, y []T) (valid uint64) {
	for i := range to {
		to[i] = x[i] << uint64(y[i])
		valid |= uint64(bit(uint64(y[i]) < bitsOf[T]())) << i
	}
	return valid
}

func shiftRightEach[T integer](to, x, y []T) (valid uint64) {
	for i := range to {
		to[i] = x[i] >> uint64(y[i])
		valid |= uint64(bit(uint64(y[i]) < bitsOf[T]())) << i
	}
	return valid
}

func bitsOf[T integer]() uint64 {
	var value T
	return uint64(8 * unsafe.Sizeof(value))
}

// narrowEach casts 64-bit integers. A value is out of range if it differs after the conversion
// back, or changes its sign.
func narrowEach[R, T integer](to []R, x []T) (valid uint64) {
	for i := range to {
		from := x[i]
		r := R(from)
		to[i] = r
		valid |= uint64(bit(T(r) == from)&bit((r < 0) == (from < 0))) << i
	}
	return valid
}

// widened returns the loop for integers of a kind, or float32, from the loop for 64-bit
// values.
func widened(from exprtree.Kind, loop checkedUnaryLoop) checkedUnaryLoop {
	if from.Bits() == 64 {
		return loop
	}
	widen := map[exprtree.Kind]unaryLoop{
		exprtree.Int8: unary(convertEach[int64, int8]), exprtree.Uint8: unary(convertEach[uint64, uint8]),
		exprtree.Int16: unary(convertEach[int64, int16]), exprtree.Uint16: unary(convertEach[uint64, uint16]),
		exprtree.Int32: unary(convertEach[int64, int32]), exprtree.Uint32: unary(convertEach[uint64, uint32]),
		exprtree.Float32: unary(convertEach[float64, float32]),
	}[from]
	width := from.Bits() / 8
	var wide [64]uint64
	return func(to, x []byte) uint64 {
		room := address.BytesOf(wide[:len(x)/width])
		widen(room, x)
		return loop(to, room)
	}
}

// eachChecked returns the loop of a function that reports whether it has a result.
func eachChecked[R, T any](f func(T) (R, bool)) checkedUnaryLoop {
	return checkedUnary(func(to []R, x []T) (valid uint64) {
		for i := range to {
			var ok bool
			to[i], ok = f(x[i])
			valid |= uint64(bit(ok)) << i
		}
		return valid
	})
}
