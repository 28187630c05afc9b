package sql

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// dateParts are the parts of dates and timestamps by the names that are used most.
var dateParts = map[string]func(e gpuframe.Expr) gpuframe.Expr{
	"year":    gpuframe.Expr.Year,
	"quarter": gpuframe.Expr.Quarter,
	"month":   gpuframe.Expr.Month,
	"day":     gpuframe.Expr.Day,
	"week":    gpuframe.Expr.ISOWeek,
	"isoyear": gpuframe.Expr.ISOYear,
	"doy":     gpuframe.Expr.DayOfYear,
	"isodow":  func(e gpuframe.Expr) gpuframe.Expr { return e.Weekday().Add(1) },
	"dow":     func(e gpuframe.Expr) gpuframe.Expr { return e.Weekday().Add(1).Mod(7) },
	"hour":    gpuframe.Expr.Hour,
	"minute":  gpuframe.Expr.Minute,
	"second":  gpuframe.Expr.Second,
	"decade":  func(e gpuframe.Expr) gpuframe.Expr { return e.Year().Div(10) },
	"epoch":   func(e gpuframe.Expr) gpuframe.Expr { return e.Cast(timestampType).Cast(int64Type).TrueDiv(1e6) },
}

// partAliases are other names of parts.
var partAliases = map[string]string{
	"years": "year", "y": "year", "quarters": "quarter", "months": "month", "mon": "month", "days": "day", "d": "day", "dayofmonth": "day",
	"weeks": "week", "w": "week", "weekofyear": "week", "dayofyear": "doy", "dayofweek": "dow", "weekday": "dow",
	"hours": "hour", "h": "hour", "minutes": "minute", "m": "minute", "min": "minute", "seconds": "second", "s": "second", "sec": "second",
}

func datePartCall(t *translation, at *tree.Call, list []value) value {
	return t.datePart(at, t.literalText(at, list[0], "the name of the part"), list[1])
}

// datePart returns a part of a date or timestamp.
func (t *translation) datePart(at tree.Node, name string, v value) value {
	name = strings.ToLower(name)
	if other, ok := partAliases[name]; ok {
		name = other
	}
	f, ok := dateParts[name]
	if !ok {
		t.fail(at, "%s", names.Unknown("part of a date", name, slices.Sorted(maps.Keys(dateParts))))
	}
	v = t.time(at, v)
	if isDate(v.dataType) && (name == "hour" || name == "minute" || name == "second") {
		v = t.cast(at, v, timestampType)
	}
	result := t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0]) }, v)
	if isInteger(result.dataType) {
		result.bits = 24
	}
	return result
}

// time returns a value that is a date or timestamp.
func (t *translation) time(at tree.Node, v value) value {
	if v.null {
		return t.nullOf(timestampType)
	}
	if !isTemporal(v) {
		t.fail(at, "the value is %s, expected a date or timestamp", typeOf(v))
	}
	return v
}

// truncations are the units of date_trunc.
var truncations = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond"}

// dateTrunc rounds down to a unit. A date stays a date for units from a day on, and else becomes a timestamp.
func dateTrunc(t *translation, at *tree.Call, list []value) value {
	name := strings.ToLower(t.literalText(at, list[0], "the unit"))
	if other, ok := partAliases[name]; ok {
		name = other
	}
	place := slices.Index(truncations, name)
	if place < 0 {
		t.fail(at, "%s", names.Unknown("unit", name, truncations))
	}
	v := t.time(at, list[1])
	if isDate(v.dataType) && place > slices.Index(truncations, "day") {
		return t.cast(at, v, timestampType)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Truncate(name) }, v)
}

