package hosteval

import (
	"bytes"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

func (e *evaluation) compare(n *exprtree.Node) arrow.Array {
	switch n.Arguments[0].Kind() {
	case exprtree.String:
		return e.compareStrings(n)
	case exprtree.Decimal:
		return e.compareDecimals(n)
	case exprtree.Bool:
		return e.compareBools(n)
	case exprtree.Int8:
		return ordered[int8](e, n)
	case exprtree.Int16:
		return ordered[int16](e, n)
	case exprtree.Int32:
		return ordered[int32](e, n)
	case exprtree.Int64:
		return ordered[int64](e, n)
	case exprtree.Uint8:
		return ordered[uint8](e, n)
	case exprtree.Uint16:
		return ordered[uint16](e, n)
	case exprtree.Uint32:
		return ordered[uint32](e, n)
	case exprtree.Uint64:
		return ordered[uint64](e, n)
	case exprtree.Float32:
		return ordered[float32](e, n)
	}
	return ordered[float64](e, n)
}

// ordered compares numbers as IEEE 754 has it: NaN is unequal to every number.
func ordered[T number](e *evaluation, n *exprtree.Node) arrow.Array {
	x, y := blocksOf[T](e, n.Arguments[0]), blocksOf[T](e, n.Arguments[1])
	switch n.Op {
	case exprtree.Equal:
		return compared(e, x, y, equalEach[T])
	case exprtree.NotEqual:
		return compared(e, x, y, notEqualEach[T])
	case exprtree.Less:
		return compared(e, x, y, lessEach[T])
	case exprtree.LessEqual:
		return compared(e, x, y, lessEqualEach[T])
	case exprtree.Greater:
		return compared(e, y, x, lessEach[T])
	}
	return compared(e, y, x, lessEqualEach[T])
}

func (e *evaluation) compareBools(n *exprtree.Node) arrow.Array {
	x, xValid := e.truths(n.Arguments[0])
	y, yValid := e.truths(n.Arguments[1])
	truth := map[exprtree.Op]func(x, y uint64) uint64{
		exprtree.Equal:        func(x, y uint64) uint64 { return ^(x ^ y) },
		exprtree.NotEqual:     func(x, y uint64) uint64 { return x ^ y },
		exprtree.Less:         func(x, y uint64) uint64 { return ^x & y },
		exprtree.LessEqual:    func(x, y uint64) uint64 { return ^x | y },
		exprtree.Greater:      func(x, y uint64) uint64 { return x &^ y },
		exprtree.GreaterEqual: func(x, y uint64) uint64 { return x | ^y },
	}[n.Op]
	return e.bools(func(row int) (uint64, uint64) {
		return truth(x.word(row), y.word(row)), xValid.word(row) & yValid.word(row)
	})
}

func (e *evaluation) compareDecimals(n *exprtree.Node) arrow.Array {
	x, y := laneOf[decimal128.Num](e, n.Arguments[0]), laneOf[decimal128.Num](e, n.Arguments[1])
	holds := map[exprtree.Op]func(order int) bool{
		exprtree.Equal:        func(order int) bool { return order == 0 },
		exprtree.NotEqual:     func(order int) bool { return order != 0 },
		exprtree.Less:         func(order int) bool { return order < 0 },
		exprtree.LessEqual:    func(order int) bool { return order <= 0 },
		exprtree.Greater:      func(order int) bool { return order > 0 },
		exprtree.GreaterEqual: func(order int) bool { return order >= 0 },
	}[n.Op]
	return buildBools(e, func(i int) (bool, bool) {
		if !x.ok(i) || !y.ok(i) {
			return false, false
		}
		return holds(x.at(i).Cmp(y.at(i))), true
	})
}

func (e *evaluation) compareStrings(n *exprtree.Node) arrow.Array {
	x, y := e.text(n.Arguments[0]), e.text(n.Arguments[1])
	holds := map[exprtree.Op]func(x, y []byte) bool{
		exprtree.Equal:      bytes.Equal,
		exprtree.NotEqual:   func(x, y []byte) bool { return !bytes.Equal(x, y) },
		exprtree.StartsWith: bytes.HasPrefix,
		exprtree.EndsWith:   bytes.HasSuffix,
	}[n.Op]
	return buildBools(e, func(i int) (bool, bool) {
		left, ok := x(i)
		if !ok {
			return false, false
		}
		right, ok := y(i)
		return ok && holds(left, right), ok
	})
}

func (e *evaluation) isNaN(n *exprtree.Node) arrow.Array {
	if n.Arguments[0].Kind() == exprtree.Float32 {
		return isNaNOf[float32](e, n)
	}
	return isNaNOf[float64](e, n)
}

func isNaNOf[T float](e *evaluation, n *exprtree.Node) arrow.Array {
	x := blocksOf[T](e, n.Arguments[0])
	return compared(e, x, x, notEqualEach[T])
}
