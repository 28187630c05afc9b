package reduce

import (
	"fmt"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Aggregate is one number to be found of a table's rows. It is immutable and may be
// used from any goroutine. The zero value is none and gives an error.
//
// Keep the expressions of aggregates that are computed often: what is found out of
// them is kept with them.
type Aggregate struct {
	function function
	value    expr.Expr
	where    expr.Expr
	// freedom is what Variance and StdDev subtract from the number of values.
	freedom int
	name    string
}

// function is what an aggregate computes.
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
// that the type of the result does not hold is null.
func Sum(e expr.Expr) Aggregate { return Aggregate{function: sum, value: e} }

// Product is the product of an expression's values. Integers wrap around.
func Product(e expr.Expr) Aggregate { return Aggregate{function: product, value: e} }

// Min is the least of an expression's values.
func Min(e expr.Expr) Aggregate { return Aggregate{function: minimum, value: e} }

// Max is the greatest of an expression's values.
func Max(e expr.Expr) Aggregate { return Aggregate{function: maximum, value: e} }

// Mean is the arithmetic mean of an expression's values.
func Mean(e expr.Expr) Aggregate { return Aggregate{function: mean, value: e} }

// Count is the number of rows in which an expression is not null.
func Count(e expr.Expr) Aggregate { return Aggregate{function: count, value: e} }

// CountNull is the number of rows in which an expression is null.
func CountNull(e expr.Expr) Aggregate { return Aggregate{function: countNull, value: e} }

// CountAll is the number of rows.
func CountAll() Aggregate { return Aggregate{function: countAll} }

// Any is whether a value is true, All whether every one is. Nulls are passed over;
// of no values they are null.
func Any(e expr.Expr) Aggregate { return Aggregate{function: anyTrue, value: e} }

// All is whether every value is true. See [Any].
func All(e expr.Expr) Aggregate { return Aggregate{function: allTrue, value: e} }

// Variance is the mean square of the values' distances from their mean: the sum of
// the squares divided by the number of values less degreesOfFreedom, which is 0 for
// the variance of these values and 1 for an estimate of that of what they are a
// sample of. With no more values than that it is null.
func Variance(e expr.Expr, degreesOfFreedom int) Aggregate {
	return Aggregate{function: variance, value: e, freedom: degreesOfFreedom}
}

// StdDev is the standard deviation, the square root of [Variance].
func StdDev(e expr.Expr, degreesOfFreedom int) Aggregate {
	return Aggregate{function: deviation, value: e, freedom: degreesOfFreedom}
}

// ArgMin is the number of the row that holds the least value, the first of several.
// Rows count from 0, those that Where leaves out too.
func ArgMin(e expr.Expr) Aggregate { return Aggregate{function: rowOfMinimum, value: e} }

// ArgMax is the number of the row that holds the greatest value. See [ArgMin].
func ArgMax(e expr.Expr) Aggregate { return Aggregate{function: rowOfMaximum, value: e} }

// Where lets only those rows count in which a condition is true, which is neither
// false nor null. Of several conditions all must be.
func (a Aggregate) Where(condition expr.Expr) Aggregate {
	if a.where != (expr.Expr{}) {
		condition = a.where.AndStrict(condition) // true for the same rows as And, and cheaper
	}
	a.where = condition
	return a
}

// Where returns the aggregates with one more condition each; the given ones stay as
// they are.
func Where(condition expr.Expr, aggregates ...Aggregate) []Aggregate {
	filtered := make([]Aggregate, len(aggregates))
	for i, a := range aggregates {
		filtered[i] = a.Where(condition)
	}
	return filtered
}

// As gives the aggregate a name, which its column has in the result. Without one it
// is what String returns.
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
