package hosteval

import (
	"bytes"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

func (e *evaluation) compare(n *tree.Node) arrow.Array {
	switch n.Arguments[0].Kind() {
	case tree.String:
		return e.compareStrings(n)
	case tree.Decimal:
		return comparison(e, n, laneOf[decimal128.Num](e, n.Arguments[0]), laneOf[decimal128.Num](e, n.Arguments[1]), decimal128.Num.Less)
	case tree.Bool:
		return comparison(e, n, e.truths(n.Arguments[0]), e.truths(n.Arguments[1]), func(x, y bool) bool { return !x && y })
	case tree.Int8:
		return ordered[int8](e, n)
	case tree.Int16:
		return ordered[int16](e, n)
	case tree.Int32:
		return ordered[int32](e, n)
	case tree.Int64:
		return ordered[int64](e, n)
	case tree.Uint8:
		return ordered[uint8](e, n)
	case tree.Uint16:
		return ordered[uint16](e, n)
	case tree.Uint32:
		return ordered[uint32](e, n)
	case tree.Uint64:
		return ordered[uint64](e, n)
	case tree.Float32:
		return ordered[float32](e, n)
	}
	return ordered[float64](e, n)
}

func ordered[T number](e *evaluation, n *tree.Node) arrow.Array {
	x, y := laneOf[T](e, n.Arguments[0]), laneOf[T](e, n.Arguments[1])
	return comparison(e, n, x, y, func(x, y T) bool { return x < y })
}

// comparison compares by less and Go's equality.
func comparison[T comparable](e *evaluation, n *tree.Node, x, y lane[T], less func(x, y T) bool) arrow.Array {
	holds := map[tree.Op]func(x, y T) bool{
		tree.Equal:        func(x, y T) bool { return x == y },
		tree.NotEqual:     func(x, y T) bool { return x != y },
		tree.Less:         less,
		tree.LessEqual:    func(x, y T) bool { return less(x, y) || x == y },
		tree.Greater:      func(x, y T) bool { return less(y, x) },
		tree.GreaterEqual: func(x, y T) bool { return less(y, x) || x == y },
	}[n.Op]
	return buildBools(e, func(i int) (bool, bool) {
		if !x.ok(i) || !y.ok(i) {
			return false, false
		}
		return holds(x.at(i), y.at(i)), true
	})
}

func (e *evaluation) compareStrings(n *tree.Node) arrow.Array {
	x, y := e.text(n.Arguments[0]), e.text(n.Arguments[1])
	holds := map[tree.Op]func(x, y []byte) bool{
		tree.Equal:      bytes.Equal,
		tree.NotEqual:   func(x, y []byte) bool { return !bytes.Equal(x, y) },
		tree.StartsWith: bytes.HasPrefix,
		tree.EndsWith:   bytes.HasSuffix,
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

func (e *evaluation) isNaN(n *tree.Node) arrow.Array {
	if n.Arguments[0].Kind() == tree.Float32 {
		return isNaNOf[float32](e, n)
	}
	return isNaNOf[float64](e, n)
}

func isNaNOf[T float](e *evaluation, n *tree.Node) arrow.Array {
	x := laneOf[T](e, n.Arguments[0])
	return buildBools(e, func(i int) (bool, bool) { return x.ok(i) && x.at(i) != x.at(i), x.ok(i) })
}
