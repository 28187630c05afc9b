package gpuframe

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// atExtreme returns the value in the row with the extreme of another expression: the extreme of structs of
// both. Rows in which one of them is null are skipped.
func (e Expr) atExtreme(by Expr, extreme func(Expr) Expr) Expr {
	pairs := structOf([]Expr{by.As("by"), e.As("value")})
	return extreme(pairs).Where(by.IsValid().And(e.IsValid())).field("value")
}

// regression is the line y = slope · x + intercept with the least squares, of the rows in which both are
// valid. Its results are null if x has one value.
type regression struct{ x, y Expr }

func (r regression) slope() Expr {
	spread := r.x.Variance().Where(r.y.IsValid())
	return If(spread.Ne(0), Covariance(r.x, r.y).Div(spread), nil)
}

func (r regression) intercept() Expr {
	return r.y.Mean().Where(r.x.IsValid()).Sub(r.slope().Mul(r.x.Mean().Where(r.y.IsValid())))
}

// determination is R², which is 1 if y has one value.
func (r regression) determination() Expr {
	constant := r.y.Variance().Where(r.x.IsValid()).Eq(0)
	squared := Correlation(r.x, r.y).Pow(2)
	return If(r.x.Variance().Where(r.y.IsValid()).Ne(0), If(constant, 1.0, squared), nil)
}

// medianDeviation is [Expr.Mad].
func (e Expr) medianDeviation() Expr {
	values := e.List().SkipNulls()
	return middle(values.ListEval(Element().Sub(middle(values)).Abs()))
}

// middle is the median of the elements of a list without nulls, null of none.
func middle(list Expr) Expr {
	n := list.ListLength()
	isMiddle := ElementIndex().Ge(n.Sub(1).Div(2)).And(ElementIndex().Le(n.Div(2)))
	return list.ListSort().ListFilter(isMiddle).ListMean()
}

// interpolations are the positions of quantiles among n sorted values, from 0: between two of them a share of the second.
var interpolations = map[string]func(q float64, n Expr) (low, high Expr, share any){
	"lower":   func(q float64, n Expr) (low, high Expr, share any) { return place(q, n).Floor(), Expr{}, nil },
	"higher":  func(q float64, n Expr) (low, high Expr, share any) { return place(q, n).Ceil(), Expr{}, nil },
	"nearest": func(q float64, n Expr) (low, high Expr, share any) { return place(q, n).Round(), Expr{}, nil },
	"midpoint": func(q float64, n Expr) (low, high Expr, share any) {
		return place(q, n).Floor(), place(q, n).Ceil(), 0.5
	},
	"linear": func(q float64, n Expr) (low, high Expr, share any) {
		return place(q, n).Floor(), place(q, n).Ceil(), place(q, n).FloorMod(1.0)
	},
	"discrete": func(q float64, n Expr) (low, high Expr, share any) {
		const most = 1e9 // digits of a fraction that integers have: 0.07 · 100 as floats is more than 7
		if unit := math.Round(q * most); unit/most == q {
			return Greatest(n.Mul(int64(unit)).Add(int64(most-1)).FloorDiv(int64(most)).Sub(1), int64(0)), Expr{}, nil
		}
		return Greatest(n.Cast(arrow.PrimitiveTypes.Float64).Mul(q).Ceil().Sub(1.0), 0.0), Expr{}, nil
	},
}

func place(q float64, n Expr) Expr { return n.Sub(1).Cast(arrow.PrimitiveTypes.Float64).Mul(q) }

// quantileWith is [Expr.QuantileWith].
func (e Expr) quantileWith(q float64, interpolation string) Expr {
	position, ok := interpolations[interpolation]
	if !ok || !(q >= 0 && q <= 1) {
		known := slices.Sorted(maps.Keys(interpolations))
		e.misuse = []error{fmt.Errorf("a quantile of %v with interpolation %q, expected 0 to 1 and one of %s", q, interpolation, strings.Join(known, ", "))}
		return e
	}
	list := e.List().SkipNulls()
	low, high, share := position(q, list.ListLength())
	sorted := list.ListSort()
	at := func(place Expr) Expr {
		return sorted.ListFilter(ElementIndex().Eq(place.Cast(arrow.PrimitiveTypes.Int64))).ListGet(0)
	}
	if share == nil {
		return at(low)
	}
	lower, higher := at(low).Cast(arrow.PrimitiveTypes.Float64), at(high).Cast(arrow.PrimitiveTypes.Float64)
	return If(higher.Eq(lower), lower, lower.Add(higher.Sub(lower).Mul(share))) // the difference of equal infinities is NaN
}

