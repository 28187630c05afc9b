package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

func (e *evaluation) datePart(n *exprtree.Node) arrow.Array {
	t := n.Arguments[0].Type
	perDay := int64(1)
	if t.ID() != arrow.DATE32 {
		perDay = 86_400 * exprtree.UnitOf(t)
	}
	perSecond := perDay / 86_400
	part := func(v int64) int64 {
		days, within := FloorDivide(v, perDay)
		switch n.Op {
		case exprtree.Hour:
			return within / (3600 * perSecond)
		case exprtree.Minute:
			return within / (60 * perSecond) % 60
		case exprtree.Second:
			return within / perSecond % 60
		case exprtree.Subsecond:
			return within % perSecond * (1e9 / perSecond)
		}
		return CalendarPart(n.Op, days)
	}
	if n.Arguments[0].Kind() == exprtree.Int32 {
		return e.unary(n, unary(func(to []int64, x []int32) {
			for i := range to {
				to[i] = part(int64(x[i]))
			}
		}))
	}
	return e.unary(n, unary(func(to, x []int64) {
		for i := range to {
			to[i] = part(x[i])
		}
	}))
}

// FloorDivide rounds the quotient down, so the remainder is not negative.
func FloorDivide(v, divisor int64) (quotient, rest int64) {
	quotient, rest = v/divisor, v%divisor
	if rest < 0 {
		return quotient - 1, rest + divisor
	}
	return quotient, rest
}

// CalendarPart is a part of the date of a day since 1970. It computes with years that begin in March and end with the leap day, as in
// Hinnant's "chrono-compatible low-level date algorithms".
func CalendarPart(op exprtree.Op, days int64) int64 {
	if op == exprtree.Weekday {
		_, weekday := FloorDivide(days+3, 7) // 1970-01-01 was a Thursday
		return weekday
	}
	era, dayOfEra := FloorDivide(days+719_468, 146_097)
	yearOfEra := (dayOfEra - dayOfEra/1_460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	monthFromMarch := (5*dayOfYear + 2) / 153
	year, month := era*400+yearOfEra, monthFromMarch+3
	if month > 12 {
		year, month = year+1, month-12
	}
	switch op {
	case exprtree.Year:
		return year
	case exprtree.Quarter:
		return (month + 2) / 3
	case exprtree.Month:
		return month
	case exprtree.Day:
		return dayOfYear - (153*monthFromMarch+2)/5 + 1
	}
	// The day of the year that begins in January.
	if dayOfYear >= 306 {
		return dayOfYear - 305
	}
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	if leap {
		return dayOfYear + 61
	}
	return dayOfYear + 60
}
