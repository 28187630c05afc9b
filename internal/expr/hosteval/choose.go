package hosteval

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// choose computes the operations that return one of their operands.
func (e *evaluation) choose(n *exprtree.Node) arrow.Array {
	switch n.Op {
	case exprtree.IfElse:
		return e.ifElse(n)
	case exprtree.Minimum:
		return e.extremes(n, false)
	case exprtree.Maximum:
		return e.extremes(n, true)
	}
	if n.Kind() == exprtree.Bool {
		return e.coalesceBools(n.Arguments)
	}
	return e.coalesce(n.Type, n.Arguments)
}

// coalesce moves values of a width, of any type.
func (e *evaluation) coalesce(t arrow.DataType, from []*exprtree.Node) arrow.Array {
	switch exprtree.KindOf(t).Bits() {
	case 8:
		return coalesceOf[uint8](e, t, from)
	case 16:
		return coalesceOf[uint16](e, t, from)
	case 32:
		return coalesceOf[uint32](e, t, from)
	case 64:
		return coalesceOf[uint64](e, t, from)
	}
	return coalesceOf[decimal128.Num](e, t, from)
}

func coalesceOf[T any](e *evaluation, t arrow.DataType, from []*exprtree.Node) arrow.Array {
	lanes := lanesOf[T](e, from)
	return build(e, t, func(i int) (T, bool) { return first(lanes, i) })
}

// extremes computes the minimum or maximum of the operands.
func (e *evaluation) extremes(n *exprtree.Node, greatest bool) arrow.Array {
	if n.Kind().IsNumber() {
		return numbersOf(n.Kind()).extremes(e, n, greatest)
	}
	before := decimal128.Num.Less
	if greatest {
		before = decimal128.Num.Greater
	}
	return extremesBy(e, n, before)
}

func extremesOf[T number](e *evaluation, n *exprtree.Node, greatest bool) arrow.Array {
	if greatest {
		return extremesBy(e, n, behind[T])
	}
	return extremesBy(e, n, before[T])
}

func extremesBy[T any](e *evaluation, n *exprtree.Node, before func(x, y T) bool) arrow.Array {
	lanes := lanesOf[T](e, n.Arguments)
	return build(e, n.Type, func(i int) (T, bool) { return extreme(lanes, i, before) })
}

func lanesOf[T any](e *evaluation, from []*exprtree.Node) []lane[T] {
	lanes := make([]lane[T], len(from))
	for i, n := range from {
		lanes[i] = laneOf[T](e, n)
	}
	return lanes
}

func first[T any](lanes []lane[T], i int) (T, bool) {
	for _, l := range lanes {
		if l.ok(i) {
			return l.at(i), true
		}
	}
	var none T
	return none, false
}

// extreme returns the first value in an order.
func extreme[T any](lanes []lane[T], i int, before func(x, y T) bool) (best T, valid bool) {
	for _, l := range lanes {
		if !l.ok(i) {
			continue
		}
		if value := l.at(i); !valid || before(value, best) {
			best, valid = value, true
		}
	}
	return best, valid
}

// before orders numbers in ascending order before NaN, and -0 before 0. behind orders
// numbers in descending order before NaN, and 0 before -0.
func before[T number](x, y T) bool {
	return x < y || y != y && x == x || x == y && negativeZero(x) && !negativeZero(y)
}

func behind[T number](x, y T) bool {
	return x > y || y != y && x == x || x == y && negativeZero(y) && !negativeZero(x)
}

func negativeZero[T number](x T) bool { return x == 0 && math.Signbit(float64(x)) }
