package hosteval

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// mostMonths limits the months that are added, so that no step exceeds 64 bits.
const mostMonths = 1 << 50

// moveInstant computes the operations that move a date or timestamp.
func (e *evaluation) moveInstant(n *exprtree.Node) arrow.Array {
	day := exprtree.DayOf(n.Type)
	var move func(v, by int64) (int64, bool)
	switch n.Op {
	case exprtree.AddSpan:
		move = func(v, by int64) (int64, bool) { return scaleAndAdd(by, n.Constant, v) }
	case exprtree.AddMonths:
		move = func(v, by int64) (int64, bool) {
			if by < -mostMonths || by > mostMonths {
				return 0, false
			}
			days, time := FloorDivide(v, day)
			month, dayOfMonth := monthOf(days)
			return scaleAndAdd(dayOf(month+by, dayOfMonth), day, time)
		}
	case exprtree.FloorMonths:
		move = func(v, _ int64) (int64, bool) {
			days, _ := FloorDivide(v, day)
			month, _ := monthOf(days)
			_, rest := FloorDivide(month, n.Constant)
			return scaleAndAdd(dayOf(month-rest, 1), day, 0)
		}
	default:
		span, origin := n.Constant, int64(0)
		if n.Op == exprtree.FloorWeek {
			span, origin = 7*day, 3*day // 1970-01-01 was a Thursday
		}
		move = func(v, _ int64) (int64, bool) {
			_, rest := FloorDivide(v, span)
			rest = (rest + origin) % span
			return v - rest, v-rest <= v
		}
	}
	by := lane[int64]{values: []int64{0}}
	if len(n.Arguments) > 1 {
		by = laneOf[int64](e, n.Arguments[1])
	}
	if n.Kind() == exprtree.Int32 {
		x := laneOf[int32](e, n.Arguments[0])
		return build(e, n.Type, func(i int) (int32, bool) {
			if !x.ok(i) || !by.ok(i) {
				return 0, false
			}
			moved, ok := move(int64(x.at(i)), by.at(i))
			return int32(moved), ok && moved >= math.MinInt32 && moved <= math.MaxInt32
		})
	}
	x := laneOf[int64](e, n.Arguments[0])
	return build(e, n.Type, func(i int) (int64, bool) {
		if !x.ok(i) || !by.ok(i) {
			return 0, false
		}
		return move(x.at(i), by.at(i))
	})
}

// scaleAndAdd returns v · factor + add, and whether 64 bits hold it.
func scaleAndAdd(v, factor, add int64) (int64, bool) {
	high, low := bits.Mul64(uint64(v), uint64(factor))
	if v < 0 {
		high -= uint64(factor)
	}
	if factor < 0 {
		high -= uint64(v)
	}
	sum, carry := bits.Add64(low, uint64(add), 0)
	high += uint64(add>>63) + carry
	return int64(sum), int64(high) == int64(sum)>>63
}

// monthOf returns the month of a day since 1970, counted from January of year 0, and the
// day of the month.
func monthOf(days int64) (month, day int64) {
	return CalendarPart(exprtree.Year, days)*12 + CalendarPart(exprtree.Month, days) - 1, CalendarPart(exprtree.Day, days)
}

// dayOf returns the last day of a month up to a given one: days_from_civil of Hinnant.
func dayOf(months, day int64) int64 {
	calendarYear, month := FloorDivide(months, 12)
	month++
	leap := calendarYear%4 == 0 && (calendarYear%100 != 0 || calendarYear%400 == 0)
	length := [13]int64{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month]
	if leap && month == 2 {
		length++
	}
	day = min(day, length)
	year, fromMarch := calendarYear, month-3
	if month <= 2 {
		year, fromMarch = year-1, month+9
	}
	era, yearOfEra := FloorDivide(year, 400)
	return era*146_097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + (153*fromMarch+2)/5 + day - 1 - 719_468
}
