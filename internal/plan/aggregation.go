package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// Aggregation is a function of the rows of a group, as data: a planner reads it, and a
// query can travel with it.
type Aggregation struct {
	// Function is the name of the function: a key of the table in this file.
	Function string
	// Values are the expressions that it reads.
	Values []expr.Expr
	// Where, or the zero Expr, is a condition on the rows.
	Where expr.Expr
	// Count is the argument of the functions that have a whole number: a number of values, rows or
	// parts, or degrees of freedom. A float64 does not hold all of them.
	Count int64
	// Number is the argument of the others: a quantile, or the weight of an exponential mean.
	Number float64
	// Text is the separator of join_strings.
	Text string
	// SkipNulls makes first, last, nth, list, lag and lead skip rows in which their value is null. The
	// other functions always do.
	SkipNulls bool
	// Name is the name of the column.
	Name string
}

// aggregateFunction describes a function.
type aggregateFunction struct {
	values int
	make   func(a Aggregation) group.Aggregate
}

// unary is a function of one expression.
func unary(make func(expr.Expr) group.Aggregate) aggregateFunction {
	return aggregateFunction{1, func(a Aggregation) group.Aggregate { return make(a.Values[0]) }}
}

// aggregateFunctions are the functions by name. -1 values are one or more.
var aggregateFunctions = map[string]aggregateFunction{
	"count":          {0, func(Aggregation) group.Aggregate { return group.CountAll() }},
	"count_values":   unary(group.Count),
	"null_count":     unary(group.CountNull),
	"sum":            unary(group.Sum),
	"product":        unary(group.Product),
	"min":            unary(group.Min),
	"max":            unary(group.Max),
	"mean":           unary(group.Mean),
	"median":         unary(group.Median),
	"any":            unary(group.Any),
	"all":            unary(group.All),
	"first":          unary(group.First),
	"last":           unary(group.Last),
	"any_value":      unary(group.AnyValue),
	"mode":           unary(group.Mode),
	"list":           unary(group.Collect),
	"skewness":       unary(group.Skewness),
	"arg_min":        unary(group.ArgMin),
	"arg_max":        unary(group.ArgMax),
	"join_strings":   {1, func(a Aggregation) group.Aggregate { return group.Join(a.Values[0], a.Text) }},
	"quantile":       {1, func(a Aggregation) group.Aggregate { return group.Quantile(a.Values[0], a.Number) }},
	"variance":       {1, func(a Aggregation) group.Aggregate { return group.Variance(a.Values[0], int(a.Count)) }},
	"stddev":         {1, func(a Aggregation) group.Aggregate { return group.StdDev(a.Values[0], int(a.Count)) }},
	"largest":        {1, func(a Aggregation) group.Aggregate { return group.Largest(a.Values[0], int(a.Count)) }},
	"smallest":       {1, func(a Aggregation) group.Aggregate { return group.Smallest(a.Values[0], int(a.Count)) }},
	"correlation":    {2, func(a Aggregation) group.Aggregate { return group.Correlation(a.Values[0], a.Values[1]) }},
	"covariance":     {2, func(a Aggregation) group.Aggregate { return group.Covariance(a.Values[0], a.Values[1], int(a.Count)) }},
	"count_distinct": {-1, func(a Aggregation) group.Aggregate { return group.CountDistinct(a.Values[0], a.Values[1:]...) }},
}

// counted are the functions with a Count, numbered those with a Number.
var (
	counted  = []string{"variance", "stddev", "largest", "smallest", "covariance", "tile", "lag", "lead", "nth"}
	numbered = []string{"quantile", "exponential_mean"}
)

// Build returns the aggregate of package group.
func (a Aggregation) Build() (group.Aggregate, error) {
	f, ok := aggregateFunctions[a.Function]
	if !ok {
		return group.Aggregate{}, fmt.Errorf("no aggregate %q: %w", a.Function, device.ErrInvalidValue)
	}
	if n := len(a.Values); f.values >= 0 && n != f.values || f.values < 0 && n == 0 {
		return group.Aggregate{}, fmt.Errorf("%s has %d expressions, expected %d: %w", a.Function, n, max(f.values, 1), device.ErrInvalidValue)
	}
	aggregate := f.make(a).As(a.Name)
	if a.SkipNulls {
		aggregate = aggregate.SkipNulls()
	}
	if !a.Where.IsZero() {
		aggregate = aggregate.Where(a.Where)
	}
	return aggregate, nil
}

// String formats the aggregation: "sum(price * qty) where qty > 2".
func (a Aggregation) String() string {
	texts := make([]string, len(a.Values))
	for i, e := range a.Values {
		texts[i] = Readable(e.String())
	}
	if slices.Contains(counted, a.Function) {
		texts = append(texts, strconv.FormatInt(a.Count, 10))
	}
	if slices.Contains(numbered, a.Function) {
		texts = append(texts, strconv.FormatFloat(a.Number, 'g', -1, 64))
	}
	if a.Function == "join_strings" {
		texts = append(texts, strconv.Quote(a.Text))
	}
	text := a.Function + "(" + strings.Join(texts, ", ") + ")"
	if a.SkipNulls {
		text += " skip nulls"
	}
	if !a.Where.IsZero() {
		text += " where " + Readable(a.Where.String())
	}
	return text
}

// columns adds the columns that the aggregation reads to a set.
func (a Aggregation) columns(to map[string]bool) {
	for _, e := range a.Values {
		addColumns(to, e)
	}
	addColumns(to, a.Where)
}

// over returns the aggregation on an input with definitions of its columns.
func (a Aggregation) over(definitions map[string]expr.Expr) Aggregation {
	a.Values = slices.Clone(a.Values)
	for i, e := range a.Values {
		a.Values[i] = inline(e, definitions)
	}
	if !a.Where.IsZero() {
		a.Where = inline(a.Where, definitions)
	}
	return a
}

// build makes the aggregates of a list.
func build(list []Aggregation) ([]group.Aggregate, error) {
	aggregates := make([]group.Aggregate, len(list))
	for i, a := range list {
		var err error
		if aggregates[i], err = a.Build(); err != nil {
			return nil, err
		}
	}
	return aggregates, nil
}

func addColumns(to map[string]bool, e expr.Expr) {
	for _, name := range e.Columns() {
		to[name] = true
	}
}

// describedAggregations formats aggregations with their names.
func describedAggregations(list []Aggregation) string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = a.String()
		if name := Readable(a.Name); name != texts[i] {
			texts[i] = name + " = " + texts[i]
		}
	}
	return strings.Join(texts, ", ")
}