// valuesOfLists and countsOfLists are the frequencies of the elements of a list, for Histogram, and entropyOfLists the
// counts for Entropy.
var (
	valuesOfLists = &bind.ListForm{Function: "histogram", Tree: func(list expr.Expr, _ plan.Aggregation) expr.Expr {
		values, _ := runsOf(Expr{tree: list})
		return values.tree
	}}
	countsOfLists  = &bind.ListForm{Function: "histogram", Tree: countsOfRuns}
	entropyOfLists = &bind.ListForm{Function: "entropy", Tree: countsOfRuns}
)

func countsOfRuns(list expr.Expr, _ plan.Aggregation) expr.Expr {
	_, counts := runsOf(Expr{tree: list})
	return counts.tree
}

// distinctCounts is the list of the numbers of the distinct values in order.
func (e Expr) distinctCounts(form *bind.ListForm) Expr {
	return frequency(plan.Aggregation{Function: bind.DistinctCounts}, form, e)
}

// runsOf returns the distinct elements of a list in order, and their numbers: the runs of sorted elements.
func runsOf(list Expr) (values, counts Expr) {
	sorted := list.ListSort()
	before := ConcatList(sorted.ListSlice(0, 1), sorted)
	value, previous := Element().Field("value"), Element().Field("before")
	begins := ListZip(sorted.As("value"), before.As("before")).
		ListEval(If(ElementIndex().Eq(0).Or(value.Ne(previous)).And(ElementIndex().Lt(sorted.ListLength())), ElementIndex(), nil)).
		ListFilter(Element().IsValid())
	ends := ConcatList(begins.ListSlice(1, math.MaxInt32), sorted.ListLength())
	counts = ListZip(ends.As("end"), begins.As("begin")).ListEval(Element().Field("end").Sub(Element().Field("begin"))).ListFilter(Element().IsValid())
	return sorted.ListUnique(), counts
}

// entropy is [Expr.Entropy].
func (e Expr) entropy() Expr {
	counts := e.distinctCounts(entropyOfLists)
	n := counts.ListSum().Cast(arrow.PrimitiveTypes.Float64)
	number := Element().Cast(arrow.PrimitiveTypes.Float64)
	entropy := n.Log2().Sub(counts.ListEval(number.Mul(number.Log2())).ListSum().Div(n))
	return If(entropy.Lt(1e-12), 0.0, entropy) // 0 of one value, of which rounding may leave 10⁻¹⁶; 2³¹ rows with two values have 10⁻⁸
}

// histogram is [Expr.Histogram].
func (e Expr) histogram() Expr {
	values := frequency(plan.Aggregation{Function: bind.DistinctValues}, valuesOfLists, e)
	return MapOf(values, e.distinctCounts(countsOfLists))
}

// factorial is [Expr.Factorial], of the numbers that int64 holds.
func (e Expr) factorial() Expr {
	const most = 20
	e = e.BitOr(0) // the same, of integers only
	result, product := LitOf(arrow.PrimitiveTypes.Int64, nil), int64(1)
	for n := range int64(most + 1) {
		product *= max(n, 1)
		result = If(e.Eq(n), LitOf(arrow.PrimitiveTypes.Int64, product), result)
	}
	return result
}

// concatWith joins the strings that are not null with a separator between them.
func concatWith(separator string, values []any) Expr {
	return apply(func(list []expr.Expr) expr.Expr {
		parts := make([]expr.Expr, len(list))
		for i, e := range list {
			parts[i] = expr.Coalesce(expr.Concat(expr.Lit(separator), e), expr.Lit(""))
		}
		return expr.Concat(parts...).TrimPrefix(expr.Lit(separator))
	}, operands(values)...)
}

// formatted is a text with values in the places of a pattern.
func formatted(f func(pattern string, values ...expr.Expr) expr.Expr, pattern string, values []any) Expr {
	if len(values) == 0 {
		return unary(Lit(true), func(expr.Expr) expr.Expr { return f(pattern) })
	}
	return apply(func(list []expr.Expr) expr.Expr { return f(pattern, list...) }, operands(values)...)
}

// operands returns expressions of values.
func operands(values []any) []Expr {
	list := make([]Expr, len(values))
	for i, v := range values {
		list[i] = operand(v)
	}
	return list
}
