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
