package reduce

import (
	"fmt"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Aggregate is one number to compute from a table's rows. It is immutable and safe for
// concurrent use. The zero value is invalid and gives an error.
//
// Reuse the expressions of aggregates that are computed often: the results of binding
// them are cached with them.
type Aggregate struct {
	function function
	value    expr.Expr
	where    expr.Expr
	// freedom is the number that Variance and StdDev subtract from the number of
	// values.
	freedom int
	name    string
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
	functions
)

var names = [functions]string{none: "none", sum: "sum", product: "product", minimum: "min", maximum: "max", mean: "mean",
	count: "count", countAll: "count_all", countNull: "count_null", anyTrue: "any", allTrue: "all", variance: "variance",
	deviation: "stddev", rowOfMinimum: "arg_min", rowOfMaximum: "arg_max"}

// Sum is the sum of an expression's values. A sum of integers, decimals or durations
// that overflows the type of the result is null.
func Sum(e expr.Expr) Aggregate { return Aggregate{function: sum, value: e} }

// Product is the product of an expression's values. Integers wrap around.
func Product(e expr.Expr) Aggregate { return Aggregate{function: product, value: e} }

// Min is the smallest of an expression's values.
func Min(e expr.Expr) Aggregate { return Aggregate{function: minimum, value: e} }

// Max is the largest of an expression's values.
func Max(e expr.Expr) Aggregate { return Aggregate{function: maximum, value: e} }

// Mean is the arithmetic mean of an expression's values.
func Mean(e expr.Expr) Aggregate { return Aggregate{function: mean, value: e} }

// Count is the number of rows in which an expression is not null.
func Count(e expr.Expr) Aggregate { return Aggregate{function: count, value: e} }

// CountNull is the number of rows in which an expression is null.
func CountNull(e expr.Expr) Aggregate { return Aggregate{function: countNull, value: e} }

// CountAll is the number of rows.
func CountAll() Aggregate { return Aggregate{function: countAll} }

// Any reports whether at least one value is true. Nulls are skipped; without values the
// result is null.
func Any(e expr.Expr) Aggregate { return Aggregate{function: anyTrue, value: e} }

// All reports whether every value is true. Nulls are skipped; without values the result
// is null.
func All(e expr.Expr) Aggregate { return Aggregate{function: allTrue, value: e} }

// Variance is the mean squared deviation of the values from their mean: the sum of the
// squares divided by the number of values minus degreesOfFreedom. Use 0 for the
// variance of the values themselves and 1 to estimate the variance of the population
// from which they are a sample. The result is null unless there are more than
// degreesOfFreedom values.
func Variance(e expr.Expr, degreesOfFreedom int) Aggregate {
	return Aggregate{function: variance, value: e, freedom: degreesOfFreedom}
}

// StdDev is the standard deviation, the square root of [Variance].
func StdDev(e expr.Expr, degreesOfFreedom int) Aggregate {
	return Aggregate{function: deviation, value: e, freedom: degreesOfFreedom}
}

// ArgMin is the number of the first row that has the smallest value. Rows count from 0,
// including those that Where excludes.
func ArgMin(e expr.Expr) Aggregate { return Aggregate{function: rowOfMinimum, value: e} }

// ArgMax is the number of the first row that has the largest value. See [ArgMin].
func ArgMax(e expr.Expr) Aggregate { return Aggregate{function: rowOfMaximum, value: e} }

// Where restricts the aggregate to rows in which a condition is true, not false or
// null. If Where is called several times, all conditions must be true.
func (a Aggregate) Where(condition expr.Expr) Aggregate {
	if a.where != (expr.Expr{}) {
		condition = a.where.AndStrict(condition) // true for the same rows as And, and cheaper
	}
	a.where = condition
	return a
}

// Where returns copies of the aggregates with one more condition each.
func Where(condition expr.Expr, aggregates ...Aggregate) []Aggregate {
	filtered := make([]Aggregate, len(aggregates))
	for i, a := range aggregates {
		filtered[i] = a.Where(condition)
	}
	return filtered
}

// As sets the name of the aggregate's column in the result. The default name is the
// result of String.
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
	s := names[a.function] + "()"
	switch {
	case a.function == none || a.function == countAll:
	case a.freedom != 0:
		s = fmt.Sprintf("%s(%v, %d)", names[a.function], a.value, a.freedom)
	default:
		s = fmt.Sprintf("%s(%v)", names[a.function], a.value)
	}
	if a.where != (expr.Expr{}) {
		s += fmt.Sprintf(" where %v", a.where)
	}
	return s
}
