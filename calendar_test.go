package gpuframe_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestCalendarWindows compares windows of the calendar with package time, across changes of the
// clock and with windows without rows.
func TestCalendarWindows(t *testing.T) {
	type row struct {
		At time.Time `gpuframe:"at"`
	}
	r := rand.New(rand.NewPCG(61, 62))
	rows := make([]row, 60)
	from := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for i := range rows {
		rows[i].At = time.Unix(from+r.Int64N(3*365*86_400), 0).UTC()
	}
	type windows struct {
		every gpuframe.Calendar
		zone  string
		begin func(at time.Time) time.Time // of the time that a clock shows
		next  func(begin time.Time) time.Time
	}
	day := func(at time.Time, back int) time.Time {
		return time.Date(at.Year(), at.Month(), at.Day()-back, 0, 0, 0, 0, at.Location())
	}
	month := func(at time.Time, n int) time.Time {
		return time.Date(at.Year(), at.Month()-(at.Month()-1)%time.Month(n), 1, 0, 0, 0, 0, at.Location())
	}
	later := func(years, months, days int) func(time.Time) time.Time {
		return func(at time.Time) time.Time { return at.AddDate(years, months, days) }
	}
	all := []windows{
		{gpuframe.Every(1, "day").In("Europe/Oslo"), "Europe/Oslo", func(at time.Time) time.Time { return day(at, 0) }, later(0, 0, 1)},
		{gpuframe.Every(1, "week"), "UTC", func(at time.Time) time.Time { return day(at, int(at.Weekday()+6)%7) }, later(0, 0, 7)},
		{gpuframe.Every(1, "week").WeeksFrom(time.Sunday).In("America/New_York"), "America/New_York", func(at time.Time) time.Time { return day(at, int(at.Weekday())) }, later(0, 0, 7)},
		{gpuframe.Every(1, "month").In("Australia/Lord_Howe"), "Australia/Lord_Howe", func(at time.Time) time.Time { return month(at, 1) }, later(0, 1, 0)},
		{gpuframe.Every(2, "quarter"), "UTC", func(at time.Time) time.Time { return month(at, 6) }, later(0, 6, 0)},
		{gpuframe.Every(1, "year").In("Asia/Tokyo"), "Asia/Tokyo", func(at time.Time) time.Time { return month(at, 12) }, later(1, 0, 0)},
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for _, c := range all {
			location, err := time.LoadLocation(c.zone)
			require.NoError(t, err)
			counts := map[time.Time]int{}
			var first, last time.Time
			for i, row := range rows {
				begin := c.begin(row.At.In(location))
				counts[begin]++
				if i == 0 || begin.Before(first) {
					first = begin
				}
				if i == 0 || begin.After(last) {
					last = begin
				}
			}
			var want []string
			for at := first; !at.After(last); at = c.next(at) {
				want = append(want, fmt.Sprint(at.Unix(), " ", counts[at]))
			}
			at := gpuframe.Col("at").Cast(&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}).As("at")
			q := gpuframe.From(e, rows).Resample(at, c.every).Agg(gpuframe.Count().As("n"))
			require.Equal(t, want, collect(t, q.With(gpuframe.Col("at").Cast(arrow.PrimitiveTypes.Int64))), "%v", c.every)
		}
	})
}

// calendarWindow is the windows of a calendar by the days of local time, at noon.
type calendarWindow struct {
	every gpuframe.Calendar
	unit  string // of Truncate, if it has these windows
	first func(day time.Time) time.Time
}

var (
	dayWindow    = calendarWindow{gpuframe.Every(1, "day"), "day", func(day time.Time) time.Time { return day }}
	mondayWindow = calendarWindow{gpuframe.Every(1, "week"), "week", func(day time.Time) time.Time {
		return day.AddDate(0, 0, -int(day.Weekday()+6)%7)
	}}
	sundayWindow = calendarWindow{gpuframe.Every(1, "week").WeeksFrom(time.Sunday), "", func(day time.Time) time.Time {
		return day.AddDate(0, 0, -int(day.Weekday()))
	}}
	monthWindow   = calendarWindow{gpuframe.Every(1, "month"), "month", func(day time.Time) time.Time { return day.AddDate(0, 0, 1-day.Day()) }}
	quarterWindow = calendarWindow{gpuframe.Every(1, "quarter"), "quarter", func(day time.Time) time.Time {
		return time.Date(day.Year(), (day.Month()-1)/3*3+1, 1, 12, 0, 0, 0, time.UTC)
	}}
)

// walkedWindow is a window with its first instant.
type walkedWindow struct {
	name  string
	begin time.Time
	rows  int
}

// nameIn returns the name of the window of a time in a zone.
func (w calendarWindow) nameIn(at time.Time, zone *time.Location) string {
	year, month, day := at.In(zone).Date()
	return w.first(time.Date(year, month, day, 12, 0, 0, 0, time.UTC)).Format(time.DateOnly)
}

// walk returns the windows from that of the first of ascending times to that of the last one. It walks
// in steps of 15 minutes, at which the clocks of the tests are changed.
func (w calendarWindow) walk(zone *time.Location, times []time.Time) (windows []walkedWindow) {
	rows, known := map[string]int{}, map[string]bool{}
	for _, at := range times {
		rows[w.nameIn(at, zone)]++
	}
	first := w.nameIn(times[0], zone)
	for at := times[0].AddDate(0, 0, -95); !at.After(times[len(times)-1]); at = at.Add(15 * time.Minute) {
		if name := w.nameIn(at, zone); name >= first && !known[name] {
			known[name] = true
			windows = append(windows, walkedWindow{name, at, rows[name]})
		}
	}
	return windows
}

