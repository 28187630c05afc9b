package querytest

import (
	"math"
	"math/big"

	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
)

// aggregation is an aggregate with its model.
type aggregation struct {
	expr gpuframe.Expr
	kind Kind
	of   func(rows []Row) any
}

// aggregation draws an aggregate of the rows of the table.
func (d *drawer) aggregation() aggregation {
	made := d.plainAggregation()
	if rapid.IntRange(0, 3).Draw(d.t, "where") > 0 {
		return made
	}
	c := d.condition(1)
	return aggregation{made.expr.Where(c.expr), made.kind, func(rows []Row) any { return made.of(keep(rows, c)) }}
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
	values := func(rows []Row) (list []any) {
		for _, row := range rows {
			if value := e.of(row); value != nil {
				list = append(list, value)
			}
		}
		return list
	}
	choice := d.choose("aggregate", 7)
	switch {
	case choice == 0:
		return aggregation{gpuframe.Count(), Int64, func(rows []Row) any { return int64(len(rows)) }}
	case choice == 1:
		return aggregation{e.expr.Count(), Int64, func(rows []Row) any { return int64(len(values(rows))) }}
	case choice == 2 && e.kind.isNumber():
		kind := max(e.kind, Int64)
		return aggregation{e.expr.Sum(), kind, func(rows []Row) any { return sum(kind, values(rows)) }}
	case choice == 3 && e.kind.isNumber():
		return aggregation{e.expr.Mean(), Float64, func(rows []Row) any { return mean(values(rows)) }}
	case choice == 4 && e.kind != Bool:
		return aggregation{e.expr.Min(), e.kind, func(rows []Row) any { return extreme(values(rows), -1) }}
	case choice == 5 && e.kind != Bool:
		return aggregation{e.expr.Max(), e.kind, func(rows []Row) any { return extreme(values(rows), 1) }}
	case d.table.Ordered:
		return aggregation{e.expr.First(), e.kind, func(rows []Row) any { return first(values(rows)) }}
	}
	return aggregation{e.expr.NullCount(), Int64, func(rows []Row) any { return int64(len(rows) - len(values(rows))) }}
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
