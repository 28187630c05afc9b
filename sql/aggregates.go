package sql

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// aggregate is an aggregate of SQL: a function of least to most arguments. The expression is without FILTER.
type aggregate struct {
	least, most int
	make        func(t *translation, at *tree.Call, list []value) value
	// ordered is set if the order of the rows decides the value, and sortable if it decides between equally good values.
	ordered, sortable bool
	// once is set if repeated values do not change the value, so that DISTINCT means nothing.
	once bool
	// counts is set if the value of no rows is 0 and not null.
	counts bool
	// isQuantile is set for quantiles that are values: valueQuantile has their rows.
	isQuantile bool
}

// simple is an aggregate of one expression that gpuframe has as a method.
func simple(f func(e gpuframe.Expr) gpuframe.Expr) func(t *translation, at *tree.Call, list []value) value {
	return func(t *translation, at *tree.Call, list []value) value {
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0]) }, list[0])
	}
}

// ofDoubles is an aggregate of doubles.
func ofDoubles(f func(e gpuframe.Expr) gpuframe.Expr) func(t *translation, at *tree.Call, list []value) value {
	return func(t *translation, at *tree.Call, list []value) value {
		t.requireNumber(at, list[0])
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0]) }, t.double(at, list[0]))
	}
}

// requireNumber fails for an argument that is no number: one that could become a number has another order.
func (t *translation) requireNumber(at *tree.Call, v value) {
	if v.dataType != nil && !isNumber(v.dataType) && !isBool(v.dataType) {
		t.fail(at, "%s of %s is not supported, expected numbers", text(at.Name), typeOf(v))
	}
}

// ofPairs is an aggregate of two doubles.
func ofPairs(f func(x, y gpuframe.Expression) gpuframe.Expr) aggregate {
	return aggregate{least: 2, most: 2, make: func(t *translation, at *tree.Call, list []value) value {
		t.requireNumber(at, list[0])
		t.requireNumber(at, list[1])
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0], list[1]) }, t.double(at, list[0]), t.double(at, list[1]))
	}}
}

// atExtreme is the value of a row with an extreme key.
func atExtreme(f func(e gpuframe.Expr, by gpuframe.Expression) gpuframe.Expr) aggregate {
	return aggregate{least: 2, most: 2, once: true, make: func(t *translation, at *tree.Call, list []value) value {
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0], list[1]) }, list[0], list[1])
	}}
}

// aggregates are the aggregates by their names in SQL.
var aggregates map[string]aggregate

