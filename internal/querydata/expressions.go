package querydata

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/names"
)

// deepest is the limit of expressions within expressions.
const deepest = 1000

// function makes expressions of a number of arguments, from least to most.
type function struct {
	least, most int
	make        func(o *object, arguments []gpuframe.Expr) gpuframe.Expr
}

// unlimited is the limit of functions that take any number of arguments.
const unlimited = 1 << 30

func unary(f func(gpuframe.Expr) gpuframe.Expr) function {
	return function{1, 1, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return f(a[0]) }}
}

func binary(f func(e gpuframe.Expr, x any) gpuframe.Expr) function {
	return function{2, 2, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return f(a[0], a[1]) }}
}

// with makes a function of one argument and members of its object.
func with(f func(o *object, e gpuframe.Expr) gpuframe.Expr) function {
	return function{1, 1, func(o *object, a []gpuframe.Expr) gpuframe.Expr { return f(o, a[0]) }}
}

func many(least int, f func(values ...any) gpuframe.Expr) function {
	return function{least, unlimited, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return f(operands(a)...) }}
}

func operands(list []gpuframe.Expr) []any {
	made := make([]any, len(list))
	for i, e := range list {
		made[i] = e
	}
	return made
}

func expressions(list []gpuframe.Expr) []gpuframe.Expression {
	made := make([]gpuframe.Expression, len(list))
	for i, e := range list {
		made[i] = e
	}
	return made
}

var functions map[string]function

