package expr

import "github.com/gpuframe/gpuframe/internal/exprtree"

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
func (e Expr) Truncate(unit string) Expr { return make2(truncate, e, Lit(unit)) }

// DaysSince is the number of days from the day of x to the day of e, as int64. Both are
// dates or timestamps. See AddDays.
func (e Expr) DaysSince(x Expr) Expr { return make2(daysSince, e, x) }
