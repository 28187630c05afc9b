package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// Aggregation is a function of the rows of a group or of a window, as data: a planner reads it, and a
// query can travel with it.
type Aggregation struct {
	// Function is the name of the function in the catalog.
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
	// Distance is the half-life of exponential_mean_by: a number or a time.Duration.
	Distance any
	// Text is the separator of join_strings.
	Text string
	// Folding is that of a function that has one. Its arguments are those of the function.
	Folding *group.Folding
	// SkipNulls makes first, last, nth, list, lag and lead skip rows in which their value is null. The
	// other functions always do.
	SkipNulls bool
	// Frame is the rows of the partition that the function is of, if it is of a window.
	Frame Frame
	// Name is the name of the column.
	Name string
}

// aggregateFunctions make the aggregates of package group, by name. The catalog has their other
// properties.
var aggregateFunctions = map[string]func(a Aggregation) group.Aggregate{
	"count":          func(Aggregation) group.Aggregate { return group.CountAll() },
	"count_values":   aggregateOf(group.Count),
	"null_count":     aggregateOf(group.CountNull),
	"sum":            aggregateOf(group.Sum),
	"product":        aggregateOf(group.Product),
	"bitwise_or":     aggregateOf(group.BitOr),
	"bitwise_xor":    aggregateOf(group.BitXor),
	"min":            aggregateOf(group.Min),
	"max":            aggregateOf(group.Max),
	"mean":           aggregateOf(group.Mean),
	"median":         aggregateOf(group.Median),
	"any":            aggregateOf(group.Any),
	"all":            aggregateOf(group.All),
	"first":          aggregateOf(group.First),
	"last":           aggregateOf(group.Last),
	"any_value":      aggregateOf(group.AnyValue),
	"mode":           aggregateOf(group.Mode),
	"list":           aggregateOf(group.Collect),
	"skewness":       aggregateOf(group.Skewness),
	"kurtosis":       aggregateOf(group.Kurtosis),
	"kurtosis_pop":   aggregateOf(group.KurtosisPop),
	"arg_min":        aggregateOf(group.ArgMin),
	"arg_max":        aggregateOf(group.ArgMax),
	"join_strings":   func(a Aggregation) group.Aggregate { return group.Join(a.Values[0], a.Text) },
	"quantile":       func(a Aggregation) group.Aggregate { return group.Quantile(a.Values[0], a.Number) },
	"variance":       func(a Aggregation) group.Aggregate { return group.Variance(a.Values[0], int(a.Count)) },
	"stddev":         func(a Aggregation) group.Aggregate { return group.StdDev(a.Values[0], int(a.Count)) },
	"largest":        func(a Aggregation) group.Aggregate { return group.Largest(a.Values[0], int(a.Count)) },
	"smallest":       func(a Aggregation) group.Aggregate { return group.Smallest(a.Values[0], int(a.Count)) },
	"correlation":    func(a Aggregation) group.Aggregate { return group.Correlation(a.Values[0], a.Values[1]) },
	"covariance":     func(a Aggregation) group.Aggregate { return group.Covariance(a.Values[0], a.Values[1], int(a.Count)) },
	"count_distinct": func(a Aggregation) group.Aggregate { return group.CountDistinct(a.Values[0], a.Values[1:]...) },
}

// aggregateOf is an aggregate of one expression.
func aggregateOf(construct func(expr.Expr) group.Aggregate) func(Aggregation) group.Aggregate {
	return func(a Aggregation) group.Aggregate { return construct(a.Values[0]) }
}

// Properties returns the function's entry in the catalog. That of an unknown function is empty.
func (a Aggregation) Properties() *catalog.Function { return catalog.OfAggregation(a.Function) }

// IsOfRow reports whether the function has a value for each row and is no aggregate.
func (a Aggregation) IsOfRow() bool { return a.Properties().Kind == catalog.Window }

// IsOrdered reports whether the value for a row of a window depends on the order of its rows, if they
// are ordered, on a frame or on the place of the row.
func (a Aggregation) IsOrdered(ordered bool) bool {
	return ordered && a.Properties().Order == catalog.RowOrder || !a.Frame.Same(Frame{}) || a.IsOfRow()
}

// checkValues refuses a wrong number of expressions.
func (a Aggregation) checkValues() error {
	least, most := a.Properties().OperandCounts()
	if n := len(a.Values); n < least || n > most {
		return fmt.Errorf("%s has %d expressions, expected %d: %w", a.Function, n, least, device.ErrInvalidValue)
	}
	return nil
}

// Build returns the aggregate of package group.
func (a Aggregation) Build() (group.Aggregate, error) {
	construct, ok := aggregateFunctions[a.Function]
	if a.Folding != nil {
		construct, ok = a.fold, true
	}
	if !ok {
		return group.Aggregate{}, fmt.Errorf("no aggregate %q: %w", a.Function, device.ErrInvalidValue)
	}
	if err := a.checkValues(); err != nil {
		return group.Aggregate{}, err
	}
	aggregate := construct(a).As(a.Name)
	if a.SkipNulls {
		aggregate = aggregate.SkipNulls()
	}
	if !a.Where.IsZero() {
		aggregate = aggregate.Where(a.Where)
	}
	return aggregate, nil
}

// fold returns the aggregate of a folding.
func (a Aggregation) fold(Aggregation) group.Aggregate { return group.Fold(a.Values[0], a.Folding) }

// String formats the aggregation: "sum(price * qty) where qty > 2", "mean(price) rows -6 to 0".
func (a Aggregation) String() string {
	texts := make([]string, len(a.Values))
	for i, e := range a.Values {
		texts[i] = Readable(e.String())
	}
	f := a.Properties()
	if f.Freedom != 0 {
		texts = append(texts, strconv.FormatInt(a.Count, 10))
	}
	for _, p := range f.Parameters {
		switch p.Type {
		case catalog.Whole:
			texts = append(texts, strconv.FormatInt(a.Count, 10))
		case catalog.Float:
			texts = append(texts, strconv.FormatFloat(a.Number, 'g', -1, 64))
		case catalog.Literal:
			texts = append(texts, fmt.Sprint(a.Distance))
		case catalog.Text:
			texts = append(texts, strconv.Quote(a.Text))
		}
	}
	text := a.Function + "(" + strings.Join(texts, ", ") + ")"
	if a.SkipNulls {
		text += " skip nulls"
	}
	if !a.Where.IsZero() {
		text += " where " + Readable(a.Where.String())
	}
	return text + a.Frame.String()
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
