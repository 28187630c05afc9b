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
		return comparison(e, n, laneOf[decimal128.Num](e, n.Arguments[0]), laneOf[decimal128.Num](e, n.Arguments[1]), decimal128.Num.Less)
	case exprtree.Bool:
		return comparison(e, n, e.truths(n.Arguments[0]), e.truths(n.Arguments[1]), func(x, y bool) bool { return !x && y })
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

func ordered[T number](e *evaluation, n *exprtree.Node) arrow.Array {
	x, y := laneOf[T](e, n.Arguments[0]), laneOf[T](e, n.Arguments[1])
	return comparison(e, n, x, y, func(x, y T) bool { return x < y })
}

// comparison compares by less and Go's equality.
func comparison[T comparable](e *evaluation, n *exprtree.Node, x, y lane[T], less func(x, y T) bool) arrow.Array {
	holds := map[exprtree.Op]func(x, y T) bool{
		exprtree.Equal:        func(x, y T) bool { return x == y },
		exprtree.NotEqual:     func(x, y T) bool { return x != y },
		exprtree.Less:         less,
		exprtree.LessEqual:    func(x, y T) bool { return less(x, y) || x == y },
		exprtree.Greater:      func(x, y T) bool { return less(y, x) },
		exprtree.GreaterEqual: func(x, y T) bool { return less(y, x) || x == y },
	}[n.Op]
	return buildBools(e, func(i int) (bool, bool) {
		if !x.ok(i) || !y.ok(i) {
			return false, false
		}
		return holds(x.at(i), y.at(i)), true
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
	x := laneOf[T](e, n.Arguments[0])
	return buildBools(e, func(i int) (bool, bool) { return x.ok(i) && x.at(i) != x.at(i), x.ok(i) })
}