// dateDiff is the number of boundaries of a unit between two times.
func dateDiff(t *translation, at *tree.Call, list []value) value {
	name := strings.ToLower(t.literalText(at, list[0], "the unit"))
	if other, ok := partAliases[name]; ok {
		name = other
	}
	both := t.unified(at, list[1], list[2])
	from, to := t.time(at, both[0]), t.time(at, both[1])
	months := func(e gpuframe.Expr) gpuframe.Expr { return e.Year().Mul(12).Add(e.Month()) }
	f := map[string]func(a, b gpuframe.Expr) gpuframe.Expr{
		"day":   func(a, b gpuframe.Expr) gpuframe.Expr { return b.DaysSince(a) },
		"week":  func(a, b gpuframe.Expr) gpuframe.Expr { return b.DaysSince(a).Div(7) }, // as DuckDB: whole weeks of days, not Mondays
		"month": func(a, b gpuframe.Expr) gpuframe.Expr { return months(b).Sub(months(a)) },
		"quarter": func(a, b gpuframe.Expr) gpuframe.Expr {
			return b.Year().Mul(4).Add(b.Quarter()).Sub(a.Year().Mul(4).Add(a.Quarter()))
		},
		"year": func(a, b gpuframe.Expr) gpuframe.Expr { return b.Year().Sub(a.Year()) },
	}[name]
	if total, ok := totals[name]; ok {
		from, to = t.convert(at, from, timestampType), t.convert(at, to, timestampType)
		f = func(a, b gpuframe.Expr) gpuframe.Expr { return total(b.Truncate(name).Sub(a.Truncate(name))) }
	}
	if f == nil {
		t.fail(at, "date_diff in %q is not supported: use microsecond, millisecond, second, minute, hour, day, week, month, quarter or year", name)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0], list[1]) }, from, to)
}

// totals are the units of durations.
var totals = map[string]func(e gpuframe.Expr) gpuframe.Expr{
	"hour": gpuframe.Expr.TotalHours, "minute": gpuframe.Expr.TotalMinutes, "second": gpuframe.Expr.TotalSeconds,
	"millisecond": gpuframe.Expr.TotalMilliseconds, "microsecond": gpuframe.Expr.TotalMicroseconds,
}

// furthestYear is the last year of make_date, and its negative the first one: the numbers of their days have 32 bits.
const furthestYear = 5_800_000

// makeDate is the date of a year, a month and a day, or null if the calendar does not have that day.
func makeDate(t *translation, at *tree.Call, list []value) value {
	for i := range list {
		list[i] = t.convert(at, t.settled(list[i]), int64Type)
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		first := gpuframe.LitOf(dateType, arrow.Date32(0)).AddMonths(e[0].Sub(1970).Mul(12).Add(e[1]).Sub(1))
		exists := e[0].Between(-furthestYear, furthestYear).And(e[1].Between(1, 12)).And(e[2].Ge(1)).And(e[2].Le(first.DaysInMonth()))
		return gpuframe.If(exists, first.AddDays(e[2].Sub(1)), gpuframe.LitOf(dateType, nil))
	}, list...)
}

// parsedTime is the timestamp of a text in a format, or null for another text.
func parsedTime(t *translation, at *tree.Call, list []value) value {
	format := t.literalText(at, list[1], "the format")
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].ParseTime(format, timestampType) }, list[0])
}

// lastDay is the last day of the month, a date.
func lastDay(t *translation, at *tree.Call, list []value) value {
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		return list[0].Truncate("month").AddMonths(1).AddDays(-1).Cast(dateType)
	}, t.time(at, list[0]))
}

// atTimeZone translates AT TIME ZONE: what a clock shows at a point in time, or the point in time at which it shows a
// timestamp without a zone.
func (t *translation) atTimeZone(at *tree.AtTimeZone, v value, zone string) value {
	if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" {
		t.fail(at.Zone, "%q is no time zone: write one such as 'Europe/Oslo' or 'UTC'", zone)
	}
	if v.null {
		return t.nullOf(timestampType)
	}
	if isDate(v.dataType) {
		v = t.convert(at, v, timestampType)
	}
	instant, ok := v.dataType.(*arrow.TimestampType)
	if !ok {
		t.fail(at, "AT TIME ZONE of %s is not possible, expected a timestamp", typeOf(v))
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		if instant.TimeZone == "" {
			return list[0].InstantIn(zone)
		}
		return list[0].LocalTime(zone)
	}, v)
}
