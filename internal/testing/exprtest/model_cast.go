package exprtest

import (
	"math"
	"math/big"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// cast converts a value that is not null.
func cast(x any, from, to arrow.DataType, wraps bool) any {
	if exprtree.IsTemporal(from) && exprtree.IsTemporal(to) {
		return castTime(x.(int64), from, to, wraps)
	}
	if truth, ok := x.(bool); ok {
		x = int64(0)
		if truth {
			x = int64(1)
		}
	}
	if to.ID() == arrow.BOOL {
		if f, ok := x.(float64); ok {
			return f != 0
		}
		return whole(x).Sign() != 0
	}
	if d, ok := to.(*arrow.Decimal128Type); ok {
		return castToDecimal(x, from, d)
	}
	if d, ok := from.(*arrow.Decimal128Type); ok {
		if exprtree.KindOf(to).IsFloat() {
			return round(to, decimalToFloat(x.(*big.Int), d.Scale))
		}
		return within(halfAway(x.(*big.Int), d.Scale), to)
	}
	f, isFloat := x.(float64)
	switch {
	case isFloat && exprtree.KindOf(to).IsFloat():
		return round(to, f)
	case isFloat:
		return castToWhole(f, to, wraps)
	case to.ID() == arrow.FLOAT32:
		single, _ := new(big.Float).SetInt(whole(x)).Float32()
		return float64(single)
	case to.ID() == arrow.FLOAT64:
		double, _ := new(big.Float).SetInt(whole(x)).Float64()
		return double
	case wraps:
		return wrap(whole(x), to)
	}
	return within(whole(x), to)
}

func castToWhole(f float64, to arrow.DataType, saturates bool) any {
	if math.IsNaN(f) {
		if saturates {
			return wrap(new(big.Int), to)
		}
		return nil
	}
	kind := exprtree.KindOf(to)
	least, most := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(kind.Bits()))
	if kind.IsSigned() {
		most.Rsh(most, 1)
		least.Neg(most)
	}
	most.Sub(most, big.NewInt(1))
	if math.IsInf(f, 0) {
		f = math.Copysign(math.MaxFloat64, f)
	}
	x, _ := big.NewFloat(f).Int(nil)
	if !saturates {
		return within(x, to)
	}
	switch {
	case x.Cmp(least) < 0:
		x = least
	case x.Cmp(most) > 0:
		x = most
	}
	return wrap(x, to)
}

func castToDecimal(x any, from arrow.DataType, to *arrow.Decimal128Type) any {
	if f, ok := x.(float64); ok {
		ten, _ := new(big.Float).SetInt(powerOfTen(to.Scale)).Float64()
		f = math.Round(f * ten) // half away from zero
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
		digits, _ := big.NewFloat(f).Int(nil)
		return decimalWithin(digits, to)
	}
	scale := int32(0)
	if d, ok := from.(*arrow.Decimal128Type); ok {
		scale = d.Scale
	}
	if scale <= to.Scale {
		return decimalWithin(new(big.Int).Mul(whole(x), powerOfTen(to.Scale-scale)), to)
	}
	return decimalWithin(halfAway(whole(x), scale-to.Scale), to)
}

// halfAway divides by a power of ten and rounds half away from zero.
func halfAway(x *big.Int, exponent int32) *big.Int {
	power := powerOfTen(exponent)
	quotient, rest := new(big.Int).QuoRem(x, power, new(big.Int))
	if rest.Lsh(rest, 1).CmpAbs(power) >= 0 {
		quotient.Add(quotient, big.NewInt(int64(x.Sign())))
	}
	return quotient
}

// decimalToFloat rounds three times: the low word and the high word together, the
// quotient, and, for words of more than 53 bits, each word before that.
func decimalToFloat(x *big.Int, scale int32) float64 {
	low, high := words(new(big.Int).Abs(x))
	sum := new(big.Float).SetPrec(256).SetFloat64(float64(high))
	sum.Mul(sum, new(big.Float).SetMantExp(big.NewFloat(1), 64))
	sum.Add(sum, new(big.Float).SetFloat64(float64(low)))
	f, _ := sum.Float64()
	ten, _ := new(big.Float).SetInt(powerOfTen(scale)).Float64()
	f /= ten
	if x.Sign() < 0 {
		return -f
	}
	return f
}

// nanoseconds returns the length of a temporal type's unit.
func nanoseconds(t arrow.DataType) *big.Int {
	switch t := t.(type) {
	case *arrow.Date32Type:
		return big.NewInt(86_400e9)
	case *arrow.Date64Type:
		return big.NewInt(1e6)
	case arrow.TemporalWithUnit:
		return big.NewInt(int64(t.TimeUnit().Multiplier() / time.Nanosecond))
	}
	panic("no time: " + t.String())
}

// castTime goes by way of nanoseconds.
func castTime(v int64, from, to arrow.DataType, wraps bool) any {
	x := new(big.Int).Mul(big.NewInt(v), nanoseconds(from))
	day := big.NewInt(86_400e9)
	clock := to.ID() == arrow.TIME32 || to.ID() == arrow.TIME64
	if clock && from.ID() == arrow.TIMESTAMP {
		x.Mod(x, day)
	}
	if to.ID() == arrow.DATE64 && from.ID() == arrow.TIMESTAMP {
		floor(x, day)
		x.Mul(x, day)
	}
	floor(x, nanoseconds(to))
	if wraps {
		return wrap(x, to)
	}
	if clock && from.ID() == arrow.DURATION && (x.Sign() < 0 || x.Cmp(new(big.Int).Div(day, nanoseconds(to))) >= 0) {
		return nil
	}
	return within(x, to)
}

// floor divides x, rounding down.
func floor(x, divisor *big.Int) { x.DivMod(x, divisor, new(big.Int)) }

// cycle is the number of days in 400 years.
const cycle = 146_097

func datePart(op exprtree.Op, v int64, t arrow.DataType) any {
	x := new(big.Int).Mul(big.NewInt(v), nanoseconds(t))
	days, within := new(big.Int).DivMod(x, big.NewInt(86_400e9), new(big.Int))
	cycles, rest := new(big.Int).DivMod(days, big.NewInt(cycle), new(big.Int))
	at := time.Unix(0, 0).UTC().AddDate(0, 0, int(rest.Int64())).Add(time.Duration(within.Int64()))
	switch op {
	case exprtree.Year:
		return int64(at.Year()) + 400*cycles.Int64()
	case exprtree.Quarter:
		return int64(at.Month()-1)/3 + 1
	case exprtree.Month:
		return int64(at.Month())
	case exprtree.Day:
		return int64(at.Day())
	case exprtree.DayOfYear:
		return int64(at.YearDay())
	case exprtree.Weekday: // a cycle has whole weeks
		return int64(at.Weekday()+6) % 7
	case exprtree.Hour:
		return int64(at.Hour())
	case exprtree.Minute:
		return int64(at.Minute())
	case exprtree.Second:
		return int64(at.Second())
	}
	return int64(at.Nanosecond())
}
