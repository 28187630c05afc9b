package querytest

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
)

// aggregation is an aggregate with its model.
type aggregation struct {
	expr  gpuframe.Expr
	kind  Kind
	model func(rows []Row) any
	// sql is the aggregate with a filter and a window, which may be empty.
	sql func(filter, window string) string
}

// aggregateSQL returns an aggregate in SQL: a format with %s for what follows the arguments.
func aggregateSQL(format string, e expression) func(filter, window string) string {
	return func(filter, window string) string {
		if filter != "" {
			filter = " filter (where " + filter + ")"
		}
		return strings.NewReplacer("VALUE", e.sql, "ROWS", filter+window).Replace(format)
	}
}

// aggregation draws an aggregate of the rows of the table.
func (d *drawer) aggregation() aggregation {
	plain := d.plainAggregation()
	if rapid.IntRange(0, 3).Draw(d.t, "where") > 0 {
		return plain
	}
	c := d.condition(1)
	return aggregation{plain.expr.Where(c.expr), plain.kind, func(rows []Row) any { return plain.model(keep(rows, c)) }, func(_, window string) string {
		return plain.sql(c.sql, window)
	}}
}

// keep returns the rows in which a condition is true.
func keep(rows []Row, c expression) []Row {
	var kept []Row
	for _, row := range rows {
		if c.model(row) == true {
			kept = append(kept, row)
		}
	}
	return kept
}

func (d *drawer) plainAggregation() aggregation {
	e := d.value(1)
	values := func(rows []Row) []any { return notNull(e, rows) }
	choice := d.choose("aggregate", 14)
	switch {
	case choice == 0:
		return aggregation{gpuframe.Count(), Int64, func(rows []Row) any { return int64(len(rows)) }, aggregateSQL("count(*)ROWS", e)}
	case choice == 1:
		return aggregation{e.expr.Count(), Int64, func(rows []Row) any { return int64(len(values(rows))) }, aggregateSQL("count(VALUE)ROWS", e)}
	case choice == 2 && e.kind.isNumber():
		kind := max(e.kind, Int64)
		return aggregation{e.expr.Sum(), kind, func(rows []Row) any { return sum(kind, values(rows)) }, aggregateSQL(sumSQL(kind), e)}
	case choice == 3 && e.kind.isNumber():
		return aggregation{e.expr.Mean(), Float64, func(rows []Row) any { return mean(values(rows)) }, aggregateSQL("avg(VALUE)ROWS", e)}
	case choice == 4 && e.kind != Bool:
		return aggregation{e.expr.Min(), e.kind, func(rows []Row) any { return extreme(values(rows), -1) }, extremeSQL("min", e)}
	case choice == 5 && e.kind != Bool:
		return aggregation{e.expr.Max(), e.kind, func(rows []Row) any { return extreme(values(rows), 1) }, extremeSQL("max", e)}
	case choice == 6:
		return aggregation{e.expr.CountDistinct(), Int64, func(rows []Row) any { return distinct(values(rows)) }, aggregateSQL("count(distinct VALUE)ROWS", e)}
	case choice == 7 && e.kind == Bool:
		return aggregation{e.expr.Any(), Bool, func(rows []Row) any { return anyIs(values(rows), true) }, aggregateSQL("bool_or(VALUE)ROWS", e)}
	case choice == 8 && e.kind == Bool:
		return aggregation{e.expr.All(), Bool, func(rows []Row) any { return not(anyIs(values(rows), false)) }, aggregateSQL("bool_and(VALUE)ROWS", e)}
	case choice == 9 && e.kind == Int32:
		return aggregation{e.expr.Median(), Float64, func(rows []Row) any { return median(values(rows)) }, aggregateSQL("quantile_cont(VALUE, 0.5)ROWS", e)}
	case choice == 13:
		return aggregation{e.expr.List().ListLength(), Int64, func(rows []Row) any { return int64(len(rows)) }, aggregateSQL("coalesce(len(list(VALUE)ROWS), 0)", e)}
	case choice == 12 && e.kind.isNumber():
		return d.vectorSum(e)
	case choice == 10 && d.table.Ordered:
		return d.end(e, e.expr.Last(), last, "arg_max")
	case d.table.Ordered:
		return d.end(e, e.expr.First(), first, "arg_min")
	}
	return aggregation{e.expr.NullCount(), Int64, func(rows []Row) any { return int64(len(rows) - len(values(rows))) }, aggregateSQL("(count(*)ROWS - count(VALUE)ROWS)", e)}
}

