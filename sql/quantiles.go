package sql

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// valueQuantile is a quantile without interpolation: the first value up to which a fraction of the values lie. It is a
// row of each group, found by the number of the row in the order of the values.
type valueQuantile struct {
	value, filter *column
	isDistinct    bool
	fraction      float64
	descending    bool
	column        *column
}

// fractionLists returns the calls that a quantile of a list of fractions stands for, one for each fraction, or nil.
func fractionLists(e *tree.Call) (calls []*tree.Call) {
	argument := 1
	if e.Within != nil {
		argument = 0
	}
	name := strings.ToLower(text(e.Name))
	if a, ok := aggregateOf(name); !ok || !a.isQuantile && name != "quantile_cont" && name != "percentile_cont" && name != "approx_quantile" || len(e.Args) <= argument {
		return nil
	}
	list, ok := e.Args[argument].Expr.(*tree.List)
	if !ok {
		return nil
	}
	for _, fraction := range list.Items {
		call := *e
		call.Args = slices.Clone(e.Args)
		call.Args[argument].Expr = fraction
		calls = append(calls, &call)
	}
	return calls
}

// quantileList is the list of the quantiles of several fractions. It is null for no values.
func (t *translation) quantileList(s *scope, at *tree.Call, calls []*tree.Call) value {
	values := make([]value, len(calls))
	for i, call := range calls {
		values[i] = t.expr(s, call)
	}
	list := t.listOf(at, values)
	if values[0].isConstant() {
		return list
	}
	return t.nullWhere(at, list, t.isNull(at, values[0]))
}

// addQuantile adds a quantile without interpolation.
func (a *aggregation) addQuantile(e *tree.Call, c *column) {
	name := strings.ToLower(text(e.Name))
	if len(e.Args) != 2 {
		a.fail(e, "%s has %d arguments, expected a value and a fraction", name, len(e.Args))
	}
	inner := *a.rows
	inner.clause = "the arguments of an aggregate"
	v := a.settled(a.expr(&inner, e.Args[0].Expr))
	if v.dataType == nil || v.interval != nil {
		a.fail(e.Args[0].Expr, "%s of this value is not supported, expected one that has an order", name)
	}
	a.refuseOuter(a.rows, e, []value{v})
	q := valueQuantile{column: c, isDistinct: e.Distinct, fraction: a.float(e, a.expr(&inner, e.Args[1].Expr), "the fraction")}
	q.descending = math.Signbit(q.fraction)
	if q.fraction = math.Abs(q.fraction); !(q.fraction <= 1) {
		a.fail(e.Args[1].Expr, "the fraction of %s is %v, expected -1 to 1", name, q.fraction)
	}
	if e.OrderBy != nil {
		q.descending = q.descending != a.orderOfDistinct(e).Descending
	}
	q.value = a.attach(a.rows.rows, v, "value")
	if e.Filter != nil {
		inner.clause = "FILTER"
		q.filter = a.attach(a.rows.rows, a.condition(e.Filter, a.expr(&inner, e.Filter)), "filter")
	}
	c.dataType, c.bits = v.dataType, v.bits
	a.quantiles = append(a.quantiles, q)
}

// discreteQuantile is a quantile without interpolation of the rows of a window.
func discreteQuantile(t *translation, at *tree.Call, list []value) value {
	v, fraction := t.settled(list[0]), t.float(at, list[1], "the fraction")
	if v.dataType == nil || v.interval != nil || !(fraction >= 0 && fraction <= 1) {
		t.fail(at, "a quantile of this value or by the fraction %v is not supported as a window, expected one that has an order, and 0 to 1", fraction)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].QuantileWith(fraction, "discrete") }, v)
}

// rows returns the keys and the quantile of each group.
func (q *valueQuantile) rows(t *translation, input gpuframe.Query, keys []*column) gpuframe.Query {
	if q.filter != nil {
		input = input.Filter(gpuframe.Col(q.filter.id))
	}
	x := gpuframe.Col(q.value.id)
	kept := append(cols(keys), gpuframe.Expression(x))
	input = input.Filter(x.IsValid()).Select(kept)
	if q.isDistinct {
		input = input.Distinct()
	}
	place, rows := t.unique("place"), t.unique("rows")
	window := gpuframe.By(cols(keys))
	input = input.With(
		gpuframe.RowNumber().Over(window.OrderBy(ordered(x, tree.OrderKey{Descending: q.descending}))).As(place),
		gpuframe.Count().Over(window).As(rows),
	)
	matches := input.Filter(gpuframe.Col(place).Eq(placeOf(q.fraction, gpuframe.Col(rows))))
	if len(keys) == 0 { // a row also if there is no value
		return matches.Select(x.First().As(q.column.id))
	}
	return matches.Select(append(slices.Clone(cols(keys)), x.As(q.column.id)))
}

// mostDigits is the number of decimal places of a fraction up to which the number of the row is computed by integers:
// of 100 rows 0.07 is the seventh one, but 0.07 · 100 as doubles is more than 7.
const mostDigits = 9

// placeOf returns the number of the row from 1: the fraction of all rows, rounded up.
func placeOf(fraction float64, rows gpuframe.Expr) gpuframe.Expr {
	_, places, _ := strings.Cut(strconv.FormatFloat(fraction, 'f', -1, 64), ".")
	exact := rows.Cast(floatType).Mul(fraction).Ceil().Cast(int64Type)
	if len(places) <= mostDigits {
		unit := int64(math.Pow10(len(places)))
		exact = rows.Mul(int64(math.Round(fraction * float64(unit)))).Add(unit - 1).FloorDiv(unit)
	}
	return gpuframe.Greatest(exact, int64(1))
}
