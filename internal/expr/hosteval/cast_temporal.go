package hosteval

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

func (e *evaluation) castTemporal(n *exprtree.Node) arrow.Array {
	steps, _ := exprtree.TemporalCastOf(n.Arguments[0].Type, n.Type)
	convert := func(v int64) (int64, bool) { return rescaleTime(v, steps, n.Op == exprtree.CastWrap) }
	narrow := func(v int64) (int32, bool) {
		v, ok := convert(v)
		return int32(v), ok
	}
	if n.Arguments[0].Kind() == exprtree.Int64 {
		if n.Kind() == exprtree.Int64 {
			return e.checkedUnary(n, eachChecked(convert))
		}
		return e.checkedUnary(n, eachChecked(narrow))
	}
	if n.Kind() == exprtree.Int64 {
		return e.checkedUnary(n, eachChecked(func(v int32) (int64, bool) { return convert(int64(v)) }))
	}
	return e.checkedUnary(n, eachChecked(func(v int32) (int32, bool) { return narrow(int64(v)) }))
}

// rescaleTime applies the steps of a cast between temporal types.
func rescaleTime(v int64, steps exprtree.TemporalCast, wraps bool) (int64, bool) {
	if steps.Modulo > 0 {
		_, v = FloorDivide(v, steps.Modulo)
	}
	if steps.Divide > 0 {
		v, _ = FloorDivide(v, steps.Divide)
	}
	fits := true
	if steps.Multiply > 0 {
		m := uint64(v)
		if v < 0 {
			m = -m
		}
		high, low := bits.Mul64(m, uint64(steps.Multiply))
		fits = high == 0 && (low < 1<<63 || v < 0 && low == 1<<63)
		v *= steps.Multiply
	}
	return v, wraps || fits && v >= steps.Least && v <= steps.Most
}
