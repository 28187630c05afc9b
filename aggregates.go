package gpuframe

import (
	"fmt"
	"hash/fnv"
	"maps"
	"strings"

	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Count is the number of rows.
func Count() Expr { return aggregated("count", 0, "count") }

// Sum is the sum of the values. A sum of integers or decimals that overflows is null. A sum
// of floats does not depend on the order of the rows.
func (e Expr) Sum() Expr { return aggregated("sum", 0, e.Name(), e) }

// Product is the product of integers, which wraps around.
func (e Expr) Product() Expr { return aggregated("product", 0, e.Name(), e) }

// Mean is the arithmetic mean. That of decimals has four more digits behind the point, of at most
// 38, and is rounded half away from zero.
func (e Expr) Mean() Expr { return aggregated("mean", 0, e.Name(), e) }

// Min is the least value.
func (e Expr) Min() Expr { return aggregated("min", 0, e.Name(), e) }

// Max is the greatest value.
func (e Expr) Max() Expr { return aggregated("max", 0, e.Name(), e) }

// Count is the number of values that are not null.
func (e Expr) Count() Expr { return aggregated("count_values", 0, e.Name(), e) }

// NullCount is the number of nulls.
func (e Expr) NullCount() Expr { return aggregated("null_count", 0, e.Name(), e) }

// CountDistinct is the number of distinct values or, with other expressions, of distinct
// combinations of values. Nulls are not counted.
func (e Expr) CountDistinct(others ...Expression) Expr {
	list := []Expr{e}
	for _, o := range others {
		list = append(list, o.expression())
	}
	return aggregated("count_distinct", 0, e.Name(), list...)
}

// First is the value of the first row, which may be null: see [Expr.SkipNulls].
func (e Expr) First() Expr { return aggregated("first", 0, e.Name(), e) }

// Last is the value of the last row, which may be null: see [Expr.SkipNulls].
func (e Expr) Last() Expr { return aggregated("last", 0, e.Name(), e) }

// AnyValue is one of the values that are not null, the same in every run.
func (e Expr) AnyValue() Expr { return aggregated("any_value", 0, e.Name(), e) }

// Mode is the most frequent value.
func (e Expr) Mode() Expr { return aggregated("mode", 0, e.Name(), e) }

// Median is the middle of the sorted values, or the mean of the two in the middle.
func (e Expr) Median() Expr { return aggregated("median", 0, e.Name(), e) }

// Quantile is the value below which a fraction q of the values lies, interpolated.
func (e Expr) Quantile(q float64) Expr { return aggregated("quantile", q, e.Name(), e) }

// Variance is the sample variance: the divisor is the number of values minus one.
func (e Expr) Variance() Expr { return counted("variance", 1, e.Name(), e) }

// StdDev is the square root of Variance.
func (e Expr) StdDev() Expr { return counted("stddev", 1, e.Name(), e) }

// Skewness is the third standardized moment, of the population.
func (e Expr) Skewness() Expr { return aggregated("skewness", 0, e.Name(), e) }

// Any reports whether a value is true.
func (e Expr) Any() Expr { return aggregated("any", 0, e.Name(), e) }

// All reports whether every value is true.
func (e Expr) All() Expr { return aggregated("all", 0, e.Name(), e) }

// List is the list of the values, with null elements: see [Expr.SkipNulls].
func (e Expr) List() Expr { return aggregated("list", 0, e.Name(), e) }

// JoinStrings is one string of those of the rows, in their order, with a separator between
// them.
func (e Expr) JoinStrings(separator string) Expr {
	return aggregate(plan.Aggregation{Function: "join_strings", Text: separator}, e.Name(), e)
}

// Largest is the list of the n largest values, the largest first.
func (e Expr) Largest(n int) Expr { return counted("largest", n, e.Name(), e) }

// Smallest is the list of the n smallest values, the smallest first.
func (e Expr) Smallest(n int) Expr { return counted("smallest", n, e.Name(), e) }

// Correlation is Pearson's correlation of two expressions.
func Correlation(x, y Expression) Expr {
	return aggregated("correlation", 0, x.expression().Name(), x.expression(), y.expression())
}

// Covariance is the sample covariance of two expressions.
func Covariance(x, y Expression) Expr {
	return counted("covariance", 1, x.expression().Name(), x.expression(), y.expression())
}

// aggregated makes an expression with one part: an aggregate.
func aggregated(function string, number float64, root string, values ...Expr) Expr {
	return aggregate(plan.Aggregation{Function: function, Number: number}, root, values...)
}

// counted is aggregated for a function with a whole number.
func counted(function string, count int, root string, values ...Expr) Expr {
	return aggregate(plan.Aggregation{Function: function, Count: int64(count)}, root, values...)
}

// aggregate makes an expression of an aggregation of some values.
func aggregate(of plan.Aggregation, root string, values ...Expr) Expr {
	p := part{aggregation: of}
	var misuse error
	for _, v := range values {
		p.aggregation.Values = append(p.aggregation.Values, p.inner.join(v))
		misuse = joinMisuse(misuse, v.misuse)
	}
	made := p.column(root)
	made.misuse = misuse
	return made
}

// column returns the expression that is the part.
func (p part) column(root string) Expr {
	text := p.aggregation.String() + p.frame.String()
	if p.window != nil {
		text += " over " + p.window.String()
	}
	p.aggregation.Name = plan.Computed(shortened(text))
	return Expr{value: expr.Col(p.aggregation.Name), parts: parts{p.aggregation.Name: &p}, root: root}
}

// longestName is the length of the longest name that is the text of its part. Aggregates and windows
// within each other repeat their texts.
const longestName = 200

// shortened returns a text of limited length, which differs for texts that differ.
func shortened(text string) string {
	if len(text) <= longestName {
		return text
	}
	sum := fnv.New64a()
	sum.Write([]byte(text))
	return fmt.Sprintf("%s … %016x", strings.ToValidUTF8(text[:longestName], ""), sum.Sum64())
}

// Where restricts the aggregates of an expression to the rows in which a condition is
// true. Several conditions must all be true. An expression without aggregates becomes an
// error when the query is bound.
func (e Expr) Where(condition Expression) Expr {
	c := condition.expression()
	return e.eachPart(func(of *part) part {
		p := *of
		p.inner = maps.Clone(p.inner)
		where := p.inner.join(c)
		if !p.aggregation.Where.IsZero() {
			where = p.aggregation.Where.And(where)
		}
		p.aggregation.Where = where
		return p
	})
}

// SkipNulls makes First, Last, Nth, List, Lag and Lead skip rows in which the value is null, as IGNORE
// NULLS in SQL: x.Last().SkipNulls() is the last value that is not null. It comes before Over. Other
// aggregates always skip nulls: with it they become an error when the query is bound.
func (e Expr) SkipNulls() Expr {
	changed := false
	skipping := e.eachPart(func(of *part) part {
		p := *of
		p.aggregation.SkipNulls, changed = true, true
		return p
	})
	if !changed && skipping.misuse == nil {
		skipping.misuse = fmt.Errorf("%v is a window: call SkipNulls before Over", e)
	}
	return skipping
}

// eachPart changes the aggregates of an expression that are not windows yet.
func (e Expr) eachPart(change func(*part) part) Expr {
	if len(e.parts) == 0 {
		e.misuse = fmt.Errorf("Where, SkipNulls and Over apply to aggregates, and %v has none", e)
		return e
	}
	made := Expr{root: e.root, given: e.given, misuse: e.misuse}
	values := map[string]expr.Expr{}
	for name, p := range e.parts {
		column := Expr{value: expr.Col(name), parts: parts{name: p}}
		if p.window == nil {
			column = change(p).column("")
		}
		values[name] = made.parts.join(column)
	}
	made.value = e.value.Substitute(func(sub expr.Expr) (expr.Expr, bool) {
		name, _ := sub.Column()
		value, ok := values[name]
		return value, ok
	})
	return made
}
