package window_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// moved is a time with an interval added, by package time: an instant in a zone.
func moved(at time.Time, by window.Interval) time.Time {
	first := time.Date(at.Year(), at.Month()+time.Month(by.Months), 1, 0, 0, 0, 0, time.UTC)
	day := min(at.Day(), first.AddDate(0, 1, -1).Day())
	clock := time.Date(first.Year(), first.Month(), day+by.Days, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), at.Location())
	return clock.Add(by.Duration)
}

// calendarTimes are times of a year around the ends of months and the changes of Oslo's clocks, without the hours that a
// clock lacks or has twice.
func calendarTimes(random *rand.Rand, n int, zone *time.Location) []time.Time {
	list := make([]time.Time, n)
	for i := range list {
		list[i] = time.Date(2023+random.IntN(2), time.Month(1+random.IntN(12)), 27+random.IntN(6), 4+random.IntN(20), 0, 0, 0, zone)
	}
	return list
}

func TestRangesOfCalendars(t *testing.T) {
	oslo, err := time.LoadLocation("Europe/Oslo")
	require.NoError(t, err)
	types := []struct {
		of   arrow.DataType
		zone *time.Location
		add  window.Interval // in all offsets
	}{
		{arrow.FixedWidthTypes.Date32, time.UTC, window.Interval{}},
		{arrow.FixedWidthTypes.Date64, time.UTC, window.Interval{}},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, time.UTC, window.Interval{Duration: time.Hour}},
		{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, time.UTC, window.Interval{}},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Europe/Oslo"}, oslo, window.Interval{Duration: -2 * time.Hour}},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, oslo, window.Interval{Zone: "Europe/Oslo"}},
	}
	offsets := [][2]window.Interval{
		{{Months: -1}, {}}, {{Months: -2, Days: 3}, {Days: -1}}, {{Days: -1}, {Days: 1}}, {{}, {Months: 12}}, {{Months: 1}, {Months: -1}},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := rand.New(rand.NewPCG(7, 1))
		for _, c := range types {
			for _, descending := range []bool{false, true} {
				times := calendarTimes(random, 90, c.zone)
				record := timesOf(c.of, times, random)
				for _, o := range offsets {
					for i := range o {
						o[i].Zone, o[i].Duration = c.add.Zone, c.add.Duration
					}
					requireCalendar(t, mgr, record, c.zone, descending, o[0], o[1])
				}
				record.Release()
			}
		}
	})
}

// timesOf is a table of times, some of which are null, in three partitions.
func timesOf(of arrow.DataType, times []time.Time, random *rand.Rand) arrow.Record {
	keys := array.NewBuilder(arrowalloc.DefaultAllocator, of)
	parts := array.NewInt32Builder(arrowalloc.DefaultAllocator)
	defer keys.Release()
	defer parts.Release()
	for i, at := range times {
		parts.Append(int32(random.IntN(3)))
		if random.IntN(8) == 0 {
			keys.AppendNull()
			continue
		}
		switch b := keys.(type) {
		case *array.Date32Builder:
			b.Append(arrow.Date32FromTime(at))
		case *array.Date64Builder:
			b.Append(arrow.Date64(at.Truncate(24 * time.Hour).UnixMilli()))
		case *array.TimestampBuilder:
			stamp, err := arrow.TimestampFromTime(at, of.(*arrow.TimestampType).Unit)
			if err != nil {
				panic(err)
			}
			b.Append(stamp)
		}
		times[i] = at
	}
	fields := []arrow.Field{{Name: "p", Type: arrow.PrimitiveTypes.Int32}, {Name: "at", Type: of, Nullable: true}}
	columns := []arrow.Array{parts.NewArray(), keys.NewArray()}
	record := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(len(times)))
	for _, c := range columns {
		c.Release()
	}
	return record
}

