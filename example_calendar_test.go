package gpuframe_test

import (
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// measurement is a value at a time.
type measurement struct {
	At    time.Time `gpuframe:"at"`
	Value float64   `gpuframe:"value"`
}

// exampleReadings are from around the night of 28 to 29 March 2026, in which clocks of Oslo leave out an hour.
func exampleReadings() []measurement {
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 0, 0, time.UTC) }
	return []measurement{{at(27, 9, 0), 2}, {at(28, 22, 30), 4}, {at(28, 23, 30), 8}, {at(29, 21, 30), 16}, {at(30, 8, 0), 32}}
}

// Days of a time zone: that of 29 March has 23 hours. The second column is the local time.
func ExampleEvery() {
	gpu := hostEngine()
	defer gpu.Close()
	at := gpuframe.Col("at")
	days := gpuframe.Every(1, "day").In("Europe/Oslo")
	show(gpuframe.From(gpu, exampleReadings()).
		Resample(at, days).
		Agg(gpuframe.Col("value").Sum().As("sum")).
		Select(at.FormatTime("%d %H:%M").As("begin_utc"), at.LocalTime("Europe/Oslo").FormatTime("%d %H:%M").As("begin"), "sum"))
	// Output:
	// begin_utc,begin,sum
	// 26 23:00,27 00:00,2
	// 27 23:00,28 00:00,4
	// 28 23:00,29 00:00,24
	// 29 22:00,30 00:00,32
}

// Weeks from Sunday to Saturday.
func ExampleCalendar_WeeksFrom() {
	gpu := hostEngine()
	defer gpu.Close()
	var weeks gpuframe.Calendar = gpuframe.Every(1, "week").WeeksFrom(time.Sunday)
	show(gpuframe.From(gpu, exampleReadings()).
		Resample("at", weeks).
		Agg(gpuframe.Count().As("n")).
		Select(gpuframe.Col("at").FormatTime("%a %d %b").As("week"), "n"))
	// Output:
	// week,n
	// Sun 22 Mar,3
	// Sun 29 Mar,2
}

// A sum of two days for each day: windows overlap if their span is longer than the step. Days begin at six. Each has the time of its end.
func ExampleResampled_Span() {
	gpu := hostEngine()
	defer gpu.Close()
	var windows gpuframe.Resampled = gpuframe.From(gpu, exampleReadings()).Resample("at", 24*time.Hour)
	show(windows.Offset(6*time.Hour).Span(48*time.Hour).Closed("right").Label("right").
		Agg(gpuframe.Col("value").Sum().As("sum")).
		Select(gpuframe.Col("at").FormatTime("%d %b %H:%M").As("until"), "sum"))
	// Output:
	// until,sum
	// 28 Mar 06:00,2
	// 29 Mar 06:00,14
	// 30 Mar 06:00,28
	// 31 Mar 06:00,48
	// 01 Apr 06:00,32
}

// The beginning of the day of a time zone, as an instant.
func ExampleExpr_InstantIn() {
	gpu := hostEngine()
	defer gpu.Close()
	at := gpuframe.Col("at")
	day := at.LocalTime("Europe/Oslo").Truncate("day").InstantIn("Europe/Oslo")
	show(gpuframe.From(gpu, exampleReadings()).
		Select(at.Sub(day).TotalMinutes().As("minutes_of_day"), day.LocalTime("UTC").FormatTime("%d %H:%M").As("midnight_utc")))
	// Output:
	// minutes_of_day,midnight_utc
	// 600,26 23:00
	// 1410,27 23:00
	// 30,28 23:00
	// 1350,28 23:00
	// 600,29 22:00
}

// When goods arrive that need three business days, and how late they were. 1 April is a holiday.
func ExampleExpr_AddBusinessDays() {
	type order struct {
		Sent    time.Time `gpuframe:"sent"`
		Arrived time.Time `gpuframe:"arrived"`
	}
	date := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC) }
	holiday := date(4, 1)
	gpu := hostEngine()
	defer gpu.Close()
	sent, arrived := gpuframe.Col("sent"), gpuframe.Col("arrived")
	due := sent.AddBusinessDays(3, holiday)
	show(gpuframe.From(gpu, []order{{date(3, 27), date(4, 2)}, {date(3, 30), date(4, 7)}, {date(3, 31), date(4, 2)}}).
		Select(sent.IsBusinessDay(holiday).As("sent_on_business_day"), due.FormatTime("%d %b").As("due"), arrived.BusinessDaysSince(due, holiday).As("late")))
	// Output:
	// sent_on_business_day,due,late
	// true,02 Apr,0
	// true,03 Apr,2
	// true,06 Apr,-2
}

// Durations as text, and back.
func ExampleExpr_ParseDuration() {
	type call struct{ Talk, Hold string }
	gpu := hostEngine()
	defer gpu.Close()
	talk := gpuframe.Col("Talk").ParseDuration("clock", arrow.FixedWidthTypes.Duration_ms)
	hold := gpuframe.Col("Hold").ParseDuration("go", arrow.FixedWidthTypes.Duration_ms)
	show(gpuframe.From(gpu, []call{{"0:04:30", "45s"}, {"1:00:05.5", "2m"}, {"0:10", "soon"}}).
		Select(talk.FormatDuration("iso8601").As("talk"), talk.Add(hold).FormatDuration("clock").As("both"), hold.IsNull().As("unknown")))
	// Output:
	// talk,both,unknown
	// PT4M30S,00:05:15,false
	// PT1H5.5S,01:02:05.5,false
	// ,,true
}

// The sum of a month up to each day. March 28 and 31 both have frames from the last day of February on.
func ExampleWindow_Range() {
	gpu := hostEngine()
	defer gpu.Close()
	day := func(month time.Month, day int, value float64) measurement {
		return measurement{time.Date(2026, month, day, 0, 0, 0, 0, time.UTC), value}
	}
	readings := []measurement{day(1, 28, 1), day(1, 31, 2), day(2, 28, 4), day(3, 28, 8), day(3, 31, 16)}
	at, value := gpuframe.Col("at"), gpuframe.Col("value")
	month := gpuframe.By().OrderBy(at.Asc()).Range(gpuframe.Every(-1, "month"), 0)
	show(gpuframe.From(gpu, readings).Select(at.Cast(arrow.FixedWidthTypes.Date32), value, value.Sum().Over(month).As("month")))
	// Output:
	// at,value,month
	// 2026-01-28,1,1
	// 2026-01-31,2,3
	// 2026-02-28,4,7
	// 2026-03-28,8,12
	// 2026-03-31,16,28
}

// A mean in which the weight of older values halves each day. The rows need no order.
func ExampleExpr_ExponentialMeanBy() {
	gpu := hostEngine()
	defer gpu.Close()
	at, value := gpuframe.Col("at"), gpuframe.Col("value")
	show(gpuframe.From(gpu, exampleReadings()).
		Select(at.FormatTime("%d %H:%M").As("at"), value, value.ExponentialMeanBy(at, 24*time.Hour).Mul(1000).Round().Div(1000).As("mean")))
	// Output:
	// at,value,mean
	// 27 09:00,2,2
	// 28 22:30,4,3.323
	// 28 23:30,8,3.456
	// 29 21:30,16,9.355
	// 30 08:00,32,15.279
}
