package hosteval

import (
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

func (e *evaluation) cast(n *exprtree.Node) arrow.Array {
	from := n.Arguments[0]
	if exprtree.IsTemporal(from.Type) && exprtree.IsTemporal(n.Type) {
		return e.castTemporal(n)
	}
	switch from.Kind() {
	case exprtree.Bool:
		return e.castBool(n)
	case exprtree.Decimal:
		return e.castDecimal(n)
	case exprtree.Int8:
		return castInteger[int8](e, n)
	case exprtree.Int16:
		return castInteger[int16](e, n)
	case exprtree.Int32:
		return castInteger[int32](e, n)
	case exprtree.Int64:
		return castInteger[int64](e, n)
	case exprtree.Uint8:
		return castInteger[uint8](e, n)
	case exprtree.Uint16:
		return castInteger[uint16](e, n)
	case exprtree.Uint32:
		return castInteger[uint32](e, n)
	case exprtree.Uint64:
		return castInteger[uint64](e, n)
	case exprtree.Float32:
		return castFloat[float32](e, n)
	}
	return castFloat[float64](e, n)
}

// converted makes an array of what convert returns for the operand's values.
func converted[T any, R number | decimal128.Num](e *evaluation, n *exprtree.Node, x lane[T], convert func(T) (R, bool)) arrow.Array {
	return build(e, n.Type, func(i int) (R, bool) {
		if !x.ok(i) {
			var none R
			return none, false
		}
		return convert(x.at(i))
	})
}

// toBool converts numbers to whether they are unequal to zero, which NaN is.
func toBool[T number](e *evaluation, n *exprtree.Node) arrow.Array {
	x := blocksOf[T](e, n.Arguments[0])
	zero := lane[T]{values: make([]T, min(e.rows, blockRows))}
	return compared(e, x, zero, notEqualEach[T])
}

// castBetween casts integers to one another.
func castBetween[T, R integer](e *evaluation, n *exprtree.Node) arrow.Array {
	if n.Op == exprtree.CastWrap || holdsAll[T, R]() {
		return mapped(e, n, convertEach[R, T])
	}
	return converted(e, n, laneOf[T](e, n.Arguments[0]), toInteger[T, R])
}

// holdsAll reports whether R holds every integer of T.
func holdsAll[T, R integer]() bool {
	var zero T
	lowest, highest := zero, zero-1
	if highest < 0 {
		lowest = 1 << (8*unsafe.Sizeof(zero) - 1)
		highest = ^lowest
	}
	_, low := toInteger[T, R](lowest)
	_, high := toInteger[T, R](highest)
	return low && high
}

func castInteger[T integer](e *evaluation, n *exprtree.Node) arrow.Array {
	switch n.Kind() {
	case exprtree.Bool:
		return toBool[T](e, n)
	case exprtree.Int8:
		return castBetween[T, int8](e, n)
	case exprtree.Int16:
		return castBetween[T, int16](e, n)
	case exprtree.Int32:
		return castBetween[T, int32](e, n)
	case exprtree.Int64:
		return castBetween[T, int64](e, n)
	case exprtree.Uint8:
		return castBetween[T, uint8](e, n)
	case exprtree.Uint16:
		return castBetween[T, uint16](e, n)
	case exprtree.Uint32:
		return castBetween[T, uint32](e, n)
	case exprtree.Uint64:
		return castBetween[T, uint64](e, n)
	case exprtree.Float32:
		return mapped(e, n, convertEach[float32, T])
	case exprtree.Float64:
		return mapped(e, n, convertEach[float64, T])
	}
	return converted(e, n, laneOf[T](e, n.Arguments[0]), func(v T) (decimal128.Num, bool) {
		m := magnitude{0, uint64(v)}
		if v < 0 {
			m.low = -m.low
		}
		m, ok := m.times(powers[scaleOf(n.Type)])
		return m.signed(v < 0), ok && m.fits(n.Type)
	})
}

// toInteger converts an integer, unless that changes its value: it does not come back
// the same, or changes its sign.
func toInteger[T, R integer](v T) (R, bool) {
	r := R(v)
	return r, T(r) == v && (r < 0) == (v < 0)
}

func castFloat[T float](e *evaluation, n *exprtree.Node) arrow.Array {
	x := laneOf[T](e, n.Arguments[0])
	wraps := n.Op == exprtree.CastWrap
	switch n.Kind() {
	case exprtree.Bool:
		return toBool[T](e, n)
	case exprtree.Int8:
		return converted(e, n, x, truncated[T, int8](wraps))
	case exprtree.Int16:
		return converted(e, n, x, truncated[T, int16](wraps))
	case exprtree.Int32:
		return converted(e, n, x, truncated[T, int32](wraps))
	case exprtree.Int64:
		return converted(e, n, x, truncated[T, int64](wraps))
	case exprtree.Uint8:
		return converted(e, n, x, truncated[T, uint8](wraps))
	case exprtree.Uint16:
		return converted(e, n, x, truncated[T, uint16](wraps))
	case exprtree.Uint32:
		return converted(e, n, x, truncated[T, uint32](wraps))
	case exprtree.Uint64:
		return converted(e, n, x, truncated[T, uint64](wraps))
	case exprtree.Float32:
		return mapped(e, n, convertEach[float32, T])
	case exprtree.Float64:
		return mapped(e, n, convertEach[float64, T])
	}
	return converted(e, n, x, func(v T) (decimal128.Num, bool) { return fromFloat(float64(v), n.Type) })
}

// truncated returns the conversion from a float to an integer of type R.
func truncated[T float, R integer](saturates bool) func(T) (R, bool) {
	var zero R
	bits := 8 * int(unsafe.Sizeof(zero))
	least, most, end := R(0), zero-1, math.Ldexp(1, bits)
	if zero-1 < 0 {
		most = R(uint64(1)<<(bits-1) - 1)
		least, end = -most-1, math.Ldexp(1, bits-1)
	}
	return func(v T) (R, bool) {
		whole := math.Trunc(float64(v))
		switch {
		case whole != whole:
			return 0, saturates
		case whole < float64(least):
			return least, saturates
		case whole >= end:
			return most, saturates
		}
		if zero-1 > 0 {
			return R(uint64(whole)), true
		}
		return R(int64(whole)), true
	}
}

func (e *evaluation) castBool(n *exprtree.Node) arrow.Array {
	if n.Kind() == exprtree.Bool {
		truth, valid := e.truths(n.Arguments[0])
		return e.bools(func(row int) (uint64, uint64) { return truth.word(row), valid.word(row) })
	}
	x := e.boolsOf(n.Arguments[0])
	switch n.Kind() {
	case exprtree.Float32:
		return converted(e, n, x, func(v bool) (float32, bool) { return float32(bit(v)), true })
	case exprtree.Float64:
		return converted(e, n, x, func(v bool) (float64, bool) { return float64(bit(v)), true })
	}
	switch n.Kind().Bits() {
	case 8:
		return converted(e, n, x, func(v bool) (uint8, bool) { return bit(v), true })
	case 16:
		return converted(e, n, x, func(v bool) (uint16, bool) { return uint16(bit(v)), true })
	case 32:
		return converted(e, n, x, func(v bool) (uint32, bool) { return uint32(bit(v)), true })
	}
	return converted(e, n, x, func(v bool) (uint64, bool) { return uint64(bit(v)), true })
}