func init() { // the aggregates refer to the table
	variance := aggregate{least: 1, most: 1, make: ofDoubles(gpuframe.Expr.Variance)}
	deviation := aggregate{least: 1, most: 1, make: ofDoubles(gpuframe.Expr.StdDev)}
	mean := aggregate{least: 1, most: 1, make: average}
	first := aggregate{least: 1, most: 1, ordered: true, make: simple(gpuframe.Expr.First)}
	collected := aggregate{least: 1, most: 1, ordered: true, make: collect}
	joined := aggregate{least: 1, most: 2, ordered: true, make: joinTexts}
	atMax, atMin := atExtreme(gpuframe.Expr.AtMax), atExtreme(gpuframe.Expr.AtMin)
	discrete := aggregate{least: 2, most: 2, isQuantile: true, make: discreteQuantile}
	countIf := aggregate{least: 1, most: 1, counts: true, make: func(t *translation, at *tree.Call, list []value) value {
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return gpuframe.Count().Where(list[0]) }, t.condition(at, list[0]))
	}}
	aggregates = map[string]aggregate{
		"count":      {least: 0, most: 1, counts: true, make: count},
		"count_star": {least: 0, most: 0, counts: true, make: count},
		"sum":        {least: 1, most: 1, make: sum},
		"avg":        mean, "mean": mean,
		"min":       {least: 1, most: 1, once: true, make: simple(gpuframe.Expr.Min)},
		"max":       {least: 1, most: 1, once: true, make: greatestValue},
		"any_value": {least: 1, most: 1, once: true, sortable: true, make: simple(func(e gpuframe.Expr) gpuframe.Expr { return e.First().SkipNulls() })},
		"first":     first, "arbitrary": first,
		"last":     {least: 1, most: 1, ordered: true, make: simple(gpuframe.Expr.Last)},
		"bool_and": {least: 1, most: 1, once: true, make: simple(gpuframe.Expr.All)},
		"bool_or":  {least: 1, most: 1, once: true, make: simple(gpuframe.Expr.Any)},
		"median":   {least: 1, most: 1, make: ofDoubles(gpuframe.Expr.Median)},
		"variance": variance, "var_samp": variance,
		"stddev": deviation, "stddev_samp": deviation,
		"var_pop":         {least: 1, most: 1, make: ofDoubles(populationVariance)},
		"stddev_pop":      {least: 1, most: 1, make: ofDoubles(func(e gpuframe.Expr) gpuframe.Expr { return populationVariance(e).Sqrt() })},
		"regr_slope":      ofPairs(gpuframe.RegressionSlope),
		"regr_intercept":  ofPairs(gpuframe.RegressionIntercept),
		"regr_r2":         ofPairs(gpuframe.RegressionR2),
		"arg_max":         atMax,
		"max_by":          atMax,
		"arg_min":         atMin,
		"min_by":          atMin,
		"corr":            ofPairs(gpuframe.Correlation),
		"covar_samp":      ofPairs(gpuframe.Covariance),
		"quantile_cont":   {least: 2, most: 2, make: quantile},
		"percentile_cont": {least: 2, most: 2, make: quantile}, "mode": {least: 1, most: 1, sortable: true, make: simple(gpuframe.Expr.Mode)},
		"approx_count_distinct": {least: 1, most: 1, counts: true, once: true, make: simple(func(e gpuframe.Expr) gpuframe.Expr { return e.CountDistinct() })},
		"list":                  collected, "array_agg": collected,
		"string_agg": joined, "group_concat": joined, "listagg": joined,
		"bit_and":      {least: 1, most: 1, once: true, make: simple(gpuframe.Expr.BitwiseAnd)},
		"bit_or":       {least: 1, most: 1, once: true, make: simple(gpuframe.Expr.BitwiseOr)},
		"bit_xor":      {least: 1, most: 1, make: simple(gpuframe.Expr.BitwiseXor)},
		"histogram":    {least: 1, most: 1, make: simple(gpuframe.Expr.Histogram)},
		"entropy":      {least: 1, most: 1, make: simple(func(e gpuframe.Expr) gpuframe.Expr { return e.Entropy().FillNull(0.0) })},
		"mad":          {least: 1, most: 1, make: ofDoubles(gpuframe.Expr.Mad)},
		"geomean":      {least: 1, most: 1, make: ofDoubles(gpuframe.Expr.GeometricMean)},
		"kurtosis":     {least: 1, most: 1, make: ofDoubles(nullForNaN(gpuframe.Expr.Kurtosis))},
		"kurtosis_pop": {least: 1, most: 1, make: ofDoubles(nullForNaN(gpuframe.Expr.KurtosisPop))},
		"skewness":     {least: 1, most: 1, make: ofDoubles(sampleSkewness)},
		"quantile":     discrete, "quantile_disc": discrete, "percentile_disc": discrete,
		"product":  refused("product is not supported: the product of the engine is of integers, and wraps around"),
		"count_if": countIf, "countif": countIf,
	}
	maps.Copy(aggregates, sketches())
}

// aggregateOf returns the aggregate of a name: of this package, or of the catalog.
func aggregateOf(name string) (a aggregate, ok bool) {
	if a, ok = aggregates[name]; ok {
		return a, true
	}
	for _, f := range catalog.Named(name) {
		least, most := f.Arguments()
		if f.Kind == catalog.Aggregated && isCallable(f) {
			return aggregate{least: least, most: most, ordered: f.Order == catalog.RowOrder, sortable: f.Order == catalog.TieOrder, counts: f.CountsRows,
				make: func(t *translation, at *tree.Call, list []value) value { return t.callCatalogued(at, f, list) }}, true
		}
	}
	return a, false
}

func isAggregate(name string) bool {
	_, ok := aggregateOf(name)
	return ok
}

// collect is the list of the values of rows, or null without rows.
func collect(t *translation, at *tree.Call, list []value) value {
	values := t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].List() }, list[0])
	values.dataType = arrow.ListOf(list[0].dataType)
	return t.nullWhere(at, values, t.binary(at, "=", t.length(at, values), constant(int64(0))))
}