func init() { // a function's expressions refer to functions
	functions = map[string]function{
		"column":  {0, 0, func(o *object, _ []gpuframe.Expr) gpuframe.Expr { return gpuframe.Col(o.member("name").text()) }},
		"literal": {0, 0, func(o *object, _ []gpuframe.Expr) gpuframe.Expr { return o.literal() }},
		"as":      with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.As(o.member("name").text()) }),
		"cast":    with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Cast(o.member("type").dataType()) }),

		"add": binary(gpuframe.Expr.Add), "sub": binary(gpuframe.Expr.Sub), "mul": binary(gpuframe.Expr.Mul),
		"div": binary(gpuframe.Expr.Div), "mod": binary(gpuframe.Expr.Mod), "pow": binary(gpuframe.Expr.Pow),
		"true_div": binary(gpuframe.Expr.TrueDiv), "floor_div": binary(gpuframe.Expr.FloorDiv), "floor_mod": binary(gpuframe.Expr.FloorMod),
		"round_digits": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.RoundDigits(o.member("digits").count()) }),
		"eq":           binary(gpuframe.Expr.Eq), "ne": binary(gpuframe.Expr.Ne), "lt": binary(gpuframe.Expr.Lt),
		"le": binary(gpuframe.Expr.Le), "gt": binary(gpuframe.Expr.Gt), "ge": binary(gpuframe.Expr.Ge),
		"eq_ieee": binary(gpuframe.Expr.EqIEEE), "ne_ieee": binary(gpuframe.Expr.NeIEEE), "lt_ieee": binary(gpuframe.Expr.LtIEEE),
		"le_ieee": binary(gpuframe.Expr.LeIEEE), "gt_ieee": binary(gpuframe.Expr.GtIEEE), "ge_ieee": binary(gpuframe.Expr.GeIEEE),
		"and": binary(gpuframe.Expr.And), "or": binary(gpuframe.Expr.Or), "xor": binary(gpuframe.Expr.Xor),
		"bit_and": binary(gpuframe.Expr.BitAnd), "bit_or": binary(gpuframe.Expr.BitOr), "bit_xor": binary(gpuframe.Expr.BitXor),
		"fill_null": binary(gpuframe.Expr.FillNull),
		"between":   {3, 3, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return a[0].Between(a[1], a[2]) }},
		"clamp":     {3, 3, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return a[0].Clamp(a[1], a[2]) }},
		"if":        {3, 3, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return gpuframe.If(a[0], a[1], a[2]) }},
		"in":        {1, unlimited, isIn},
		"coalesce":  many(1, gpuframe.Coalesce), "least": many(1, gpuframe.Least), "greatest": many(1, gpuframe.Greatest),
		"concat": many(1, gpuframe.Concat),

		"not": unary(gpuframe.Expr.Not), "neg": unary(gpuframe.Expr.Neg), "abs": unary(gpuframe.Expr.Abs),
		"sign": unary(gpuframe.Expr.Sign), "sqrt": unary(gpuframe.Expr.Sqrt), "exp": unary(gpuframe.Expr.Exp),
		"log": unary(gpuframe.Expr.Log), "sin": unary(gpuframe.Expr.Sin), "cos": unary(gpuframe.Expr.Cos),
		"floor": unary(gpuframe.Expr.Floor), "ceil": unary(gpuframe.Expr.Ceil), "round": unary(gpuframe.Expr.Round),
		"trunc": unary(gpuframe.Expr.Trunc), "is_null": unary(gpuframe.Expr.IsNull), "is_valid": unary(gpuframe.Expr.IsValid),
		"is_nan": unary(gpuframe.Expr.IsNaN),

		"year": unary(gpuframe.Expr.Year), "quarter": unary(gpuframe.Expr.Quarter), "month": unary(gpuframe.Expr.Month),
		"day": unary(gpuframe.Expr.Day), "day_of_year": unary(gpuframe.Expr.DayOfYear), "weekday": unary(gpuframe.Expr.Weekday),
		"hour": unary(gpuframe.Expr.Hour), "minute": unary(gpuframe.Expr.Minute), "second": unary(gpuframe.Expr.Second),
		"add_days": binary(gpuframe.Expr.AddDays), "add_months": binary(gpuframe.Expr.AddMonths), "add_years": binary(gpuframe.Expr.AddYears),
		"days_since": binary(gpuframe.Expr.DaysSince),
		"truncate":   with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Truncate(o.member("unit").text()) }),

		"has_prefix": binary(gpuframe.Expr.HasPrefix), "has_suffix": binary(gpuframe.Expr.HasSuffix),
		"contains": binary(gpuframe.Expr.Contains), "find": binary(gpuframe.Expr.Find), "count_of": binary(gpuframe.Expr.CountOf),
		"trim_prefix": binary(gpuframe.Expr.TrimPrefix), "trim_suffix": binary(gpuframe.Expr.TrimSuffix),
		"length_bytes": unary(gpuframe.Expr.LengthBytes), "length_chars": unary(gpuframe.Expr.LengthChars),
		"trim": unary(gpuframe.Expr.Trim), "trim_start": unary(gpuframe.Expr.TrimStart), "trim_end": unary(gpuframe.Expr.TrimEnd),
		"upper": unary(gpuframe.Expr.Upper), "lower": unary(gpuframe.Expr.Lower), "reverse": unary(gpuframe.Expr.Reverse),
		"capitalize": unary(gpuframe.Expr.Capitalize),
		"like":       with(like),
		"substring": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.Substring(o.member("start").count(), o.member("length").count())
		}),
		"repeat": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Repeat(o.member("times").count()) }),
		"replace": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.Replace(o.member("old").text(), o.member("with").text())
		}),
		"pad_start": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.PadStart(o.member("length").count(), o.member("with").character())
		}),
		"pad_end": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.PadEnd(o.member("length").count(), o.member("with").character())
		}),
		"split_part": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.SplitPart(o.member("separator").text(), o.member("number").count())
		}),

		"count_rows": {0, 0, func(*object, []gpuframe.Expr) gpuframe.Expr { return gpuframe.Count() }},
		"sum":        unary(gpuframe.Expr.Sum), "product": unary(gpuframe.Expr.Product), "mean": unary(gpuframe.Expr.Mean),
		"min": unary(gpuframe.Expr.Min), "max": unary(gpuframe.Expr.Max), "count": unary(gpuframe.Expr.Count),
		"null_count": unary(gpuframe.Expr.NullCount), "first": unary(gpuframe.Expr.First), "last": unary(gpuframe.Expr.Last),
		"any_value": unary(gpuframe.Expr.AnyValue), "mode": unary(gpuframe.Expr.Mode), "median": unary(gpuframe.Expr.Median),
		"variance": unary(gpuframe.Expr.Variance), "stddev": unary(gpuframe.Expr.StdDev), "skewness": unary(gpuframe.Expr.Skewness),
		"any": unary(gpuframe.Expr.Any), "all": unary(gpuframe.Expr.All), "list": unary(gpuframe.Expr.List),
		"count_distinct": {1, unlimited, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return a[0].CountDistinct(expressions(a[1:])...) }},
		"quantile":       with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Quantile(o.member("q").number()) }),
		"join_strings":   with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.JoinStrings(o.member("separator").text()) }),
		"largest":        with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Largest(o.member("n").count()) }),
		"smallest":       with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Smallest(o.member("n").count()) }),
		"correlation":    {2, 2, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return gpuframe.Correlation(a[0], a[1]) }},
		"covariance":     {2, 2, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return gpuframe.Covariance(a[0], a[1]) }},
		"skip_nulls":     unary(gpuframe.Expr.SkipNulls),
		"where":          {2, 2, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return a[0].Where(a[1]) }},
		"over":           with(over),

		"list_length": unary(gpuframe.Expr.ListLength), "list_count": unary(gpuframe.Expr.ListCount), "list_sum": unary(gpuframe.Expr.ListSum),
		"list_min": unary(gpuframe.Expr.ListMin), "list_max": unary(gpuframe.Expr.ListMax), "list_mean": unary(gpuframe.Expr.ListMean),
		"list_any": unary(gpuframe.Expr.ListAny), "list_all": unary(gpuframe.Expr.ListAll),
		"list_sort": unary(gpuframe.Expr.ListSort), "list_sort_descending": unary(gpuframe.Expr.ListSortDescending),
		"list_get": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.ListGet(o.member("index").count()) }),
		"list_slice": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.ListSlice(o.member("from").count(), o.member("most").count())
		}),
		"list_contains": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.ListContains(o.member("value").scalar()) }),
		"field":         with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Field(o.member("name").text()) }),
		"map_get":       with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.MapGet(o.member("key").scalar()) }),
		"struct":        {1, unlimited, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return gpuframe.Struct(expressions(a)...) }},

		"row_number": window(gpuframe.RowNumber), "rank": window(gpuframe.Rank), "dense_rank": window(gpuframe.DenseRank),
		"percent_rank": window(gpuframe.PercentRank), "cumulative_distribution": window(gpuframe.CumulativeDistribution),
		"tile":    {0, 0, func(o *object, _ []gpuframe.Expr) gpuframe.Expr { return gpuframe.Tile(o.member("n").count()) }},
		"lag":     with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Lag(o.member("n").count()) }),
		"lead":    with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Lead(o.member("n").count()) }),
		"nth":     with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Nth(o.member("n").count()) }),
		"cum_sum": unary(gpuframe.Expr.CumSum), "cum_product": unary(gpuframe.Expr.CumProduct), "cum_min": unary(gpuframe.Expr.CumMin),
		"cum_max": unary(gpuframe.Expr.CumMax), "cum_mean": unary(gpuframe.Expr.CumMean), "cum_count": unary(gpuframe.Expr.CumCount),
		"fill_forward": unary(gpuframe.Expr.FillForward), "fill_backward": unary(gpuframe.Expr.FillBackward),
		"interpolate": unary(gpuframe.Expr.Interpolate), "sequence": unary(gpuframe.Expr.Sequence),
		"interpolate_by":   {2, 2, func(_ *object, a []gpuframe.Expr) gpuframe.Expr { return a[0].InterpolateBy(a[1]) }},
		"session":          with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Session(o.member("gap").scalar()) }),
		"exponential_mean": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.ExponentialMean(o.member("alpha").number()) }),
	}
}

