package hosteval

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// chooser says which of the operands a row takes.
type chooser uint8

const (
	firstOf chooser = iota
	leastOf
	greatestOf
)

// choose computes the operations that give one of their operands.
func (e *evaluation) choose(n *exprtree.Node) arrow.Array {
	switch n.Op {
	case exprtree.IfElse:
		return e.ifElse(n)
	case exprtree.Minimum:
		return chosenOf(e, n.Type, n.Arguments, leastOf)
	case exprtree.Maximum:
		return chosenOf(e, n.Type, n.Arguments, greatestOf)
	}
	if n.Kind() == exprtree.Bool {
		lanes := make([]lane[bool], len(n.Arguments))
		for i, argument := range n.Arguments {
			lanes[i] = e.boolsOf(argument)
		}
		return buildBools(e, func(i int) (bool, bool) { return first(lanes, i) })
	}
	return chosenOf(e, n.Type, n.Arguments, firstOf)
}

func chosenOf(e *evaluation, t arrow.DataType, from []*exprtree.Node, how chooser) arrow.Array {
	switch exprtree.KindOf(t) {
	case exprtree.Int8:
		return chosen[int8](e, t, from, how)
	case exprtree.Int16:
		return chosen[int16](e, t, from, how)
	case exprtree.Int32:
		return chosen[int32](e, t, from, how)
	case exprtree.Int64:
		return chosen[int64](e, t, from, how)
	case exprtree.Uint8:
		return chosen[uint8](e, t, from, how)
	case exprtree.Uint16:
		return chosen[uint16](e, t, from, how)
	case exprtree.Uint32:
		return chosen[uint32](e, t, from, how)
	case exprtree.Uint64:
		return chosen[uint64](e, t, from, how)
	case exprtree.Float32:
		return chosen[float32](e, t, from, how)
	case exprtree.Decimal:
		return chosenDecimal(e, t, from, how)
	}
	return chosen[float64](e, t, from, how)
}

func lanesOf[T number | decimal128.Num](e *evaluation, from []*exprtree.Node) []lane[T] {
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

// extreme returns the value that comes before all others.
func extreme[T any](lanes []lane[T], i int, before func(x, y T) bool) (best T, found bool) {
	for _, l := range lanes {
		if !l.ok(i) {
			continue
		}
		if value := l.at(i); !found || before(value, best) {
			best, found = value, true
		}
	}
	return best, found
}

func chosen[T number](e *evaluation, t arrow.DataType, from []*exprtree.Node, how chooser) arrow.Array {
	lanes := lanesOf[T](e, from)
	switch how {
	case leastOf:
		return build(e, t, func(i int) (T, bool) { return extreme(lanes, i, before[T]) })
	case greatestOf:
		return build(e, t, func(i int) (T, bool) { return extreme(lanes, i, behind[T]) })
	}
	return build(e, t, func(i int) (T, bool) { return first(lanes, i) })
}

// before has numbers before NaN, and -0 before 0; behind likewise.
func before[T number](x, y T) bool {
	return x < y || y != y && x == x || x == y && negativeZero(x) && !negativeZero(y)
}

func behind[T number](x, y T) bool {
	return x > y || y != y && x == x || x == y && negativeZero(y) && !negativeZero(x)
}

func negativeZero[T number](x T) bool { return x == 0 && math.Signbit(float64(x)) }

func chosenDecimal(e *evaluation, t arrow.DataType, from []*exprtree.Node, how chooser) arrow.Array {
	lanes := lanesOf[decimal128.Num](e, from)
	before := decimal128.Num.Less
	switch how {
	case firstOf:
		return build(e, t, func(i int) (decimal128.Num, bool) { return first(lanes, i) })
	case greatestOf:
		before = decimal128.Num.Greater
	}
	return build(e, t, func(i int) (decimal128.Num, bool) { return extreme(lanes, i, before) })
}

func (e *evaluation) ifElse(n *exprtree.Node) arrow.Array {
	switch n.Kind() {
	case exprtree.Bool:
		condition, a, b := e.boolsOf(n.Arguments[0]), e.boolsOf(n.Arguments[1]), e.boolsOf(n.Arguments[2])
		return buildBools(e, func(i int) (bool, bool) { return either(condition, a, b, i) })
	case exprtree.Int8:
		return eitherOf[int8](e, n)
	case exprtree.Int16:
		return eitherOf[int16](e, n)
	case exprtree.Int32:
		return eitherOf[int32](e, n)
	case exprtree.Int64:
		return eitherOf[int64](e, n)
	case exprtree.Uint8:
		return eitherOf[uint8](e, n)
	case exprtree.Uint16:
		return eitherOf[uint16](e, n)
	case exprtree.Uint32:
		return eitherOf[uint32](e, n)
	case exprtree.Uint64:
		return eitherOf[uint64](e, n)
	case exprtree.Float32:
		return eitherOf[float32](e, n)
	case exprtree.Decimal:
		return eitherOf[decimal128.Num](e, n)
	}
	return eitherOf[float64](e, n)
}

func eitherOf[T number | decimal128.Num](e *evaluation, n *exprtree.Node) arrow.Array {
	condition, a, b := e.boolsOf(n.Arguments[0]), laneOf[T](e, n.Arguments[1]), laneOf[T](e, n.Arguments[2])
	return build(e, n.Type, func(i int) (T, bool) { return either(condition, a, b, i) })
}

func either[T any](condition lane[bool], a, b lane[T], i int) (T, bool) {
	var none T
	switch {
	case !condition.ok(i):
		return none, false
	case condition.at(i):
		return a.at(i), a.ok(i)
	}
	return b.at(i), b.ok(i)
}