// count is the number of rows, or of values that are not null.
func count(t *translation, at *tree.Call, list []value) value {
	if len(list) == 0 {
		return value{expr: gpuframe.Count(), dataType: int64Type, uses: columnSet{}}
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		if at.Distinct {
			return list[0].CountDistinct()
		}
		return list[0].Count()
	}, list[0])
}

// sum is wide enough for all sums of integers: of 64 bits it is a decimal of 38 digits, of less bits an int64.
func sum(t *translation, at *tree.Call, list []value) value {
	v := t.settled(list[0])
	switch {
	case isInteger(v.dataType) && bitsOf(v) > 32:
		v = t.cast(at, v, wideType)
	case isInteger(v.dataType):
		v = t.cast(at, v, int64Type)
	case isFloat(v.dataType):
		v = t.double(at, v)
	case !isDecimal(v.dataType) && !isBool(v.dataType) && !isVector(v.dataType):
		t.fail(at, "sum of %s is not possible, expected numbers", typeName(v.dataType))
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Sum() }, v)
}

// isVector reports whether a type is lists of floats, whose sums and means have those of each element.
func isVector(t arrow.DataType) bool {
	list, ok := t.(arrow.ListLikeType)
	return ok && isFloat(list.Elem())
}

// average is a double: of integers the mean of their exact sum, of decimals the exact sum as a double divided by the
// number of values, so that the last bit can differ from that of an exact division.
func average(t *translation, at *tree.Call, list []value) value {
	v := t.settled(list[0])
	if isDecimal(v.dataType) {
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
			return list[0].Sum().Cast(floatType).TrueDiv(list[0].Count())
		}, v)
	}
	if isVector(v.dataType) {
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Mean() }, v)
	}
	if !isNumber(v.dataType) {
		t.fail(at, "avg of %s is not possible, expected numbers", typeName(v.dataType))
	}
	if !arrow.IsInteger(v.dataType.ID()) { // the mean of integers is a double, of their exact sum
		v = t.double(at, v)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Mean() }, v)
}

// quantile is the value below which a fraction of the values lie, interpolated.
func quantile(t *translation, at *tree.Call, list []value) value {
	q := t.float(at, list[1], "the fraction")
	t.requireNumber(at, list[0])
	if at.OrderBy != nil {
		t.fail(at.OrderBy, "ORDER BY in %s is not supported: the values have an order; from above, the fraction is one minus it", text(at.Name))
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Quantile(q) }, t.double(at, list[0]))
}

// withinGroup returns an aggregate with WITHIN GROUP as one without: the values are the first argument, or order the
// rows.
func (t *translation) withinGroup(e *tree.Call) *tree.Call {
	if e.Within == nil || len(e.Within.Keys) != 1 {
		return e
	}
	plain, key := *e, e.Within.Keys[0]
	plain.Within = nil
	switch strings.ToLower(text(e.Name)) {
	case "percentile_disc":
		plain.Args, plain.OrderBy = append([]tree.Arg{{Expr: key.Expr}}, e.Args...), e.Within
	case "percentile_cont":
		fraction := slices.Clone(e.Args)
		if key.Descending && len(fraction) == 1 {
			whole := &tree.Literal{Position: e.Position, Kind: tree.Integer, Text: "1"}
			fraction[0].Expr = &tree.Binary{Position: e.Position, Op: "-", X: whole, Y: fraction[0].Expr}
		}
		plain.Args = append([]tree.Arg{{Expr: key.Expr}}, fraction...)
	case "mode":
		plain.Args, plain.OrderBy = append([]tree.Arg{{Expr: key.Expr}}, e.Args...), e.Within
	case "listagg", "string_agg":
		plain.OrderBy = e.Within
	default:
		return e
	}
	return &plain
}

// greatestValue is the greatest value. NaN is above all numbers.
func greatestValue(t *translation, at *tree.Call, list []value) value {
	isDouble := isFloat(list[0].dataType)
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return maximum(list[0], isDouble) }, list[0])
}

