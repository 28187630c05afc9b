package group

import (
	"fmt"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Aggregate is one column of the result of [Query.Aggregate]: a function of the rows of
// each group. It is immutable and safe for concurrent use. The zero value is invalid and
// gives an error.
type Aggregate struct {
	function function
	value    expr.Expr
	// others are further expressions, of Covariance, Correlation and CountDistinct.
	others   []expr.Expr
	where    expr.Expr
	freedom  int
	quantile float64
	limit    int
	// separator is that of Join.
	separator string
	skipNulls bool
	// folding is that of Fold.
	folding *Folding
	// masked is set if where is the condition of the query alone, which a row of each group meets.
	masked bool
	name   string
}

// function is the function of an aggregate.
type function uint8

const (
	none function = iota
	sum
	product
	minimum
	maximum
	mean
	count
	countAll
	countNull
	anyTrue
	allTrue
	variance
	deviation
	rowOfMinimum
	rowOfMaximum
	first
	last
	median
	quantile
	countDistinct
	mode
	covariance
	correlation
	skewness
	kurtosis
	anyValue
	collect
	join
	largest
	smallest
	bitOr
	bitXor
	fold
	functions
)

var functionNames = [functions]string{
	none: "none", sum: "sum", product: "product", minimum: "min", maximum: "max", mean: "mean", count: "count",
	countAll: "count_all", countNull: "count_null", anyTrue: "any", allTrue: "all", variance: "variance", deviation: "stddev",
	rowOfMinimum: "arg_min", rowOfMaximum: "arg_max", first: "first", last: "last", median: "median", quantile: "quantile",
	countDistinct: "count_distinct", mode: "mode", covariance: "covariance", correlation: "correlation", skewness: "skewness", kurtosis: "kurtosis",
	anyValue: "any_value", collect: "collect", join: "join", largest: "largest", smallest: "smallest",
	bitOr: "bit_or", bitXor: "bit_xor", fold: "fold",
}

// Sum is the sum of an expression's values. A sum of integers, decimals or durations that
// overflows the type of the result is null.
func Sum(e expr.Expr) Aggregate { return Aggregate{function: sum, value: e} }

// Product is the product of integers. It wraps around. Products of floats depend on the
// order of the rows and are refused.
func Product(e expr.Expr) Aggregate { return Aggregate{function: product, value: e} }

// BitOr is the bits that one of an expression's integers or more has.
func BitOr(e expr.Expr) Aggregate { return Aggregate{function: bitOr, value: e} }

// BitXor is the bits that an odd number of an expression's integers has.
func BitXor(e expr.Expr) Aggregate { return Aggregate{function: bitXor, value: e} }

// Min is the smallest of an expression's values, of any type with an order.
func Min(e expr.Expr) Aggregate { return Aggregate{function: minimum, value: e} }

// Max is the largest of an expression's values, of any type with an order.
func Max(e expr.Expr) Aggregate { return Aggregate{function: maximum, value: e} }

// Mean is the arithmetic mean of an expression's values.
func Mean(e expr.Expr) Aggregate { return Aggregate{function: mean, value: e} }

// Count is the number of rows in which an expression is not null.
func Count(e expr.Expr) Aggregate { return Aggregate{function: count, value: e} }

// CountAll is the number of rows.
func CountAll() Aggregate { return Aggregate{function: countAll} }

// CountNull is the number of rows in which an expression is null.
func CountNull(e expr.Expr) Aggregate { return Aggregate{function: countNull, value: e} }

// Any reports whether at least one value is true.
func Any(e expr.Expr) Aggregate { return Aggregate{function: anyTrue, value: e} }

// All reports whether every value is true.
func All(e expr.Expr) Aggregate { return Aggregate{function: allTrue, value: e} }

// Variance is the sum of the squared deviations of the values from their mean, divided by
// the number of values minus degreesOfFreedom. It is null unless there are more values.
func Variance(e expr.Expr, degreesOfFreedom int) Aggregate {
	return Aggregate{function: variance, value: e, freedom: degreesOfFreedom}
}

// StdDev is the square root of [Variance].
func StdDev(e expr.Expr, degreesOfFreedom int) Aggregate {
	return Aggregate{function: deviation, value: e, freedom: degreesOfFreedom}
}

// Covariance is the sum of the products of the deviations of two expressions from their
// means, divided by the number of rows minus degreesOfFreedom. Rows in which either is
// null are skipped.
func Covariance(x, y expr.Expr, degreesOfFreedom int) Aggregate {
	return Aggregate{function: covariance, value: x, others: []expr.Expr{y}, freedom: degreesOfFreedom}
}

// Correlation is Pearson's correlation of two expressions. Rows in which either is null
// are skipped. It is NaN if one of them is constant, and null for fewer than two rows.
func Correlation(x, y expr.Expr) Aggregate {
	return Aggregate{function: correlation, value: x, others: []expr.Expr{y}}
}

// Skewness is the third standardized moment of the values: the mean cubed deviation from
// the mean, divided by the cube of the standard deviation of the values themselves. It is
// NaN if all values are equal.
func Skewness(e expr.Expr) Aggregate { return Aggregate{function: skewness, value: e} }

// Kurtosis is the excess kurtosis of the population that the values are a sample of: Fisher's definition with
// the correction for the number of values, as DuckDB's kurtosis and pandas' kurt. It is null for fewer than
// four values, and NaN if all values are equal.
func Kurtosis(e expr.Expr) Aggregate { return Aggregate{function: kurtosis, value: e, freedom: 1} }

// KurtosisPop is the excess kurtosis of the values themselves: the mean fourth power of the deviations from the
// mean, divided by the squared variance of the values, minus 3, as DuckDB's kurtosis_pop and Polars' kurtosis. It
// is NaN if all values are equal.
func KurtosisPop(e expr.Expr) Aggregate { return Aggregate{function: kurtosis, value: e} }

// ArgMin is the number of the first row of the table that has the smallest value.
func ArgMin(e expr.Expr) Aggregate { return Aggregate{function: rowOfMinimum, value: e} }

// ArgMax is the number of the first row of the table that has the largest value.
func ArgMax(e expr.Expr) Aggregate { return Aggregate{function: rowOfMaximum, value: e} }

// First is the value of the first row, null if it is null there: see [Aggregate.SkipNulls].
func First(e expr.Expr) Aggregate { return Aggregate{function: first, value: e} }

// Last is the value of the last row, null if it is null there: see [Aggregate.SkipNulls].
func Last(e expr.Expr) Aggregate { return Aggregate{function: last, value: e} }

// AnyValue is one of the values that are not null. Which one is not specified, but it is the
// same in every run.
func AnyValue(e expr.Expr) Aggregate { return Aggregate{function: anyValue, value: e} }

// Median is the [Quantile] of 0.5.
func Median(e expr.Expr) Aggregate { return Aggregate{function: median, value: e, quantile: 0.5} }

// Quantile is the value below which a fraction q of the values lies, as float64. Between
// two values it is interpolated: it lies at place q·(n−1) of the n sorted values, counted
// from 0. NaN comes after all numbers.
func Quantile(e expr.Expr, q float64) Aggregate {
	return Aggregate{function: quantile, value: e, quantile: q}
}

// CountDistinct is the number of distinct values or, with several expressions, of distinct
// combinations of values. Rows in which any of them is null are skipped.
func CountDistinct(e expr.Expr, others ...expr.Expr) Aggregate {
	return Aggregate{function: countDistinct, value: e, others: others}
}

// Mode is the most frequent value. Of equally frequent ones it is the one that occurs
// first.
func Mode(e expr.Expr) Aggregate { return Aggregate{function: mode, value: e} }

// Collect is the list of the values, in the order of the rows. Nulls are elements of it: see
// [Aggregate.SkipNulls].
func Collect(e expr.Expr) Aggregate { return Aggregate{function: collect, value: e} }

// Join is the strings of the group in the order of the rows, with a separator between them.
func Join(e expr.Expr, separator string) Aggregate {
	return Aggregate{function: join, value: e, separator: separator}
}

// Largest is the list of the n largest values, the largest first, or of all values if
// there are fewer.
func Largest(e expr.Expr, n int) Aggregate { return Aggregate{function: largest, value: e, limit: n} }

// Smallest is the list of the n smallest values, the smallest first, or of all values if
// there are fewer.
func Smallest(e expr.Expr, n int) Aggregate {
	return Aggregate{function: smallest, value: e, limit: n}
}

// Where restricts the aggregate to rows in which a condition is true, not false or null.
// Several conditions must all be true.
func (a Aggregate) Where(condition expr.Expr) Aggregate {
	if !a.where.IsZero() {
		condition = a.where.AndStrict(condition) // true for the same rows as And, and cheaper
	}
	a.where = condition
	return a
}

// SkipNulls makes First, Last and Collect skip rows in which the value is null. The other
// aggregates always skip them, and refuse it.
func (a Aggregate) SkipNulls() Aggregate {
	a.skipNulls = true
	return a
}

// keepsNulls reports whether the function takes nulls for values.
func (a Aggregate) keepsNulls() bool {
	return !a.skipNulls && (a.function == first || a.function == last || a.function == collect)
}

// As sets the name of the aggregate's column in the result. The default name is the result
// of String.
func (a Aggregate) As(name string) Aggregate {
	a.name = name
	return a
}

// Name returns the name of the aggregate's column in the result.
func (a Aggregate) Name() string {
	if a.name != "" {
		return a.name
	}
	return a.String()
}

// String formats the aggregate for messages.
func (a Aggregate) String() string {
	name := functionNames[a.function]
	if a.folding != nil {
		name = a.folding.Name
	}
	s := name + "("
	if a.hasValue() {
		s += fmt.Sprint(a.value)
	}
	for _, other := range a.others {
		s += fmt.Sprintf(", %v", other)
	}
	switch a.function {
	case variance, deviation, covariance:
		if a.freedom != 0 {
			s += fmt.Sprintf(", %d", a.freedom)
		}
	case quantile:
		s += fmt.Sprintf(", %v", a.quantile)
	case join:
		s += fmt.Sprintf(", %q", a.separator)
	case largest, smallest:
		s += fmt.Sprintf(", %d", a.limit)
	}
	s += ")"
	if a.skipNulls {
		s += " skip nulls"
	}
	if !a.where.IsZero() {
		s += fmt.Sprintf(" where %v", a.where)
	}
	return s
}

func (a Aggregate) hasValue() bool { return a.function != none && a.function != countAll }

// AggregateError is an aggregate that cannot be computed.
type AggregateError struct {
	// Number is the number of the aggregate, counted from 0.
	Number    int
	Aggregate Aggregate
	Err       error
}

// Error names the aggregate.
func (e *AggregateError) Error() string {
	return fmt.Sprintf("aggregate %d, %v: %v", e.Number, e.Aggregate, e.Err)
}

// Unwrap returns Err.
func (e *AggregateError) Unwrap() error { return e.Err }
