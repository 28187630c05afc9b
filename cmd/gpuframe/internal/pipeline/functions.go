package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe"
)

// Functions returns the names of the functions, sorted.
func Functions() []string { return slices.Sorted(maps.Keys(functions)) }

// function is a function of expressions.
type function struct {
	// least and most are the numbers of arguments. Negative means any number.
	least, most int
	make        func(arguments []*node) (gpuframe.Expr, error)
}

func (f function) arity() string {
	switch {
	case f.most < 0:
		return fmt.Sprintf("%d or more", f.least)
	case f.least != f.most:
		return fmt.Sprintf("%d or %d", f.least, f.most)
	}
	return fmt.Sprint(f.least)
}

// functions are the functions by name.
var functions = map[string]function{
	"abs": one(gpuframe.Expr.Abs), "sign": one(gpuframe.Expr.Sign), "sqrt": one(gpuframe.Expr.Sqrt), "exp": one(gpuframe.Expr.Exp),
	"log": one(gpuframe.Expr.Log), "sin": one(gpuframe.Expr.Sin), "cos": one(gpuframe.Expr.Cos), "floor": one(gpuframe.Expr.Floor),
	"ceil": one(gpuframe.Expr.Ceil), "trunc": one(gpuframe.Expr.Trunc), "is_nan": one(gpuframe.Expr.IsNaN),
	"round": {1, 2, func(arguments []*node) (gpuframe.Expr, error) {
		if len(arguments) == 1 {
			return arguments[0].value.Round(), nil
		}
		digits, err := constant[int](arguments, 1)
		return arguments[0].value.RoundDigits(digits), err
	}},
	"true_div": two(gpuframe.Expr.TrueDiv), "floor_div": two(gpuframe.Expr.FloorDiv), "floor_mod": two(gpuframe.Expr.FloorMod),
	"pow": two(gpuframe.Expr.Pow), "clamp": three(gpuframe.Expr.Clamp),

	"year": one(gpuframe.Expr.Year), "quarter": one(gpuframe.Expr.Quarter), "month": one(gpuframe.Expr.Month), "day": one(gpuframe.Expr.Day),
	"day_of_year": one(gpuframe.Expr.DayOfYear), "weekday": one(gpuframe.Expr.Weekday), "hour": one(gpuframe.Expr.Hour),
	"minute": one(gpuframe.Expr.Minute), "second": one(gpuframe.Expr.Second), "add_days": two(gpuframe.Expr.AddDays),
	"add_months": two(gpuframe.Expr.AddMonths), "add_years": two(gpuframe.Expr.AddYears), "days_since": two(gpuframe.Expr.DaysSince),
	"truncate": withText(gpuframe.Expr.Truncate), "local_time": withText(gpuframe.Expr.LocalTime), "instant_in": withText(gpuframe.Expr.InstantIn),
	"format_time": withText(gpuframe.Expr.FormatTime), "format_duration": withText(gpuframe.Expr.FormatDuration), "format_float": one(gpuframe.Expr.FormatFloat),

	"length": one(gpuframe.Expr.LengthChars), "length_bytes": one(gpuframe.Expr.LengthBytes), "trim": one(gpuframe.Expr.Trim),
	"trim_start": one(gpuframe.Expr.TrimStart), "trim_end": one(gpuframe.Expr.TrimEnd), "upper": one(gpuframe.Expr.Upper),
	"lower": one(gpuframe.Expr.Lower), "reverse": one(gpuframe.Expr.Reverse), "capitalize": one(gpuframe.Expr.Capitalize),
	"contains": two(gpuframe.Expr.Contains), "find": two(gpuframe.Expr.Find), "starts_with": two(gpuframe.Expr.HasPrefix),
	"ends_with": two(gpuframe.Expr.HasSuffix), "trim_prefix": two(gpuframe.Expr.TrimPrefix), "trim_suffix": two(gpuframe.Expr.TrimSuffix),
	"count_of": two(gpuframe.Expr.CountOf), "concat": some(gpuframe.Concat), "repeat": withInt(gpuframe.Expr.Repeat),
	"pad_start": padded(gpuframe.Expr.PadStart), "pad_end": padded(gpuframe.Expr.PadEnd),
	"substring": {3, 3, func(arguments []*node) (gpuframe.Expr, error) {
		start, err := constant[int](arguments, 1)
		if err != nil {
			return gpuframe.Expr{}, err
		}
		length, err := constant[int](arguments, 2)
		return arguments[0].value.Substring(start, length), err
	}},
	"replace": {3, 3, func(arguments []*node) (gpuframe.Expr, error) {
		old, err := constant[string](arguments, 1)
		if err != nil {
			return gpuframe.Expr{}, err
		}
		with, err := constant[string](arguments, 2)
		return arguments[0].value.Replace(old, with), err
	}},
	"split_part": {3, 3, func(arguments []*node) (gpuframe.Expr, error) {
		separator, err := constant[string](arguments, 1)
		if err != nil {
			return gpuframe.Expr{}, err
		}
		part, err := constant[int](arguments, 2)
		return arguments[0].value.SplitPart(separator, part), err
	}},

	"fill_null": two(gpuframe.Expr.FillNull), "coalesce": some(gpuframe.Coalesce), "least": some(gpuframe.Least), "greatest": some(gpuframe.Greatest),
	"if": {3, 3, func(arguments []*node) (gpuframe.Expr, error) {
		return gpuframe.If(arguments[0].value, arguments[1].value, arguments[2].value), nil
	}},

	"count": {0, 1, func(arguments []*node) (gpuframe.Expr, error) {
		if len(arguments) == 0 {
			return gpuframe.Count(), nil
		}
		return arguments[0].value.Count(), nil
	}},
	"sum": one(gpuframe.Expr.Sum), "product": one(gpuframe.Expr.Product), "mean": one(gpuframe.Expr.Mean), "min": one(gpuframe.Expr.Min),
	"max": one(gpuframe.Expr.Max), "null_count": one(gpuframe.Expr.NullCount), "first": one(gpuframe.Expr.First), "last": one(gpuframe.Expr.Last),
	"any_value": one(gpuframe.Expr.AnyValue), "mode": one(gpuframe.Expr.Mode), "median": one(gpuframe.Expr.Median),
	"variance": one(gpuframe.Expr.Variance), "stddev": one(gpuframe.Expr.StdDev), "skewness": one(gpuframe.Expr.Skewness),
	"any": one(gpuframe.Expr.Any), "all": one(gpuframe.Expr.All), "list": one(gpuframe.Expr.List),
	"largest": withInt(gpuframe.Expr.Largest), "smallest": withInt(gpuframe.Expr.Smallest), "join_strings": withText(gpuframe.Expr.JoinStrings),
	"correlation": pair(gpuframe.Correlation), "covariance": pair(gpuframe.Covariance),
	"count_distinct": {1, -1, func(arguments []*node) (gpuframe.Expr, error) {
		others := make([]gpuframe.Expression, len(arguments)-1)
		for i, n := range arguments[1:] {
			others[i] = n.value
		}
		return arguments[0].value.CountDistinct(others...), nil
	}},
	"row_number": placed(gpuframe.RowNumber), "rank": placed(gpuframe.Rank), "dense_rank": placed(gpuframe.DenseRank),
	"percent_rank": placed(gpuframe.PercentRank), "cumulative_distribution": placed(gpuframe.CumulativeDistribution),
	"tile": {1, 1, func(arguments []*node) (gpuframe.Expr, error) {
		n, err := constant[int](arguments, 0)
		return gpuframe.Tile(n), err
	}},
	"lag": withInt(gpuframe.Expr.Lag), "lead": withInt(gpuframe.Expr.Lead), "nth": withInt(gpuframe.Expr.Nth),
	"difference": withInt(gpuframe.Expr.Difference), "percent_change": withInt(gpuframe.Expr.PercentChange),
	"cum_sum": one(gpuframe.Expr.CumSum), "cum_product": one(gpuframe.Expr.CumProduct), "cum_min": one(gpuframe.Expr.CumMin),
	"cum_max": one(gpuframe.Expr.CumMax), "cum_mean": one(gpuframe.Expr.CumMean), "cum_count": one(gpuframe.Expr.CumCount),
	"quantile": {2, 2, func(arguments []*node) (gpuframe.Expr, error) {
		if whole, ok := arguments[1].literal.(int); ok {
			return arguments[0].value.Quantile(float64(whole)), nil
		}
		q, err := constant[float64](arguments, 1)
		return arguments[0].value.Quantile(q), err
	}},
}