func maximum(e gpuframe.Expr, isFloat bool) gpuframe.Expr {
	if isFloat {
		return gpuframe.If(e.IsNaN().Any(), math.NaN(), e.Max())
	}
	return e.Max()
}

// populationVariance is the variance with the number of values as its divisor.
func populationVariance(e gpuframe.Expr) gpuframe.Expr {
	n := e.Count()
	return gpuframe.Case().When(n.Eq(0), nil).When(n.Eq(1), 0.0).Else(e.Variance().Mul(n.Sub(1)).TrueDiv(n))
}

// sampleSkewness is the skewness with the correction for the number of values.
func sampleSkewness(e gpuframe.Expr) gpuframe.Expr {
	n := e.Count().Cast(floatType)
	corrected := e.Skewness().Mul(n.Mul(n.Sub(1.0)).Sqrt()).TrueDiv(n.Sub(2.0))
	return gpuframe.If(n.Gt(2.0), corrected, nil)
}

// nullForNaN is an aggregate that is null instead of NaN, which equal values have.
func nullForNaN(f func(e gpuframe.Expr) gpuframe.Expr) func(e gpuframe.Expr) gpuframe.Expr {
	return func(e gpuframe.Expr) gpuframe.Expr { return gpuframe.If(f(e).IsNaN(), nil, f(e)) }
}

// refused is an aggregate that is an error: the function of the catalog with its name means something else.
func refused(message string) aggregate {
	return aggregate{least: 1, most: 2, make: func(t *translation, at *tree.Call, _ []value) value {
		t.fail(at, "%s", message)
		return value{}
	}}
}

// joinTexts joins the texts of rows with a separator.
func joinTexts(t *translation, at *tree.Call, list []value) value {
	separator := ","
	if len(list) > 1 {
		separator = t.literalText(at, list[1], "the separator")
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].JoinStrings(separator) }, t.asText(at, list[0]))
}

// aggregateValue returns an aggregate of rows. The name is known.
func (t *translation) aggregateValue(s *scope, e *tree.Call) value {
	name := strings.ToLower(text(e.Name))
	a, _ := aggregateOf(name)
	if e.Star && name != "count" {
		t.fail(e, "%s(*) is not possible: only count has this form", name)
	}
	if len(e.Args) < a.least || len(e.Args) > a.most {
		t.fail(e, "%s has %d arguments, expected %s", name, len(e.Args), function{least: a.least, most: a.most}.expected())
	}
	if e.Within != nil {
		t.fail(e, "WITHIN GROUP of %s is not supported here: use quantile_cont(value, fraction), median or mode", name)
	}
	inner := *s
	inner.clause = "the arguments of an aggregate"
	list := make([]value, len(e.Args))
	for i, arg := range e.Args {
		v := t.expr(&inner, arg.Expr)
		if i == 0 && v.null && v.dataType == nil && !a.counts && !a.ordered {
			return v
		}
		list[i] = t.settled(v)
		if i == 0 && list[i].isConstant() {
			list[i] = t.perRow(s, list[i])
		}
	}
	if e.Distinct && (a.ordered || a.sortable && e.OrderBy != nil) {
		t.fail(e, "%s of DISTINCT values is not supported: use a subquery with SELECT DISTINCT", name)
	}
	t.refuseOuter(s, e, list)
	v := a.make(t, e, list)
	if e.IgnoreNulls {
		v.expr = v.expr.SkipNulls()
	}
	if e.Filter != nil {
		inner.clause = "FILTER"
		condition := t.condition(e.Filter, t.expr(&inner, e.Filter))
		v.expr = v.expr.Where(condition.expr)
		v.uses.add(condition.uses)
	}
	return v
}

// refuseOuter fails for an aggregate of columns of the query around its own alone: SQL computes it there.
func (t *translation) refuseOuter(s *scope, e *tree.Call, list []value) {
	if s.foreign == nil {
		return
	}
	uses := columnSet{}
	for _, v := range list {
		uses.add(v.uses)
	}
	if len(uses) > 0 && uses.within(setOf(*s.foreign)) {
		t.fail(e, "an aggregate of columns of the query around it is not supported: compute it there, in a derived table")
	}
}

// perRow returns a literal as a column, for functions that need one.
func (t *translation) perRow(s *scope, v value) value {
	return t.attach(s.rows, v, "literal").value()
}
