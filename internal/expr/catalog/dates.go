package catalog

var (
	withUnit     = params{{Name: "unit", Type: Unit}}
	withMultiple = params{{Name: "number", Type: Whole}, {Name: "unit", Type: Unit}}
	withZone     = params{{Name: "zone", Type: Zone}}
	holidays     = Parameter{Name: "holidays", Type: Dates, Optional: true}
)

const ofLocalTime = "yes; of a local time: one step for both"

var dates = Section{"Dates and times", Elementwise, "yes", []Row{
	{Operands: "dates, timestamps", Result: "int64", Fuses: ofLocalTime, Functions: []Function{
		{Name: "year", Doc: "Year is the year of a date or timestamp.", Python: "dt.year()", PythonDoc: "The year."},
		{Name: "quarter", Doc: "Quarter is the quarter of the year, 1 to 4.", Python: "dt.quarter()", PythonDoc: "The quarter of the year, 1 to 4."},
		{Name: "month", Doc: "Month is the month, 1 to 12.", Python: "dt.month()", PythonDoc: "The month, 1 to 12."},
		{Name: "day", Doc: "Day is the day of the month, 1 to 31.", Python: "dt.day()", PythonDoc: "The day of the month, 1 to 31."},
		{Name: "day_of_year", Aliases: []string{"dayofyear"}, Doc: "DayOfYear is the day of the year, 1 to 366.", Python: "dt.ordinal_day()", PythonDoc: "The day of the year, 1 to 366."},
		{Name: "weekday", Doc: "Weekday is the day of the week, as in package expr.", Python: "dt.weekday"},
	}},
	{Operands: "clocks, timestamps", Result: "int64", Fuses: ofLocalTime, Functions: []Function{
		{Name: "hour", Doc: "Hour is the hour of a time or timestamp.", Python: "dt.hour()", PythonDoc: "The hour."},
		{Name: "minute", Doc: "Minute is the minute of a time or timestamp.", Python: "dt.minute()", PythonDoc: "The minute."},
		{Name: "second", Doc: "Second is the second of a time or timestamp.", Python: "dt.second()", PythonDoc: "The second."},
	}},
	{Operands: "dates, timestamps", Result: "the same", Null: "the type does not hold the result", Functions: []Function{
		{Name: "truncate", Parameters: withUnit, Example: "truncate(departure, 'month')",
			Doc: `Truncate rounds a date or timestamp down to a unit: "year", "quarter", "month", "week" (Monday), "day", "hour", "minute", "second", "millisecond" or "microsecond".`},
		{Name: "floor_to", Parameters: withMultiple, Example: "floor_to(departure, 15, 'minute')", Python: "dt.truncate",
			Doc: `FloorTo rounds a date or timestamp down to a multiple of a number of units: 15, "minute". Units are those of [Expr.Truncate]. Multiples of weeks are counted from Monday, January 5, 1970, shorter ones from 1970, longer ones from year 0.`},
		{Name: "ceil_to", Parameters: withMultiple, Doc: "CeilTo rounds up to a multiple of a number of units: see [Expr.FloorTo].", Python: "dt.ceil"},
		{Name: "round_to", Parameters: withMultiple, Doc: "RoundTo rounds to the nearest multiple of a number of units, half up: see [Expr.FloorTo].", Python: "dt.round"},
	}},
	{Operands: "dates, timestamps; and an integer", Result: "the same", Null: "the type does not hold the result", Functions: []Function{
		{Name: "add_days", Parameters: params{{Name: "days"}}, Doc: "AddDays moves a date or timestamp by a number of days.", Python: "dt.offset_by"},
		{Name: "add_months", Parameters: params{{Name: "months"}}, Doc: "AddMonths moves a date or timestamp by a number of months. A day that the month lacks becomes its last day.", Python: "dt.offset_by"},
		{Name: "add_years", Parameters: params{{Name: "years"}}, Doc: "AddYears is AddMonths with twelve times the number.", Python: "dt.offset_by"},
		{Name: "add_business_days", Parameters: params{{Name: "days"}, holidays},
			Doc:       "AddBusinessDays moves a date or timestamp by a number of business days, as WORKDAY of spreadsheets. See [Expr.BusinessDaysSince] for the holidays.",
			Python:    "dt.add_business_days(n: IntoExpr, holidays: Iterable[datetime.date] = ())",
			PythonDoc: "A date or timestamp moved by a number of business days, as WORKDAY of spreadsheets. See :meth:`business_days_since`."},
	}},
	{Operands: "dates, timestamps; two of them", Result: "int64", Functions: []Function{
		{Name: "days_since", Parameters: withX, Doc: "DaysSince is the number of days from the day of x to the day of e.",
			Python: "dt.days_since(other: IntoExpr)", PythonDoc: "The number of days from the day of another value to the day of this one. Polars has ``(a - b).dt.total_days()``."},
		{Name: "months_since", Parameters: withX, Doc: "MonthsSince is the number of whole months from x to e: from the 31st of October to the 30th of November it is 0. It is negative if e is earlier.",
			Python: "dt.months_since(other: IntoExpr)", PythonDoc: "The number of whole months from another value to this one."},
		{Name: "years_since", Parameters: withX, Doc: "YearsSince is the number of whole years from x to e. It is negative if e is earlier.",
			Python: "dt.years_since(other: IntoExpr)", PythonDoc: "The number of whole years from another value to this one."},
		{Name: "business_days_since", Parameters: params{{Name: "x"}, holidays},
			Doc:       "BusinessDaysSince is the number of business days from the day of x to before the day of e. It is negative if e is earlier. Business days are Monday to Friday without the days of the holidays in their locations, of which 20,000 are accepted.",
			Python:    "dt.business_days_since(other: IntoExpr, holidays: Iterable[datetime.date] = ())",
			PythonDoc: "The number of business days from the day of another value to before the day of this one.\n\nBusiness days are Monday to Friday without the holidays, of which 20,000 are accepted."},
	}},
	{Operands: "dates, timestamps", Result: "int64", Null: "the week or the next month is not held by the type", Functions: []Function{
		{Name: "iso_year", Aliases: []string{"isoyear"}, Doc: "ISOYear is the year of the week of a date or timestamp. Weeks begin on Monday and belong to the year of their Thursday.",
			Python: "dt.iso_year()", PythonDoc: "The year of the week. Weeks begin on Monday and belong to the year of their Thursday."},
		{Name: "iso_week", Aliases: []string{"week", "weekofyear"}, Doc: "ISOWeek is the number of the week in its ISOYear, 1 to 53.",
			Python: "dt.week()", PythonDoc: "The number of the week in its ISO year, 1 to 53."},
		{Name: "days_in_month", Doc: "DaysInMonth is the number of days of the month of a date or timestamp.",
			Python: "dt.days_in_month()", PythonDoc: "The number of days of the month."},
	}},
	{Operands: "dates, timestamps", Result: "bool", Functions: []Function{
		{Name: "is_leap_year", Doc: "IsLeapYear reports whether the year of a date or timestamp has a February 29.",
			Python: "dt.is_leap_year()", PythonDoc: "Whether the year has a February 29."},
		{Name: "is_business_day", Parameters: params{holidays}, Doc: "IsBusinessDay reports whether a date or timestamp is a business day: see [Expr.BusinessDaysSince].",
			Python: "dt.is_business_day(holidays: Iterable[datetime.date] = ())", PythonDoc: "Whether the day is a business day. See :meth:`business_days_since`."},
	}},
	{Operands: "timestamps; of any zone", Result: "timestamp without a zone", Null: "more than 64 bits", Fuses: "no", Functions: []Function{
		{Name: "local_time", Parameters: withZone, Call: "timezone.Local", Example: "local_time(departure, 'Europe/Oslo')",
			Doc:    `LocalTime is what a clock in a time zone shows at a timestamp, as a timestamp without a zone: sold.LocalTime("Europe/Oslo").Hour() is the hour there. A timestamp without a zone is in UTC. Zones have the names of time.LoadLocation.`,
			Python: "dt.local_time(time_zone: str)", PythonDoc: "What a clock in a time zone shows, as a timestamp without a zone. Functions of it are those of the clock."},
	}},
	{Operands: "timestamps; without a zone", Result: "timestamp of the zone: the first instant at which its clock shows the time or a later one", Null: "more than 64 bits", Fuses: "no", Functions: []Function{
		{Name: "instant_in", Parameters: withZone, Call: "timezone.Instant",
			Doc:       `InstantIn is the first time at which a clock in a time zone shows e, a timestamp without a zone, or a later time. So a time that the clock shows twice is the first of both, times that it leaves out are the end of the gap, and LocalTime(zone).Truncate("day").InstantIn(zone) is the beginning of the day.`,
			Python:    "dt.instant_in(time_zone: str)",
			PythonDoc: "The first time at which a clock in a time zone shows a timestamp without a zone, or a later one.\n\nSo a time that the clock shows twice is the first of both, and a time that it leaves out is the end of the gap: ``t.dt.local_time(zone).dt.truncate(\"day\").dt.instant_in(zone)`` is the beginning of the day. Polars refuses both."},
	}},
	{Operands: "dates, timestamps", Result: "utf8", Null: "a year beyond 0 to 9999", Fuses: "no", Functions: []Function{
		{Name: "format_time", Parameters: params{{Name: "format", Type: Text}}, Call: "text.FormatTime", Example: "format_time(departure, '%Y-%m-%d')",
			Doc:    `FormatTime is a date or timestamp as text, in a format of strftime: "%Y-%m-%d %H:%M:%S". Package text has the directives.`,
			Python: "dt.strftime(format: str)", PythonDoc: `The date or timestamp as text in a format: "%Y-%m-%d %H:%M:%S". It is null for years beyond 0 to 9999.`},
	}},
	{Operands: "strings, binaries", Result: "date32, timestamp", Null: "the string has another format", Fuses: "no", Functions: []Function{
		{Name: "parse_time", Parameters: params{{Name: "format", Type: Text}, {Name: "type", Go: "to", Type: DataType}}, Call: "text.ParseTime", Example: "parse_time(day, '%d.%m.%Y', date32)", Python: "str.strptime",
			Doc: "ParseTime is the date32 or timestamp that a string has in a format, or null: see [Expr.FormatTime]."},
	}},
	{Operands: "durations", Result: "int64", Functions: []Function{
		{Name: "total_days", Doc: "TotalDays is the number of whole days of 24 hours of a duration. Like the other totals it is rounded towards zero.",
			Python: "dt.total_days()", PythonDoc: "The number of whole days of 24 hours of a duration, rounded towards zero."},
		{Name: "total_hours", Doc: "TotalHours is the number of whole hours of a duration.",
			Python: "dt.total_hours()", PythonDoc: "The number of whole hours of a duration, rounded towards zero."},
		{Name: "total_minutes", Doc: "TotalMinutes is the number of whole minutes of a duration.",
			Python: "dt.total_minutes()", PythonDoc: "The number of whole minutes of a duration, rounded towards zero."},
		{Name: "total_seconds", Doc: "TotalSeconds is the number of whole seconds of a duration.",
			Python: "dt.total_seconds()", PythonDoc: "The number of whole seconds of a duration, rounded towards zero."},
	}},
	{Operands: "durations", Result: "int64", Null: "more than 64 bits", Functions: []Function{
		{Name: "total_milliseconds", Doc: "TotalMilliseconds is the number of whole milliseconds of a duration. It is null beyond 64 bits.",
			Python: "dt.total_milliseconds()", PythonDoc: "The number of whole milliseconds of a duration, rounded towards zero."},
		{Name: "total_microseconds", Doc: "TotalMicroseconds is the number of whole microseconds of a duration. It is null beyond 64 bits.",
			Python: "dt.total_microseconds()", PythonDoc: "The number of whole microseconds of a duration, rounded towards zero."},
		{Name: "total_nanoseconds", Doc: "TotalNanoseconds is the number of nanoseconds of a duration. It is null beyond 64 bits.",
			Python: "dt.total_nanoseconds()", PythonDoc: "The number of whole nanoseconds of a duration, rounded towards zero."},
	}},
	{Operands: "durations", Result: "utf8", Fuses: "no", Functions: []Function{
		{Name: "format_duration", Parameters: params{{Name: "form", Type: Text}}, Call: "text.FormatDuration", Example: "format_duration(taken, 'clock')",
			Doc:    `FormatDuration is a duration as text: "iso8601" (P1DT2H3M4.5S), "go" (26h3m4.5s) or "clock" (26:03:04.5).`,
			Python: "dt.format_duration(form: str)", PythonDoc: `A duration as text: "iso8601" (P1DT2H3M4.5S), "go" (26h3m4.5s) or "clock" (26:03:04.5). Polars has ` + "``to_string(\"iso\")``."},
	}},
	{Operands: "strings, binaries", Result: "duration", Null: "the string has another form, or the type does not hold it", Fuses: "no", Functions: []Function{
		{Name: "parse_duration", Parameters: params{{Name: "form", Type: Text}, {Name: "type", Go: "to", Type: DataType}}, Call: "text.ParseDuration",
			Doc:    "ParseDuration is the duration that a string has in a form, or null: see [Expr.FormatDuration], and package text for what each form reads.",
			Python: `str.parse_duration(form: str, dtype: Any = "duration[us]")`, PythonDoc: `The duration that the string has, or null: "iso8601" (P1DT2H3M4.5S), "go" (26h3m4.5s) or "clock" (26:03:04.5). Polars has none.`},
	}},
}}
