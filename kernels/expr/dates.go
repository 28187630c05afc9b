package expr

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// Year is the year of a date or timestamp, as int64. The parts of timestamps are
// those in UTC; one of another time zone is refused: cast it to a timestamp without.
func (e Expr) Year() Expr { return make1(exprtree.Year, e) }

// Quarter is 1 to 4; see Year.
func (e Expr) Quarter() Expr { return make1(exprtree.Quarter, e) }

// Month is 1 to 12; see Year.
func (e Expr) Month() Expr { return make1(exprtree.Month, e) }

// Day is that of the month, from 1; see Year.
func (e Expr) Day() Expr { return make1(exprtree.Day, e) }

// DayOfYear counts from 1; see Year.
func (e Expr) DayOfYear() Expr { return make1(exprtree.DayOfYear, e) }

// Weekday counts from Monday, 0, to Sunday, 6; see Year.
func (e Expr) Weekday() Expr { return make1(exprtree.Weekday, e) }

// Hour is that of a time or timestamp, 0 to 23, as int64; see Year.
func (e Expr) Hour() Expr { return make1(exprtree.Hour, e) }

// Minute is that within the hour; see Hour.
func (e Expr) Minute() Expr { return make1(exprtree.Minute, e) }

// Second is the whole second within the minute; see Hour.
func (e Expr) Second() Expr { return make1(exprtree.Second, e) }

// Subsecond is the nanoseconds since the last whole second; see Hour.
func (e Expr) Subsecond() Expr { return make1(exprtree.Subsecond, e) }

// AddDays is e, a date or timestamp, moved by a number of days, an integer. It has the
// type of e, and is null if that does not hold the result. Timestamps have days of UTC; one
// of another time zone is refused, as by Year.
func (e Expr) AddDays(days Expr) Expr { return make2(addDays, e, days) }

// AddMonths is e moved by a number of months, at the same time of the day. A day that the
// month does not have becomes the last day of the month: a month after January 31 is
// February 28 or 29. See AddDays.
func (e Expr) AddMonths(months Expr) Expr { return make2(addMonths, e, months) }

// AddYears is AddMonths of twelve times the number.
func (e Expr) AddYears(years Expr) Expr { return make2(addYears, e, years) }

// Truncate is the beginning of the unit of time in which e, a date or timestamp, lies:
// "year", "quarter", "month", "week", which begins on Monday, "day", "hour", "minute",
// "second", "millisecond" or "microsecond". It has the type of e. See AddDays.
func (e Expr) Truncate(unit string) Expr { return e.FloorTo(1, unit) }

// FloorTo is the latest multiple of a number of units that is not later than e: the beginning
// of the quarter of an hour for 15, "minute". Multiples of seconds, minutes, hours and days
// are counted from 1970, those of weeks from Monday, January 5, 1970, and those of months and
// years from year 0. The number is at most 10,000; months make up or divide years. See
// [Expr.Truncate].
func (e Expr) FloorTo(number int, unit string) Expr { return e.rounded(number, unit, roundDown) }

// CeilTo is the earliest multiple of a number of units that is not earlier than e. It is null
// if the type of e does not hold it. See [Expr.FloorTo].
func (e Expr) CeilTo(number int, unit string) Expr { return e.rounded(number, unit, roundUp) }

// RoundTo is the multiple of a number of units that is nearest to e, the later one of two. See
// [Expr.CeilTo].
func (e Expr) RoundTo(number int, unit string) Expr { return e.rounded(number, unit, roundNearest) }

// The directions of rounding times.
const (
	roundDown = iota
	roundUp
	roundNearest
)

func (e Expr) rounded(number int, unit string, direction int) Expr {
	return makeMany(truncate, e, Lit(unit), Lit(number), Lit(direction))
}

// DaysSince is the number of days from the day of x to the day of e, as int64. Both are
// dates or timestamps. See AddDays.
func (e Expr) DaysSince(x Expr) Expr { return make2(daysSince, e, x) }

// ISOYear is the year of the week of e, a date or timestamp, as time.Time's ISOWeek. Weeks
// begin on Monday and belong to the year of their Thursday. See [Expr.Year].
func (e Expr) ISOYear() Expr { return e.thursday().Year() }

// ISOWeek is the number of the week of e in its [Expr.ISOYear], 1 to 53.
func (e Expr) ISOWeek() Expr { return e.thursday().DayOfYear().Sub(Lit(1)).Div(Lit(7)).Add(Lit(1)) }

// thursday is the Thursday of the week.
func (e Expr) thursday() Expr { return e.Truncate("week").AddDays(Lit(3)) }

// IsLeapYear is whether the year of e, a date or timestamp, has a February 29.
func (e Expr) IsLeapYear() Expr {
	year := e.Year()
	divides := func(n int) Expr { return year.Mod(Lit(n)).Eq(Lit(0)) }
	return divides(4).And(divides(100).Not().Or(divides(400)))
}

// DaysInMonth is the number of days of the month of e, a date or timestamp, as int64.
func (e Expr) DaysInMonth() Expr {
	month := e.Truncate("month")
	return month.AddMonths(Lit(1)).DaysSince(month)
}