// vectorSum is an element of the sum or the mean of vectors of two numbers: those with a null are skipped.
func (d *drawer) vectorSum(e expression) aggregation {
	other, ok := d.column(Kind.isNumber)
	if !ok {
		other = e
	}
	vectors := gpuframe.ConcatList(e.expr.Cast(arrow.PrimitiveTypes.Float64), other.expr.Cast(arrow.PrimitiveTypes.Float64))
	sums, function, fold := vectors.Sum(), "sum", func(values []any) any { return exactSum(values) }
	if rapid.Bool().Draw(d.t, "mean") {
		sums, function, fold = vectors.Mean(), "avg", mean
	}
	model := func(rows []Row) any {
		var values []any
		for _, row := range rows {
			if value := e.model(row); value != nil && other.model(row) != nil {
				values = append(values, number(value))
			}
		}
		if len(values) == 0 {
			return nil
		}
		return fold(values)
	}
	return aggregation{sums.ListGet(0), Float64, model, func(filter, window string) string {
		both := "VALUE is not null and " + other.sql + " is not null"
		if filter != "" {
			both += " and " + filter
		}
		return strings.ReplaceAll(function+"(VALUE::double) filter (where "+both+")"+window, "VALUE", e.sql)
	}}
}

func sumSQL(kind Kind) string {
	if kind == Int64 {
		return "fit64(sum(VALUE)ROWS)"
	}
	return "sum(VALUE)ROWS"
}

// extremeSQL is a minimum or a maximum, which skips NaN if there are numbers.
func extremeSQL(name string, e expression) func(filter, window string) string {
	all := aggregateSQL(name+"(VALUE)ROWS", e)
	if e.kind != Float64 {
		return all
	}
	return func(filter, window string) string {
		numbers := "not isnan(" + e.sql + ")"
		if filter != "" {
			numbers += " and " + filter
		}
		return "coalesce(" + all(numbers, window) + ", " + all(filter, window) + ")"
	}
}

// end is the first or the last value, or that which is not null.
func (d *drawer) end(e expression, aggregate gpuframe.Expr, model func(values []any) any, function string) aggregation {
	if rapid.Bool().Draw(d.t, "skip nulls") {
		return aggregation{aggregate.SkipNulls(), e.kind, func(rows []Row) any { return model(notNull(e, rows)) }, endSQL(function, e)}
	}
	every := func(rows []Row) any {
		values := make([]any, len(rows))
		for i, row := range rows {
			values[i] = e.model(row)
		}
		return model(values)
	}
	// DuckDB's functions skip nulls, but no structs of them.
	return aggregation{aggregate, e.kind, every, aggregateSQL("("+function+"({'value': VALUE}, "+rowOrder+")ROWS).value", e)}
}

// endSQL is the first or the last value that is not null.
func endSQL(function string, e expression) func(filter, window string) string {
	return func(filter, window string) string {
		values := e.sql + " is not null"
		if filter != "" {
			values += " and " + filter
		}
		return aggregateSQL(function+"(VALUE, "+rowOrder+")ROWS", e)(values, window)
	}
}

// distinct counts different values: both zeros are equal, and so are NaNs.
func distinct(values []any) any {
	seen := map[string]bool{}
	for _, value := range values {
		seen[keyOf([]any{value})] = true
	}
	return int64(len(seen))
}

// anyIs reports whether one of the values is a bool, or nil without values.
func anyIs(values []any, b bool) any {
	if len(values) == 0 {
		return nil
	}
	return slices.Contains(values, any(b))
}

func not(value any) any {
	if value == nil {
		return nil
	}
	return !value.(bool)
}

// median is the middle of integers, or the mean of the two in the middle.
func median(values []any) any {
	if len(values) == 0 {
		return nil
	}
	list := slices.SortedFunc(slices.Values(values), compare)
	middle := len(list) / 2
	if len(list)%2 == 1 {
		return number(list[middle])
	}
	return (number(list[middle-1]) + number(list[middle])) / 2
}

func last(values []any) any {
	if len(values) == 0 {
		return nil
	}
	return values[len(values)-1]
}

func first(values []any) any {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

// sum adds values exactly.
func sum(kind Kind, values []any) any {
	if len(values) == 0 {
		return nil
	}
	if kind == Int64 {
		total := new(big.Int)
		for _, value := range values {
			total.Add(total, big.NewInt(value.(int64)))
		}
		if !total.IsInt64() {
			return nil
		}
		return total.Int64()
	}
	return exactSum(values)
}

func exactSum(values []any) float64 {
	total, special := new(big.Float).SetPrec(3000), 0.0
	for _, value := range values {
		if f := number(value); math.IsNaN(f) || math.IsInf(f, 0) {
			special += f
		} else {
			total.Add(total, new(big.Float).SetFloat64(f))
		}
	}
	if special != 0 {
		return special
	}
	f, _ := total.Float64()
	return f
}

func mean(values []any) any {
	if len(values) == 0 {
		return nil
	}
	return exactSum(values) / float64(len(values))
}

// extreme returns the greatest value of a sign. It skips NaN if there are numbers.
func extreme(values []any, sign int) any {
	var best any
	for _, value := range values {
		if best == nil || isNaN(best) || !isNaN(value) && compare(value, best)*sign > 0 {
			best = value
		}
	}
	return best
}
