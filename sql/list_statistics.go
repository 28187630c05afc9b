package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// listStatistics are the statistics of the numbers of a list, without nulls.
func listStatistics() map[string]function {
	return map[string]function{
		"list_var_pop":                {1, 1, func(t *translation, at *tree.Call, list []value) value { return t.listVariance(at, list[0], 0) }},
		"list_var_samp list_variance": {1, 1, func(t *translation, at *tree.Call, list []value) value { return t.listVariance(at, list[0], 1) }},
		"list_stddev_pop": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			return t.root(at, t.listVariance(at, list[0], 0))
		}},
		"list_stddev_samp list_stddev": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			return t.root(at, t.listVariance(at, list[0], 1))
		}},
		"list_median": {1, 1, listMedian},
		"list_approx_count_distinct": {1, 1, func(t *translation, at *tree.Call, list []value) value {
			return functions["list_unique"].call(t, at, list)
		}},
	}
}

// doubles is the numbers of a list as doubles, without nulls.
func (t *translation) doubles(at tree.Node, list value) value {
	t.checkNumbers(at, list)
	return t.ofElements(at, t.withoutNulls(at, list), floatType)
}

// checkNumbers refuses a list whose elements are no numbers.
func (t *translation) checkNumbers(at tree.Node, list value) {
	if list.null {
		return
	}
	if element := t.elementType(at, list); !isNumber(element) && element.ID() != arrow.NULL {
		t.fail(at, "the elements of the list are %s, expected numbers: cast them, as in list::DOUBLE[]", typeName(element))
	}
}

// listVariance is the variance of the numbers of a list, with their number less some as its divisor.
func (t *translation) listVariance(at tree.Node, list value, less int64) value {
	numbers := t.doubles(at, list)
	mean := t.listCall(at, gpuframe.Expr.ListMean, numbers)
	squares := t.eachElement(at, numbers, false, func(e, _ value) value {
		difference := t.binary(at, "-", e, mean)
		return t.binary(at, "*", difference, difference)
	})
	divisor := t.binary(at, "-", t.length(at, numbers), constant(less))
	variance := t.binary(at, "/", t.listCall(at, gpuframe.Expr.ListSum, squares), divisor)
	return t.cases(at, []value{t.binary(at, ">", divisor, constant(int64(0)))}, []value{variance, t.nullOf(floatType)})
}

// listMedian is the number in the middle of a list in order, or the mean of both.
func listMedian(t *translation, at *tree.Call, list []value) value {
	sorted := t.listCall(at, gpuframe.Expr.ListSort, t.doubles(at, list[0]))
	n := t.length(at, sorted)
	low := t.elementAt(at, sorted, t.binary(at, "//", t.binary(at, "+", n, constant(int64(1))), constant(int64(2))))
	high := t.elementAt(at, sorted, t.binary(at, "+", t.binary(at, "//", n, constant(int64(2))), constant(int64(1))))
	return t.binary(at, "/", t.binary(at, "+", low, high), constant(int64(2)))
}

func (t *translation) root(at tree.Node, v value) value {
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].Sqrt() }, v)
}