// requireCalendar compares the numbers of rows in frames with those that package time gives.
func requireCalendar(t *testing.T, mgr *memory.Manager, record arrow.Record, zone *time.Location, descending bool, low, high window.Interval) {
	t.Helper()
	ctx := context.Background()
	parts, keys := record.Column(0).(*array.Int32), record.Column(1)
	instant := func(row int) time.Time {
		switch a := keys.(type) {
		case *array.Date32:
			return a.Value(row).ToTime()
		case *array.Date64:
			return a.Value(row).ToTime()
		}
		return keys.(*array.Timestamp).Value(row).ToTime(keys.DataType().(*arrow.TimestampType).Unit).In(zone)
	}
	want := make([]int64, record.NumRows())
	for row := range want {
		for other := range want {
			if parts.Value(row) != parts.Value(other) || keys.IsNull(row) != keys.IsNull(other) {
				continue
			}
			if keys.IsNull(row) {
				want[row]++
				continue
			}
			from, to, at := moved(instant(row), low), moved(instant(row), high), instant(other)
			if descending {
				from, to = moved(instant(row), backwards(high)), moved(instant(row), backwards(low))
			}
			if !at.Before(from) && !at.After(to) {
				want[row]++
			}
		}
	}
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	windows := window.Windows{PartitionBy: []order.Key{{Column: "p"}}, OrderBy: []order.Key{{Expr: expr.Col("at"), Descending: descending}}}
	columns, err := window.Over(ctx, table, windows, []window.Function{window.CountAll().Range(low, high)})
	require.NoError(t, err)
	counts, err := columns[0].Array(ctx)
	require.NoError(t, err)
	defer counts.Release()
	require.NoError(t, columns[0].Release())
	got := slices.Clone(counts.(*array.Int64).Int64Values())
	require.Equal(t, want, got, fmt.Sprint(keys.DataType(), " ", descending, " ", low, " to ", high))
}

func backwards(i window.Interval) window.Interval {
	i.Months, i.Days, i.Duration = -i.Months, -i.Days, -i.Duration
	return i
}

// TestBoundsBeyondTypes has bounds that nanoseconds of 64 bits do not hold.
func TestBoundsBeyondTypes(t *testing.T) {
	nanoseconds := &arrow.TimestampType{Unit: arrow.Nanosecond}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := rand.New(rand.NewPCG(7, 2))
		record := timesOf(nanoseconds, calendarTimes(random, 40, time.UTC), random)
		defer record.Release()
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		ages := 12 * 400
		for _, descending := range []bool{false, true} {
			windows := window.Windows{OrderBy: []order.Key{{Column: "at", Descending: descending}}}
			columns, err := window.Over(context.Background(), table, windows, []window.Function{
				window.CountAll().Range(window.Interval{Months: -ages}, window.Interval{Months: ages}),
				window.CountAll().Range(window.Interval{Months: ages}, nil),
				window.CountAll().Range(nil, window.Interval{Months: -ages}),
			})
			require.NoError(t, err)
			nulls := int64(record.Column(1).NullN())
			values := int64(40) - nulls
			for i, want := range [][2]int64{{values, nulls}, {nulls, nulls}, {0, 40}} {
				counts, err := columns[i].Array(context.Background())
				require.NoError(t, err)
				for row := range 40 {
					direction := 0
					if record.Column(1).IsNull(row) {
						direction = 1
					}
					require.Equal(t, want[direction], counts.(*array.Int64).Value(row), "frame %d, descending %v", i, descending)
				}
				counts.Release()
				require.NoError(t, columns[i].Release())
			}
		}
	})
}

func TestIntervalsThatDoNotFit(t *testing.T) {
	date, stamp := arrow.FixedWidthTypes.Date32, arrow.DataType(&arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Oslo"})
	for _, c := range []struct {
		of   arrow.DataType
		low  window.Interval
		text string
	}{
		{arrow.PrimitiveTypes.Int64, window.Interval{Months: -1}, "the offset -1 months of a range of int64, expected a number: months and days are of dates and timestamps"},
		{arrow.FixedWidthTypes.Time32s, window.Interval{Days: 1}, "of a range of time32[s], expected a number"},
		{date, window.Interval{Months: 1, Zone: "Europe/Oslo"}, "the offset 1 months in Europe/Oslo of a range of date32: dates are the same in all time zones, leave out the zone"},
		{date, window.Interval{Months: 1, Duration: time.Hour}, "the offset 1 months 1h0m0s of a range of date32, expected a multiple of 24h0m0s"},
		{date, window.Interval{Days: 60_000}, "expected at most 50000 days"},
		{date, window.Interval{Months: math.MaxInt32}, "expected at most 1073741824 months and days"},
		{stamp, window.Interval{Days: -1, Duration: time.Millisecond}, "expected a multiple of 1s"},
		{stamp, window.Interval{Days: -1, Zone: "Mars/Olympus"}, "the offset -1 days in Mars/Olympus of a range of"},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "at", Type: c.of}}, nil)
		_, err := window.CountAll().Range(c.low, nil).Type(schema, window.Windows{OrderBy: []order.Key{{Column: "at"}}})
		require.ErrorContains(t, err, c.text)
	}
	require.Equal(t, "0s", window.Interval{}.String())
}
