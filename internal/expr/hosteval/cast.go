package hosteval

import (
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

func (e *evaluation) cast(n *exprtree.Node) arrow.Array {
	from := n.Arguments[0]
	if exprtree.IsTemporal(from.Type) && exprtree.IsTemporal(n.Type) {
		return e.castTemporal(n)
	}
	switch kind := from.Kind(); {
	case kind == exprtree.Bool:
		return e.castBool(n)
	case kind == exprtree.Decimal:
		return e.castDecimal(n)
	case n.Kind() == exprtree.Bool:
		return e.castToBool(n)
	case kind.IsInteger():
		return e.castInteger(n)
	case kind == exprtree.Float32:
		return castFloat[float32](e, n)
	}
	return castFloat[float64](e, n)
}

// castToBool returns whether numbers are unequal to zero; NaN is unequal to it and -0
// is not.
func (e *evaluation) castToBool(n *exprtree.Node) arrow.Array {
	x := e.operand(n.Arguments[0])
	zero := operand{bytes: make([]byte, min(e.rows, blockRows)*x.width), width: x.width, literal: true}
	return e.compared(x, zero, numberComparison(exprtree.NotEqual, n.Arguments[0].Kind()))
}

// castInteger casts integers to other types.
func (e *evaluation) castInteger(n *exprtree.Node) arrow.Array {
	from, to := n.Arguments[0].Kind(), n.Kind()
	switch {
	case to == exprtree.Float32:
		return e.unary(n, integerKinds[from].toFloat32())
	case to == exprtree.Float64:
		return e.unary(n, integerKinds[from].toFloat64())
	case to == exprtree.Decimal:
		return e.checkedUnary(n, widened(from, toDecimal(n)))
	case !to.Holds(from) && n.Op != exprtree.CastWrap:
		// A loop for each pair of kinds would be 0.2 MB of code: all are widened to 64 bits.
		return e.checkedUnary(n, widened(from, integerKinds[to].fromIntegers(from.IsUnsigned())))
	}
	return e.unary(n, lowBits(from, to.Bits()))
}

// toDecimal returns the loop that casts 64-bit integers to decimals.
func toDecimal(n *exprtree.Node) checkedUnaryLoop {
	scaled := func(m magnitude, negative bool) (decimal128.Num, bool) {
		m, ok := m.times(powers[scaleOf(n.Type)])
		return m.signed(negative), ok && m.fits(n.Type)
	}
	if n.Arguments[0].Kind().IsUnsigned() {
		return eachChecked(func(v uint64) (decimal128.Num, bool) { return scaled(magnitude{0, v}, false) })
	}
	return eachChecked(func(v int64) (decimal128.Num, bool) {
		if v < 0 {
			return scaled(magnitude{0, -uint64(v)}, true)
		}
		return scaled(magnitude{0, uint64(v)}, false)
	})
}

func castFloat[T float](e *evaluation, n *exprtree.Node) arrow.Array {
	switch n.Kind() {
	case exprtree.Float32:
		return e.unary(n, unary(convertEach[float32, T]))
	case exprtree.Float64:
		return e.unary(n, unary(convertEach[float64, T]))
	}
	return e.checkedUnary(n, widened(n.Arguments[0].Kind(), fromFloats(n)))
}

// fromFloats returns the loop that casts float64.
func fromFloats(n *exprtree.Node) checkedUnaryLoop {
	if n.Kind().IsInteger() {
		return integerKinds[n.Kind()].fromFloats(n.Op == exprtree.CastWrap)
	}
	return eachChecked(func(v float64) (decimal128.Num, bool) { return fromFloat(v, n.Type) })
}

// truncated returns the conversion from a float to an integer of type R.
func truncated[R integer](saturates bool) func(float64) (R, bool) {
	var zero R
	bits := 8 * int(unsafe.Sizeof(zero))
	least, most, end := R(0), zero-1, math.Ldexp(1, bits)
	if zero-1 < 0 {
		most = R(uint64(1)<<(bits-1) - 1)
		least, end = -most-1, math.Ldexp(1, bits-1)
	}
	return func(v float64) (R, bool) {
		whole := math.Trunc(v)
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

// castBool casts bools to 0 and 1.
func (e *evaluation) castBool(n *exprtree.Node) arrow.Array {
	truth, valid := e.truths(n.Arguments[0])
	switch kind := n.Kind(); {
	case kind == exprtree.Bool:
		return e.bools(func(row int) (uint64, uint64) { return truth.word(row), valid.word(row) })
	case kind == exprtree.Float32:
		return spreadBits[float32](e, n.Type, truth, valid)
	case kind == exprtree.Float64:
		return spreadBits[float64](e, n.Type, truth, valid)
	case kind.Bits() == 8:
		return spreadBits[uint8](e, n.Type, truth, valid)
	case kind.Bits() == 16:
		return spreadBits[uint16](e, n.Type, truth, valid)
	case kind.Bits() == 32:
		return spreadBits[uint32](e, n.Type, truth, valid)
	}
	return spreadBits[uint64](e, n.Type, truth, valid)
}

func spreadBits[T number](e *evaluation, t arrow.DataType, truth, valid bitmap) arrow.Array {
	values := make([]T, e.rows)
	for i := range values {
		values[i] = T(bit(truth.at(i)))
	}
	return e.assemble(t, address.BytesOf(values), valid)
}
