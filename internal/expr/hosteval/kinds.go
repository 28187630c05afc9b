package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// numberLoops are the computations with a loop for each type of numbers. A node chooses its
// loop once.
type numberLoops interface {
	arithmetic(e *evaluation, n *exprtree.Node) arrow.Array
	extremes(e *evaluation, n *exprtree.Node, greatest bool) arrow.Array
	// order compares values with Less and Greater, or with LessEqual and GreaterEqual.
	order(op exprtree.Op) comparisonLoop
}

// integerLoops are those with a loop for each type of integers.
type integerLoops interface {
	numberLoops
	toFloat32() unaryLoop
	toFloat64() unaryLoop
	// lowBits converts to the low bits of a width. The signedness of the result is irrelevant.
	lowBits(bits int) unaryLoop
	// fromIntegers, fromFloats and fromDecimals cast int64 or uint64, float64 and decimals.
	fromIntegers(unsigned bool) checkedUnaryLoop
	fromFloats(wraps bool) checkedUnaryLoop
	fromDecimals(scale int) checkedUnaryLoop
	indices(data arrow.ArrayData) func(i int) int64
}

var integerKinds = [...]integerLoops{
	exprtree.Int8: &loopsOf[int8]{}, exprtree.Int16: &loopsOf[int16]{}, exprtree.Int32: &loopsOf[int32]{}, exprtree.Int64: &loopsOf[int64]{},
	exprtree.Uint8: &loopsOf[uint8]{}, exprtree.Uint16: &loopsOf[uint16]{}, exprtree.Uint32: &loopsOf[uint32]{}, exprtree.Uint64: &loopsOf[uint64]{},
}

// numbersOf returns the loops of a kind of numbers.
func numbersOf(kind exprtree.Kind) numberLoops {
	switch kind {
	case exprtree.Float32:
		return &floatLoopsOf[float32]{}
	case exprtree.Float64:
		return &floatLoopsOf[float64]{}
	}
	return integerKinds[kind]
}

// lowBits returns the loop that converts integers of a kind to the low bits of a width.
func lowBits(from exprtree.Kind, bits int) unaryLoop {
	if from.Bits() == bits {
		return func(to, x []byte) { copy(to, x) }
	}
	return integerKinds[from].lowBits(bits)
}

type loopsOf[T integer] struct{}

func (*loopsOf[T]) arithmetic(e *evaluation, n *exprtree.Node) arrow.Array { return integers[T](e, n) }

func (*loopsOf[T]) extremes(e *evaluation, n *exprtree.Node, greatest bool) arrow.Array {
	return extremesOf[T](e, n, greatest)
}

func (*loopsOf[T]) order(op exprtree.Op) comparisonLoop {
	if op == exprtree.Less || op == exprtree.Greater {
		return comparison(lessEach[T])
	}
	return comparison(lessEqualEach[T])
}

func (*loopsOf[T]) toFloat32() unaryLoop { return unary(convertEach[float32, T]) }

func (*loopsOf[T]) toFloat64() unaryLoop { return unary(convertEach[float64, T]) }

func (*loopsOf[T]) lowBits(bits int) unaryLoop {
	switch bits {
	case 8:
		return unary(convertEach[uint8, T])
	case 16:
		return unary(convertEach[uint16, T])
	case 32:
		return unary(convertEach[uint32, T])
	}
	return unary(convertEach[uint64, T])
}

func (*loopsOf[T]) fromIntegers(unsigned bool) checkedUnaryLoop {
	if unsigned {
		return checkedUnary(narrowEach[T, uint64])
	}
	return checkedUnary(narrowEach[T, int64])
}

func (*loopsOf[T]) fromFloats(wraps bool) checkedUnaryLoop { return eachChecked(truncated[T](wraps)) }

func (*loopsOf[T]) fromDecimals(scale int) checkedUnaryLoop { return eachChecked(wholePart[T](scale)) }

func (*loopsOf[T]) indices(data arrow.ArrayData) func(i int) int64 {
	values := elements[T](data)
	return func(i int) int64 { return int64(values[i]) }
}

type floatLoopsOf[T float] struct{}

func (*floatLoopsOf[T]) arithmetic(e *evaluation, n *exprtree.Node) arrow.Array {
	return floats[T](e, n)
}

func (*floatLoopsOf[T]) extremes(e *evaluation, n *exprtree.Node, greatest bool) arrow.Array {
	return extremesOf[T](e, n, greatest)
}

// order has NaN equal to itself and greater than all numbers.
func (*floatLoopsOf[T]) order(op exprtree.Op) comparisonLoop {
	if op == exprtree.Less || op == exprtree.Greater {
		return comparison(compareEach(func(x, y T) bool { return x < y || y != y && x == x }))
	}
	return comparison(compareEach(func(x, y T) bool { return x <= y || y != y }))
}
