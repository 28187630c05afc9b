package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// mostElements is the number of elements that a column of lists does not have: a longer list is an error of the run.
const mostElements = int64(1) << 32

// series is a list of integers from a start to a stop, which belongs to it or not.
func series(inclusive bool) func(t *translation, at *tree.Call, list []value) value {
	return func(t *translation, at *tree.Call, list []value) value {
		start, stop, step := constant(int64(0)), list[0], constant(int64(1))
		if len(list) > 1 {
			start, stop = list[0], list[1]
		}
		if len(list) > 2 {
			step = list[2]
		}
		for i, v := range []*value{&start, &stop, &step} {
			if v.null {
				return t.nullOf(arrow.ListOf(int64Type))
			}
			if !isInteger(v.dataType) {
				t.fail(at, "argument %d of the list is %s, which is not supported: expected an integer", i+1, typeOf(*v))
			}
			*v = t.widened(at, *v)
		}
		names := gpuframe.ElementNames{Element: t.unique("element"), Index: t.unique("index")}
		return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
			return seriesLength(e[0], e[1], e[2], inclusive).Sequence().ListEvalWith(names, gpuframe.Col(names.Element).Mul(e[2]).Add(e[0]))
		}, start, stop, step)
	}
}

// seriesLength is the number of elements of a series, or mostElements if it is greater. The step 0 has none.
//
// The difference of the ends may overflow 64 bits. Quotients and remainders of the ends do not, and the number that is
// computed of them wraps around: a number below the least one is a number above 63 bits.
func seriesLength(start, stop, step gpuframe.Expr, inclusive bool) gpuframe.Expr {
	steps := func(from, to gpuframe.Expr) gpuframe.Expr { // the floor of (to - from) / step
		return to.FloorDiv(step).Sub(from.FloorDiv(step)).Add(to.FloorMod(step).Sub(from.FloorMod(step)).FloorDiv(step))
	}
	n, least := steps(stop, start).Neg(), int64(0)
	if inclusive {
		n, least = steps(start, stop).Add(int64(1)), 1
	}
	approaches := step.Gt(int64(0)).And(start.Le(stop)).Or(step.Lt(int64(0)).And(start.Ge(stop)))
	most := gpuframe.LitOf(int64Type, mostElements)
	limited := gpuframe.If(n.Lt(least).Or(n.Gt(most)), most, n)
	none := start.Add(stop).Add(step).Mul(int64(0)) // null for null
	return gpuframe.If(approaches, limited, none)
}