// TestDaysThatBeginInGaps compares windows, and truncated local times, with instants of package
// time, around changes of clocks at midnight and others.
func TestDaysThatBeginInGaps(t *testing.T) {
	type row struct {
		At time.Time `gpuframe:"at"`
	}
	at := gpuframe.Col("at").Cast(&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}).As("at")
	seconds := gpuframe.Col("at").Cast(arrow.PrimitiveTypes.Int64)
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for _, c := range []struct {
			zone, change string
			windows      []calendarWindow
		}{
			{"America/Santiago", "2025-09-07", []calendarWindow{dayWindow, mondayWindow, sundayWindow}},
			{"America/Havana", "2025-03-09", []calendarWindow{dayWindow}},
			{"America/Havana", "2025-11-02", []calendarWindow{dayWindow, sundayWindow}},
			{"America/Asuncion", "2023-10-01", []calendarWindow{dayWindow, monthWindow, quarterWindow}},
			{"America/Sao_Paulo", "2018-11-04", []calendarWindow{dayWindow}},
			{"Africa/Cairo", "2024-04-26", []calendarWindow{dayWindow}},
			{"Asia/Beirut", "2024-03-31", []calendarWindow{dayWindow}},
			{"America/Toronto", "1919-03-31", []calendarWindow{dayWindow, mondayWindow}}, // a Monday, from 0:30 on
			{"Pacific/Apia", "2011-12-30", []calendarWindow{dayWindow}},
			{"Pacific/Kwajalein", "1993-08-21", []calendarWindow{dayWindow}},
			{"Australia/Lord_Howe", "2025-10-05", []calendarWindow{dayWindow}},
		} {
			zone, err := time.LoadLocation(c.zone)
			require.NoError(t, err)
			change, err := time.Parse(time.DateOnly, c.change)
			require.NoError(t, err)
			// The windows between the first two times have no rows.
			outer := []time.Time{change.Add(-50 * time.Hour), change.Add(70 * time.Hour)}
			var dense []time.Time
			for at := change.Add(-40 * time.Hour); at.Before(change.Add(40 * time.Hour)); at = at.Add(15 * time.Minute) {
				dense = append(dense, at)
			}
			for _, window := range c.windows {
				for _, times := range [][]time.Time{outer, dense} {
					var rows []row
					for _, at := range times {
						rows = append(rows, row{at})
					}
					var all, filled []string
					for _, w := range window.walk(zone, times) {
						all = append(all, fmt.Sprint(w.begin.Unix(), " ", w.rows))
						if w.rows > 0 {
							filled = append(filled, all[len(all)-1])
						}
					}
					q := gpuframe.From(e, rows)
					resampled := q.Resample(at, window.every.In(c.zone)).Agg(gpuframe.Count().As("n")).With(seconds)
					require.Equal(t, all, collect(t, resampled), "%v %s %s", window.every, c.zone, c.change)
					if window.unit == "" {
						continue
					}
					begin := at.LocalTime(c.zone).Truncate(window.unit).InstantIn(c.zone).As("at")
					grouped := q.GroupBy(begin).Agg(gpuframe.Count().As("n")).With(seconds).Sort(gpuframe.Col("at"))
					require.Equal(t, filled, collect(t, grouped), "%s %s %s", window.unit, c.zone, c.change)
				}
			}
		}
	})
}

// TestCalendarProblems refuses calendars that do not fit, and reports what to pass instead.
func TestCalendarProblems(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	q := e.Records(nil, counting(t, 3))
	id := gpuframe.Col("id")
	stamp, date := id.Cast(arrow.FixedWidthTypes.Timestamp_s), id.Cast(arrow.PrimitiveTypes.Int32).Cast(arrow.FixedWidthTypes.Date32)
	for want, made := range map[string]gpuframe.Resampled{
		"windows of 1 month of int64, expected dates or timestamps":              q.Resample(id, gpuframe.Every(1, "month")),
		"windows of 1 day in Europe/Oslo of date32: dates are the same":          q.Resample(date, gpuframe.Every(1, "day").In("Europe/Oslo")),
		"such as an hour, take a time.Duration":                                  q.Resample(stamp, gpuframe.Every(1, "hour")),
		"windows of 0 day, expected a positive number":                           q.Resample(stamp, gpuframe.Every(0, "day")),
		"windows of 1 month from Sunday: only weeks have a first day":            q.Resample(stamp, gpuframe.Every(1, "month").WeeksFrom(time.Sunday)),
		`windows of "1month", expected a time.Duration, an integer, or a Calend`: q.Resample(stamp, "1month"),
		"time zone \"Europe/Olso\"":                                              q.Resample(stamp, gpuframe.Every(1, "day").In("Europe/Olso")),
		"5 months":                                                               q.Resample(stamp, gpuframe.Every(5, "month")),
	} {
		_, err := made.Agg(gpuframe.Count()).Collect(t.Context())
		require.ErrorContains(t, err, want)
	}
	_, err := q.Resample(stamp, gpuframe.Every(1, "hour")).Agg(gpuframe.Count()).Collect(t.Context())
	require.ErrorIs(t, err, device.ErrInvalidValue)
}