func isIn(_ *object, a []gpuframe.Expr) gpuframe.Expr {
	if len(a) == 1 {
		return a[0].In([]any{})
	}
	return a[0].In(operands(a[1:])...)
}

func like(o *object, e gpuframe.Expr) gpuframe.Expr {
	pattern, escape := o.member("pattern").text(), o.member("escape")
	if escape.missing() {
		return e.Like(pattern)
	}
	return e.Like(pattern, escape.character())
}

func over(o *object, e gpuframe.Expr) gpuframe.Expr {
	w := gpuframe.By(expressions(o.member("by").expressionList())...)
	if order := o.member("order"); !order.missing() {
		w = w.OrderBy(order.orderings()...)
	}
	if rows := o.member("rows"); !rows.missing() {
		bounds := rows.list()
		if len(bounds) != 2 {
			rows.expected("a list of the first and the last row")
			return e
		}
		w = w.Rows(bounds[0].bound(gpuframe.FirstRow), bounds[1].bound(gpuframe.LastRow))
	}
	if values := o.member("range"); !values.missing() {
		bounds := values.list()
		if len(bounds) != 2 {
			values.expected("a list of the lowest and the highest difference of keys")
			return e
		}
		w = w.Range(bounds[0].difference(), bounds[1].difference())
	}
	if least := o.member("at_least"); !least.missing() {
		w = w.AtLeast(least.integer())
	}
	return e.Over(w)
}

// bound returns a bound of a frame, or the given one for null.
func (v value) bound(unlimited int64) int64 {
	if v.missing() {
		return unlimited
	}
	return v.integer()
}

// difference returns a bound of a range, nil for null.
func (v value) difference() any {
	if v.missing() {
		return nil
	}
	return v.scalar()
}

// window makes a function of windows without arguments.
func window(f func() gpuframe.Expr) function {
	return function{0, 0, func(*object, []gpuframe.Expr) gpuframe.Expr { return f() }}
}

// expressionList returns a list of expressions.
func (v value) expressionList() []gpuframe.Expr {
	var list []gpuframe.Expr
	for _, e := range v.list() {
		list = append(list, e.expression())
	}
	return list
}

// expression returns an expression.
func (v value) expression() gpuframe.Expr {
	o := v.object()
	name := o.member("function")
	f, ok := functions[name.text()]
	if v.reading.stopped(v.place) {
		return gpuframe.Expr{}
	}
	if !ok {
		v.reading.fail(name.place, "%s", names.Unknown("function", fmt.Sprint(name.data), slices.Sorted(maps.Keys(functions))))
		return gpuframe.Expr{}
	}
	if v.reading.depth++; v.reading.depth > deepest {
		v.reading.fail(v.place, "is expression number %d within others, at most %d are possible: compute a part of it with another step", v.reading.depth, deepest)
	}
	defer func() { v.reading.depth-- }()
	arguments := o.member("arguments").expressionList()
	if len(arguments) < f.least || len(arguments) > f.most {
		v.reading.fail(o.place, "%q has %d arguments, expected %s", name.data, len(arguments), f.expected())
	}
	if v.reading.err != nil {
		return gpuframe.Expr{}
	}
	made := f.make(o, arguments)
	o.end()
	return made
}

func (f function) expected() string {
	switch f.most {
	case f.least:
		return fmt.Sprint(f.least)
	case unlimited:
		return fmt.Sprintf("%d or more", f.least)
	}
	return fmt.Sprintf("%d to %d", f.least, f.most)
}
