package gpuframe

import (
	"time"

	"github.com/gpuframe/gpuframe/internal/query/bind"
)

// Resampled is rows in windows of time: see [Query.Resample].
type Resampled struct {
	query Query
	at    bind.Expr
	every any
	hop   bind.Hop
	by    []bind.Expr
}

// Resample divides the rows into windows of a time, or of a number: every is a time.Duration,
// an integer for integers, or a [Calendar] of days, weeks, months, quarters or years. Windows
// of one length begin at multiples of it since 1970 UTC, or at the least value of the type. With keys in by, each combination of
// them has its own windows.
//
//	readings.Resample(ts, 15*time.Minute, sensor).Agg(value.Mean())
func (q Query) Resample(at Key, every any, by ...Key) Resampled {
	return Resampled{query: q, at: keyOf(at).bound(), every: every, by: keysOf(by)}
}

// Span gives the windows a length of their own, as every of [Query.Resample] is one: windows with a span above every
// overlap, and a row is in several; below it there are gaps. A calendar has a span of days or weeks for days or weeks,
// and of months, quarters or years for these. Windows are those that contain a row, and those between them.
//
//	readings.Resample(ts, 5*time.Minute).Span(time.Hour).Agg(value.Mean())
func (r Resampled) Span(span any) Resampled {
	r.hop.Span = stepOf(span)
	return r
}

// Offset moves the beginnings of all windows, by a time.Duration or an integer. Calendars have none: see
// [Calendar.WeeksFrom].
func (r Resampled) Offset(by any) Resampled {
	r.hop.Offset = by
	return r
}

// Closed is the ends that belong to a window: "left", the default, "right", "both" or "none".
func (r Resampled) Closed(ends string) Resampled {
	r.hop.Closed = ends
	return r
}

// Label is the end of the window that the result has: "left", the default, or "right".
func (r Resampled) Label(end string) Resampled {
	r.hop.Label = end
	return r
}

// Agg makes a row for each window from the first to the last one with rows, in order: the keys
// in by, the beginning of the window, and the values of expressions of aggregates. For a window
// without rows counts are 0 and other aggregates null, also lists: FillNull within the expressions, or
// FillForward and Interpolate over the keys, fill them. Rows without a time are left out.
func (r Resampled) Agg(aggregates ...Expression) Query {
	return r.query.then(bind.Resample(r.at, stepOf(r.every), r.hop, r.by, arguments(aggregates)))
}

// Calendar is a length of time in days, weeks, months, quarters or years, which do not
// all have the same length: see [Query.Resample] and [Window.Range]. It is immutable.
type Calendar struct{ calendar bind.Calendar }

// Every is windows of a number of units: "day", "week", "month", "quarter" or "year". Windows
// of several units begin at the multiples that [Expr.FloorTo] has.
//
//	sales.Resample(ts, gpuframe.Every(1, "month").In("Europe/Oslo")).Agg(revenue.Sum())
func Every(number int, unit string) Calendar {
	return Calendar{bind.Calendar{Number: number, Unit: unit}}
}

// In makes the windows begin at midnight in a time zone. The default is the zone of the
// timestamps, and UTC for those without. If a clock leaves midnight out, the day begins at the
// first instant after the gap; if it shows midnight twice, at the first one. Days that a zone has
// left out, when it moved to the other side of the date line, have no window.
func (c Calendar) In(zone string) Calendar {
	c.calendar.Zone = zone
	return c
}

// WeeksFrom is the first day of weeks. The default is Monday.
func (c Calendar) WeeksFrom(day time.Weekday) Calendar {
	c.calendar.WeekStart = (int(day)%7 + 6) % 7
	return c
}

// String formats the calendar: "1 month in Europe/Oslo".
func (c Calendar) String() string { return c.calendar.String() }
