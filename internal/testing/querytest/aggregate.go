package querytest

import (
	"math"
	"math/big"
	"strings"

	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
)

// aggregation is an aggregate with its model.
type aggregation struct {
	expr gpuframe.Expr
	kind Kind
	of   func(rows []Row) any
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
	made := d.plainAggregation()
	if rapid.IntRange(0, 3).Draw(d.t, "where") > 0 {
		return made
	}
	c := d.condition(1)
	return aggregation{made.expr.Where(c.expr), made.kind, func(rows []Row) any { return made.of(keep(rows, c)) }, func(_, window string) string {
		return made.sql(c.sql, window)
	}}
}

// keep returns the rows in which a condition is true.
func keep(rows []Row, c expression) []Row {
	var kept []Row
	for _, row := range rows {
		if c.of(row) == true {
			kept = append(kept, row)
		}
	}
	return kept
}

func (d *drawer) plainAggregation() aggregation {
	e := d.value(1)
	values := func(rows []Row) []any { return notNull(e, rows) }
	choice := d.choose("aggregate", 7)
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
	case d.table.Ordered:
		return aggregation{e.expr.First(), e.kind, func(rows []Row) any { return first(values(rows)) }, firstSQL(e)}
	}
	return aggregation{e.expr.NullCount(), Int64, func(rows []Row) any { return int64(len(rows) - len(values(rows))) }, aggregateSQL("(count(*)ROWS - count(VALUE)ROWS)", e)}
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

// firstSQL is the first value that is not null.
func firstSQL(e expression) func(filter, window string) string {
	return func(filter, window string) string {
		values := e.sql + " is not null"
		if filter != "" {
			values += " and " + filter
		}
		return aggregateSQL("arg_min(VALUE, "+rowOrder+")ROWS", e)(values, window)
	}
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