// MonthsSince is the number of whole months from x to e, dates or timestamps, as int64. A
// month is whole if the day of the month and the time of the day of e are not before those of
// x. It is negative if e is earlier: then those of e are not after those of x.
func (e Expr) MonthsSince(x Expr) Expr {
	months := e.Year().Sub(x.Year()).Mul(Lit(12)).Add(e.Month().Sub(x.Month()))
	// The order of the times within the months.
	within := func(e Expr) Expr { return e.Sub(e.Truncate("month")) }
	less := months.Gt(Lit(0)).And(within(e).Lt(within(x)))
	more := months.Lt(Lit(0)).And(within(e).Gt(within(x)))
	return If(less, months.Sub(Lit(1)), If(more, months.Add(Lit(1)), months))
}

// YearsSince is the number of whole years from x to e: see [Expr.MonthsSince].
func (e Expr) YearsSince(x Expr) Expr { return e.MonthsSince(x).Div(Lit(12)) }

// firstMonday is the day from which business days are counted.
var firstMonday = time.Date(1969, 12, 29, 0, 0, 0, 0, time.UTC)

// BusinessDaysSince is the number of business days from the day of x, which counts, to before
// the day of e, as int64. It is negative if e is earlier: then the day of e counts, and that of
// x does not. Business days are Monday to Friday without the holidays: see
// [Expr.AddBusinessDays].
func (e Expr) BusinessDaysSince(x Expr, holidays ...time.Time) Expr {
	h := holidaysOf(holidays)
	return e.workdays(h).Sub(x.workdays(h))
}

// businessDays is the number of the days from Monday to Friday before a day, since a Monday.
func (e Expr) businessDays() Expr {
	weekday, monday := e.Weekday(), LitOf(arrow.FixedWidthTypes.Date32, firstMonday)
	return e.DaysSince(monday).Sub(weekday).Div(Lit(7)).Mul(Lit(5)).Add(Min(weekday, Lit(5)))
}

// AddBusinessDays is e, a date or timestamp, moved by a number of business days, as WORKDAY of
// spreadsheets: one business day after Friday, Saturday or Sunday is Monday, and one before
// Saturday, Sunday or Monday is Friday. Zero days change nothing. See [Expr.AddDays].
//
// Business days are the days from Monday to Friday without the holidays, which are the days of
// times in their locations: a holiday has no effect twice or on a weekend. Up to 256 holidays
// fuse, and 20,000 are accepted.
func (e Expr) AddBusinessDays(days Expr, holidays ...time.Time) Expr {
	limited := days.Cast(int64Type).Clamp(Lit(-mostBusinessDays), Lit(mostBusinessDays))
	var moved Expr
	if h := holidaysOf(holidays); len(h) > 0 {
		moved = e.amongHolidays(limited, h)
	} else {
		weekday := e.Weekday()
		// The place of the day in a week of five days: of a weekend that of Friday or of Monday.
		place := Min(weekday, If(days.Gt(Lit(0)), Lit(int64(4)), Lit(int64(5)))).Add(limited)
		rest := place.Mod(Lit(5)).Add(Lit(5)).Mod(Lit(5))
		moved = place.Sub(rest).Div(Lit(5)).Mul(Lit(7)).Add(rest).Sub(weekday)
	}
	return e.AddDays(If(days.Eq(Lit(0)), Lit(int64(0)), moved))
}

// TotalSeconds is the number of whole seconds of e, a duration, as int64. Like the other
// totals it is rounded towards zero.
func (e Expr) TotalSeconds() Expr { return e.whole(arrow.Second) }

// TotalMilliseconds is the number of whole milliseconds of e, a duration, as int64. It is null
// beyond 64 bits.
func (e Expr) TotalMilliseconds() Expr { return e.whole(arrow.Millisecond) }

// TotalMicroseconds is the number of whole microseconds: see [Expr.TotalMilliseconds].
func (e Expr) TotalMicroseconds() Expr { return e.whole(arrow.Microsecond) }

// TotalNanoseconds is the number of nanoseconds: see [Expr.TotalMilliseconds].
func (e Expr) TotalNanoseconds() Expr { return e.whole(arrow.Nanosecond) }

// TotalMinutes is the number of whole minutes of e, a duration, as int64.
func (e Expr) TotalMinutes() Expr { return e.TotalSeconds().Div(Lit(60)) }

// TotalHours is the number of whole hours of e, a duration, as int64.
func (e Expr) TotalHours() Expr { return e.TotalSeconds().Div(Lit(60 * 60)) }

// TotalDays is the number of whole days of 24 hours of e, a duration, as int64.
func (e Expr) TotalDays() Expr { return e.TotalSeconds().Div(Lit(24 * 60 * 60)) }

// whole is the number of whole units of a duration. A cast to a coarser unit rounds down, so
// the rest is subtracted first.
func (e Expr) whole(unit arrow.TimeUnit) Expr {
	t := &arrow.DurationType{Unit: unit}
	rest := e.Mod(LitOf(t, arrow.Duration(1))) // also an error for other types
	return e.Sub(rest).Cast(t).Cast(int64Type)
}
