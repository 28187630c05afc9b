package querydata

import (
	"maps"
	"time"

	"github.com/gpuframe/gpuframe"
)

func init() {
	maps.Copy(functions, map[string]function{
		"matches_regex": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.MatchesRegex(o.member("pattern").text()) }),
		"find_regex":    with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.FindRegex(o.member("pattern").text()) }),
		"count_regex":   with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.CountRegex(o.member("pattern").text()) }),
		"extract_regex": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.ExtractRegex(o.member("pattern").text(), o.member("group").count())
		}),
		"replace_regex": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.ReplaceRegex(o.member("pattern").text(), o.member("with").text())
		}),

		"is_alpha": unary(gpuframe.Expr.IsAlpha), "is_digit": unary(gpuframe.Expr.IsDigit), "is_alnum": unary(gpuframe.Expr.IsAlnum),
		"is_space": unary(gpuframe.Expr.IsSpace), "is_upper": unary(gpuframe.Expr.IsUpper), "is_lower": unary(gpuframe.Expr.IsLower),
		"is_ascii": unary(gpuframe.Expr.IsASCII),

		"hex": unary(gpuframe.Expr.Hex), "unhex": unary(gpuframe.Expr.Unhex), "base64": unary(gpuframe.Expr.Base64),
		"unbase64": unary(gpuframe.Expr.Unbase64), "edit_distance": binary(gpuframe.Expr.EditDistance),
		"format_float": unary(gpuframe.Expr.FormatFloat),
		"format_time":  with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.FormatTime(o.member("format").text()) }),
		"parse_time": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.ParseTime(o.member("format").text(), o.member("type").dataType())
		}),

		"local_time": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.LocalTime(o.member("zone").text()) }),
		"instant_in": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.InstantIn(o.member("zone").text()) }),
		"floor_to":   with(multiple(gpuframe.Expr.FloorTo)), "ceil_to": with(multiple(gpuframe.Expr.CeilTo)), "round_to": with(multiple(gpuframe.Expr.RoundTo)),
		"iso_year": unary(gpuframe.Expr.ISOYear), "iso_week": unary(gpuframe.Expr.ISOWeek), "is_leap_year": unary(gpuframe.Expr.IsLeapYear),
		"days_in_month": unary(gpuframe.Expr.DaysInMonth), "months_since": binary(gpuframe.Expr.MonthsSince), "years_since": binary(gpuframe.Expr.YearsSince),
		"total_days": unary(gpuframe.Expr.TotalDays), "total_hours": unary(gpuframe.Expr.TotalHours), "total_minutes": unary(gpuframe.Expr.TotalMinutes),
		"total_seconds": unary(gpuframe.Expr.TotalSeconds), "total_milliseconds": unary(gpuframe.Expr.TotalMilliseconds),
		"total_microseconds": unary(gpuframe.Expr.TotalMicroseconds), "total_nanoseconds": unary(gpuframe.Expr.TotalNanoseconds),
		"format_duration": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.FormatDuration(o.member("form").text()) }),
		"parse_duration": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.ParseDuration(o.member("form").text(), o.member("type").dataType())
		}),
		"split": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Split(o.member("separator").text()) }),
		"split_fields": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.SplitFields(o.member("separator").text(), o.member("names").texts()...)
		}),

		"difference":          with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.Difference(o.member("n").count()) }),
		"percent_change":      with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.PercentChange(o.member("n").count()) }),
		"business_days_since": {2, 2, func(o *object, a []gpuframe.Expr) gpuframe.Expr { return a[0].BusinessDaysSince(a[1], o.holidays()...) }},
		"add_business_days":   {2, 2, func(o *object, a []gpuframe.Expr) gpuframe.Expr { return a[0].AddBusinessDays(a[1], o.holidays()...) }},
		"is_business_day":     with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.IsBusinessDay(o.holidays()...) }),
	})
}

// holidays reads the dates that are no business days. A missing list has none.
func (o *object) holidays() (days []time.Time) {
	for _, day := range o.member("holidays").list() {
		days = append(days, day.instant())
	}
	return days
}

// multiple reads the number and the unit of a multiple of times.
func multiple(f func(e gpuframe.Expr, number int, unit string) gpuframe.Expr) func(*object, gpuframe.Expr) gpuframe.Expr {
	return func(o *object, e gpuframe.Expr) gpuframe.Expr {
		return f(e, o.member("number").count(), o.member("unit").text())
	}
}
