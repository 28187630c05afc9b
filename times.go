package gpuframe

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/kernels/timezone"
)

// LocalTime is what a clock in a time zone shows at a timestamp, as a timestamp without a
// zone: sold.LocalTime("Europe/Oslo").Hour() is the hour there. A timestamp without a zone
// is in UTC. Zones have the names of time.LoadLocation.
func (e Expr) LocalTime(zone string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return timezone.Local(value, zone) })
}

// InstantIn is the first time at which a clock in a time zone shows e, a timestamp without a
// zone, or a later time. So a time that the clock shows twice is the first of both, times that it
// leaves out are the end of the gap, and LocalTime(zone).Truncate("day").InstantIn(zone) is the
// beginning of the day.
func (e Expr) InstantIn(zone string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return timezone.Instant(value, zone) })
}

// FloorTo rounds a date or timestamp down to a multiple of a number of units: 15, "minute".
// Units are those of [Expr.Truncate]. Multiples of weeks are counted from Monday, January 5,
// 1970, shorter ones from 1970, longer ones from year 0.
func (e Expr) FloorTo(number int, unit string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.FloorTo(number, unit) })
}

// CeilTo rounds up to a multiple of a number of units: see [Expr.FloorTo].
func (e Expr) CeilTo(number int, unit string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.CeilTo(number, unit) })
}

// RoundTo rounds to the nearest multiple of a number of units, half up: see [Expr.FloorTo].
func (e Expr) RoundTo(number int, unit string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.RoundTo(number, unit) })
}

// ISOYear is the year of the week of a date or timestamp. Weeks begin on Monday and belong to
// the year of their Thursday.
func (e Expr) ISOYear() Expr { return unary(e, expr.Expr.ISOYear) }

// ISOWeek is the number of the week in its ISOYear, 1 to 53.
func (e Expr) ISOWeek() Expr { return unary(e, expr.Expr.ISOWeek) }

// IsLeapYear reports whether the year of a date or timestamp has a February 29.
func (e Expr) IsLeapYear() Expr { return unary(e, expr.Expr.IsLeapYear) }

// DaysInMonth is the number of days of the month of a date or timestamp.
func (e Expr) DaysInMonth() Expr { return unary(e, expr.Expr.DaysInMonth) }

// MonthsSince is the number of whole months from x to e: from the 31st of October to the 30th of
// November it is 0. It is negative if e is earlier.
func (e Expr) MonthsSince(x any) Expr { return binary(e, x, expr.Expr.MonthsSince) }

// YearsSince is the number of whole years from x to e. It is negative if e is earlier.
func (e Expr) YearsSince(x any) Expr { return binary(e, x, expr.Expr.YearsSince) }

// BusinessDaysSince is the number of business days from the day of x to before the day of e. It
// is negative if e is earlier. Business days are Monday to Friday without the days of the
// holidays in their locations, of which 20,000 are accepted.
func (e Expr) BusinessDaysSince(x any, holidays ...time.Time) Expr {
	return binary(e, x, func(value, since expr.Expr) expr.Expr { return value.BusinessDaysSince(since, holidays...) })
}

// AddBusinessDays moves a date or timestamp by a number of business days, as WORKDAY of
// spreadsheets. See [Expr.BusinessDaysSince] for the holidays.
func (e Expr) AddBusinessDays(days any, holidays ...time.Time) Expr {
	return binary(e, days, func(value, days expr.Expr) expr.Expr { return value.AddBusinessDays(days, holidays...) })
}

// IsBusinessDay reports whether a date or timestamp is a business day: see
// [Expr.BusinessDaysSince].
func (e Expr) IsBusinessDay(holidays ...time.Time) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return value.IsBusinessDay(holidays...) })
}

// FormatTime is a date or timestamp as text, in a format of strftime: "%Y-%m-%d %H:%M:%S".
// Package text has the directives.
func (e Expr) FormatTime(format string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return text.FormatTime(value, format) })
}

// ParseTime is the date32 or timestamp that a string has in a format, or null: see
// [Expr.FormatTime].
func (e Expr) ParseTime(format string, to arrow.DataType) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return text.ParseTime(value, format, to) })
}

// FormatDuration is a duration as text: "iso8601" (P1DT2H3M4.5S), "go" (26h3m4.5s) or "clock"
// (26:03:04.5).
func (e Expr) FormatDuration(form string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return text.FormatDuration(value, form) })
}

// ParseDuration is the duration that a string has in a form, or null: see
// [Expr.FormatDuration], and package text for what each form reads.
func (e Expr) ParseDuration(form string, to arrow.DataType) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return text.ParseDuration(value, form, to) })
}

// TotalDays is the number of whole days of 24 hours of a duration. Like the other totals it is
// rounded towards zero.
func (e Expr) TotalDays() Expr { return unary(e, expr.Expr.TotalDays) }

// TotalHours is the number of whole hours of a duration.
func (e Expr) TotalHours() Expr { return unary(e, expr.Expr.TotalHours) }

// TotalMinutes is the number of whole minutes of a duration.
func (e Expr) TotalMinutes() Expr { return unary(e, expr.Expr.TotalMinutes) }

// TotalSeconds is the number of whole seconds of a duration.
func (e Expr) TotalSeconds() Expr { return unary(e, expr.Expr.TotalSeconds) }

// TotalMilliseconds is the number of whole milliseconds of a duration. It is null beyond 64
// bits.
func (e Expr) TotalMilliseconds() Expr { return unary(e, expr.Expr.TotalMilliseconds) }

// TotalMicroseconds is the number of whole microseconds of a duration. It is null beyond 64
// bits.
func (e Expr) TotalMicroseconds() Expr { return unary(e, expr.Expr.TotalMicroseconds) }

// TotalNanoseconds is the number of nanoseconds of a duration. It is null beyond 64 bits.
func (e Expr) TotalNanoseconds() Expr { return unary(e, expr.Expr.TotalNanoseconds) }
