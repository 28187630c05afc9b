package exprtest

import (
	"math/big"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// moved computes the operations that move a date or timestamp, by package time within a
// cycle of 400 years.
func moved(n *exprtree.Node, operands []any) any {
	unit := nanoseconds(n.Type)
	day := big.NewInt(86_400e9)
	x := new(big.Int).Mul(big.NewInt(operands[0].(int64)), unit)
	by := int64(0)
	if len(operands) > 1 {
		by = operands[1].(int64)
	}
	days, within := new(big.Int).DivMod(x, day, new(big.Int))
	cycles, rest := new(big.Int).DivMod(days, big.NewInt(cycle), new(big.Int))
	date := time.Unix(0, 0).UTC().AddDate(0, 0, int(rest.Int64()))
	switch n.Op {
	case exprtree.AddSpan:
		span := new(big.Int).Mul(big.NewInt(n.Constant), unit)
		return instantOf(x.Add(x, span.Mul(span, big.NewInt(by))), n.Type)
	case exprtree.FloorSpan:
		span := new(big.Int).Mul(big.NewInt(n.Constant), unit)
		return instantOf(x.Sub(x, new(big.Int).Mod(x, span)), n.Type)
	case exprtree.FloorWeek:
		date, within = date.AddDate(0, 0, -int(date.Weekday()+6)%7), new(big.Int)
	case exprtree.FloorMonths:
		// In months since year 0. The date is then in one of the years 0 to 399.
		months := (400*cycles.Int64()+int64(date.Year()))*12 + int64(date.Month()) - 1
		months -= modulo(months, n.Constant)
		rest := modulo(months, 4800)
		cycles.SetInt64((months - rest) / 4800)
		date, within = time.Date(int(rest/12), time.Month(rest%12+1), 1, 0, 0, 0, 0, time.UTC), new(big.Int)
	case exprtree.AddMonths:
		more, months := new(big.Int).DivMod(big.NewInt(by), big.NewInt(4800), new(big.Int))
		cycles.Add(cycles, more)
		first := time.Date(date.Year(), date.Month()+time.Month(months.Int64()), 1, 0, 0, 0, 0, time.UTC)
		date = first.AddDate(0, 0, min(date.Day(), first.AddDate(0, 1, -1).Day())-1)
	}
	result := new(big.Int).Mul(cycles, big.NewInt(cycle))
	result.Add(result, big.NewInt(date.Unix()/86_400))
	return instantOf(result.Mul(result, day).Add(result, within), n.Type)
}

// modulo is the remainder of a division that rounds down.
func modulo(x, y int64) int64 { return (x%y + y) % y }

// instantOf returns a number of nanoseconds as a value of a type, or nil if it has none.
func instantOf(x *big.Int, t arrow.DataType) any {
	x.Div(x, nanoseconds(t))
	if bits := exprtree.KindOf(t).Bits(); new(big.Int).Add(x, new(big.Int).Lsh(big.NewInt(1), uint(bits-1))).BitLen() > bits || x.Cmp(new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), uint(bits-1)))) < 0 {
		return nil
	}
	return x.Int64()
}