func one(method func(gpuframe.Expr) gpuframe.Expr) function {
	return function{1, 1, func(arguments []*node) (gpuframe.Expr, error) { return method(arguments[0].value), nil }}
}

// placed is a function of the places of rows.
func placed(of func() gpuframe.Expr) function {
	return function{0, 0, func([]*node) (gpuframe.Expr, error) { return of(), nil }}
}

func two(method func(gpuframe.Expr, any) gpuframe.Expr) function {
	return function{2, 2, func(arguments []*node) (gpuframe.Expr, error) {
		return method(arguments[0].value, arguments[1].value), nil
	}}
}

func three(method func(gpuframe.Expr, any, any) gpuframe.Expr) function {
	return function{3, 3, func(arguments []*node) (gpuframe.Expr, error) {
		return method(arguments[0].value, arguments[1].value, arguments[2].value), nil
	}}
}

func some(of func(...any) gpuframe.Expr) function {
	return function{1, -1, func(arguments []*node) (gpuframe.Expr, error) { return of(operandsOf(arguments)...), nil }}
}

func pair(of func(x, y gpuframe.Expression) gpuframe.Expr) function {
	return function{2, 2, func(arguments []*node) (gpuframe.Expr, error) {
		return of(arguments[0].value, arguments[1].value), nil
	}}
}

func withInt(method func(gpuframe.Expr, int) gpuframe.Expr) function {
	return function{2, 2, func(arguments []*node) (gpuframe.Expr, error) {
		n, err := constant[int](arguments, 1)
		return method(arguments[0].value, n), err
	}}
}

func withText(method func(gpuframe.Expr, string) gpuframe.Expr) function {
	return function{2, 2, func(arguments []*node) (gpuframe.Expr, error) {
		value, err := constant[string](arguments, 1)
		return method(arguments[0].value, value), err
	}}
}

// padded is a function of a text, a number of characters, and a character.
func padded(method func(gpuframe.Expr, int, rune) gpuframe.Expr) function {
	return function{3, 3, func(arguments []*node) (gpuframe.Expr, error) {
		characters, err := constant[int](arguments, 1)
		if err != nil {
			return gpuframe.Expr{}, err
		}
		value, err := constant[string](arguments, 2)
		with, length := utf8.DecodeRuneInString(value)
		if err == nil && (length == 0 || length < len(value)) {
			err = fmt.Errorf("argument 3 is %q, expected one character", value)
		}
		return method(arguments[0].value, characters, with), err
	}}
}

// constant returns an argument that must be a literal of a Go type.
func constant[T int | float64 | string](arguments []*node, i int) (T, error) {
	value, ok := arguments[i].literal.(T)
	if !ok {
		kind := map[any]string{int(0): "a whole number", float64(0): "a number", "": "a text"}[any(value)]
		return value, fmt.Errorf("argument %d must be %s", i+1, kind)
	}
	return value, nil
}
