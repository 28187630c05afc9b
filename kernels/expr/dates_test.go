package expr_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// clamped is t.AddDate(0, months, 0) with the last day of the month instead of a day of
// the next one.
func clamped(t time.Time, months int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

func isBusiness(at time.Time) bool {
	return at.Weekday() != time.Saturday && at.Weekday() != time.Sunday
}

// floorTo counts steps from an origin. Differences of some centuries exceed a Duration.
func floorTo(at time.Time, step time.Duration, origin time.Time) time.Time {
	seconds, every := at.Unix()-origin.Unix(), int64(step/time.Second)
	rest := (seconds%every + every) % every
	return time.Unix(at.Unix()-rest, 0).UTC()
}

func ceilTo(at time.Time, step time.Duration, origin time.Time) time.Time {
	if floor := floorTo(at, step, origin); !floor.Equal(at) {
		return floor.Add(step)
	}
	return at
}

func nearest(at, floor time.Time, step time.Duration) time.Time {
	if 2*at.Sub(floor) >= step {
		return floor.Add(step)
	}
	return floor
}

// monthsBetween counts months one by one.
func monthsBetween(from, to time.Time) int64 {
	if to.Before(from) {
		return -monthsForward(to, from)
	}
	return monthsForward(from, to)
}

// monthsForward counts the months whose end, the same day and time of a later month, is not
// after a time.
func monthsForward(from, to time.Time) (n int64) {
	reached := func(n int) bool {
		month := func(t time.Time) int { return t.Year()*12 + int(t.Month()) }
		within := func(t time.Time) time.Duration { return t.Sub(time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)) }
		left := month(to) - month(from) - n
		return left > 0 || left == 0 && within(to) >= within(from)
	}
	for reached(int(n) + 1) {
		n++
	}
	return n
}

// TestDatesAreGos compares the calendar with package time.
func TestDatesAreGos(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var instants []time.Time
	for i := range 300 {
		at := time.Date(1600+r.IntN(900), time.Month(1+r.IntN(12)), 1+r.IntN(31), r.IntN(24), r.IntN(60), r.IntN(60), 0, time.UTC)
		if i%3 == 0 { // ends of months
			at = time.Date(at.Year(), at.Month()+1, 0, 23, 59, 59, 0, time.UTC)
		}
		instants = append(instants, at)
	}
	months, days := array.NewInt32Builder(arrowmemory.DefaultAllocator), array.NewDate32Builder(arrowmemory.DefaultAllocator)
	seconds := array.NewTimestampBuilder(arrowmemory.DefaultAllocator, &arrow.TimestampType{Unit: second})
	for i, at := range instants {
		months.Append(int32(i*7%60 - 30))
		days.Append(arrow.Date32FromTime(at))
		seconds.Append(arrow.Timestamp(at.Unix()))
	}
	arrays := []arrow.Array{days.NewArray(), seconds.NewArray(), months.NewArray()}
	day := func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }
	monday := func(t time.Time) time.Time { return day(t).AddDate(0, 0, -int(t.Weekday()+6)%7) }
	date := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	c := expr.Col("c") // a: date32, b: timestamp, c: months
	cases := []struct {
		e    expr.Expr
		want func(at time.Time, months int) any
	}{
		{a.AddMonths(c), func(at time.Time, n int) any { return clamped(day(at), n) }},
		{b.AddMonths(c), func(at time.Time, n int) any { return clamped(at, n) }},
		{a.AddMonths(expr.Lit(-3)), func(at time.Time, _ int) any { return clamped(day(at), -3) }},
		{b.AddYears(expr.Lit(1)), func(at time.Time, _ int) any { return clamped(at, 12) }},
		{a.AddDays(c), func(at time.Time, n int) any { return day(at).AddDate(0, 0, n) }},
		{b.AddDays(expr.Lit(90)), func(at time.Time, _ int) any { return at.AddDate(0, 0, 90) }},
		{a.Truncate("year"), func(at time.Time, _ int) any { return date(at.Year(), 1, 1) }},
		{b.Truncate("quarter"), func(at time.Time, _ int) any { return date(at.Year(), (at.Month()-1)/3*3+1, 1) }},
		{b.Truncate("month"), func(at time.Time, _ int) any { return date(at.Year(), at.Month(), 1) }},
		{a.Truncate("week"), func(at time.Time, _ int) any { return monday(at) }},
		{b.Truncate("week"), func(at time.Time, _ int) any { return monday(at) }},
		{b.Truncate("day"), func(at time.Time, _ int) any { return day(at) }},
		{a.Truncate("hour"), func(at time.Time, _ int) any { return day(at) }},
		{b.Truncate("hour"), func(at time.Time, _ int) any { return at.Truncate(time.Hour) }},
		{b.Truncate("minute"), func(at time.Time, _ int) any { return at.Truncate(time.Minute) }},
		{b.DaysSince(a.AddMonths(expr.Lit(1))), func(at time.Time, _ int) any {
			return (day(at).Unix() - clamped(day(at), 1).Unix()) / 86_400
		}},
		{b.FloorTo(15, "minute"), func(at time.Time, _ int) any { return floorTo(at, 15*time.Minute, date(1970, 1, 1)) }},
		{b.CeilTo(1, "hour"), func(at time.Time, _ int) any { return ceilTo(at, time.Hour, date(1970, 1, 1)) }},
		{b.CeilTo(90, "second"), func(at time.Time, _ int) any { return ceilTo(at, 90*time.Second, date(1970, 1, 1)) }},
		{b.RoundTo(7, "second"), func(at time.Time, _ int) any {
			return nearest(at, floorTo(at, 7*time.Second, date(1970, 1, 1)), 7*time.Second)
		}},
		{b.RoundTo(1, "minute"), func(at time.Time, _ int) any { return nearest(at, at.Truncate(time.Minute), time.Minute) }},
		{a.FloorTo(2, "week"), func(at time.Time, _ int) any { return floorTo(day(at), 14*24*time.Hour, date(1970, 1, 5)) }},
		{b.CeilTo(3, "week"), func(at time.Time, _ int) any { return ceilTo(at, 21*24*time.Hour, date(1970, 1, 5)) }},
		{a.FloorTo(10, "day"), func(at time.Time, _ int) any { return floorTo(day(at), 240*time.Hour, date(1970, 1, 1)) }},
		{a.FloorTo(10, "year"), func(at time.Time, _ int) any { return date(at.Year()/10*10, 1, 1) }},
		{b.CeilTo(4, "month"), func(at time.Time, _ int) any {
			floor := date(at.Year(), (at.Month()-1)/4*4+1, 1)
			if floor.Equal(at) {
				return floor
			}
			return floor.AddDate(0, 4, 0)
		}},
		{a.RoundTo(1, "month"), func(at time.Time, _ int) any {
			floor := date(at.Year(), at.Month(), 1)
			if next := floor.AddDate(0, 1, 0); next.Sub(day(at)) <= day(at).Sub(floor) {
				return next
			}
			return floor
		}},
		{a.RoundTo(5, "hour"), func(at time.Time, _ int) any { return day(at) }},
		{b.ISOYear(), func(at time.Time, _ int) any { year, _ := at.ISOWeek(); return int64(year) }},
		{a.ISOWeek(), func(at time.Time, _ int) any { _, week := at.ISOWeek(); return int64(week) }},
		{b.IsLeapYear(), func(at time.Time, _ int) any { return date(at.Year(), 2, 29).Month() == time.February }},
		{a.DaysInMonth(), func(at time.Time, _ int) any { return int64(date(at.Year(), at.Month()+1, 0).Day()) }},
		{b.MonthsSince(b.AddDays(c)), func(at time.Time, n int) any { return monthsBetween(at.AddDate(0, 0, n), at) }},
		{a.AddDays(c.Mul(expr.Lit(13))).MonthsSince(b), func(at time.Time, n int) any { return monthsBetween(at, day(at).AddDate(0, 0, 13*n)) }},
		{a.AddDays(c.Mul(expr.Lit(50))).YearsSince(a), func(at time.Time, n int) any {
			return monthsBetween(day(at), day(at).AddDate(0, 0, 50*n)) / 12
		}},
		{a.AddDays(c).BusinessDaysSince(b), func(at time.Time, n int) any {
			from, to, sign := day(at), day(at).AddDate(0, 0, n), int64(1)
			if n < 0 {
				from, to, sign = to, from, -1
			}
			count := int64(0)
			for ; from.Before(to); from = from.AddDate(0, 0, 1) {
				if isBusiness(from) {
					count += sign
				}
			}
			return count
		}},
		{b.AddBusinessDays(c), func(at time.Time, n int) any {
			for ; n > 0; n-- {
				for at = at.AddDate(0, 0, 1); !isBusiness(at); at = at.AddDate(0, 0, 1) {
				}
			}
			for ; n < 0; n++ {
				for at = at.AddDate(0, 0, -1); !isBusiness(at); at = at.AddDate(0, 0, -1) {
				}
			}
			return at
		}},
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, arrays...)
		for _, c := range cases {
			got, err := expr.Evaluate(ctx, table, []expr.Expr{c.e})
			require.NoError(t, err)
			cells := arrayOf(t, got[0])
			for i, at := range instants {
				want := c.want(at, i*7%60-30)
				if at, ok := want.(time.Time); ok {
					if want = at.Unix(); cells.DataType().ID() == arrow.DATE32 {
						want = at.Unix() / 86_400
						if at.Unix()%86_400 < 0 {
							t.Fatal("no whole day")
						}
					}
				}
				require.Equal(t, want, exprtest.Cell(cells, i), "%v of %v", c.e, at)
			}
			require.NoError(t, got[0].Release())
		}
	})
}

// TestRoundingIsRefused has the errors of multiples.
func TestRoundingIsRefused(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, fromJSON(t, date32, `["2024-02-28"]`), fromJSON(t, stamp(second, ""), `["2024-02-29 12:00:00"]`))
		for want, e := range map[string]expr.Expr{
			"a multiple of 0 days, it has to be 1 to 10000":    a.FloorTo(0, "day"),
			"a multiple of 10001 days":                         a.CeilTo(10_001, "day"),
			"a multiple of 5 months, they have to divide":      b.RoundTo(5, "month"),
			"a multiple of 15 months":                          b.RoundTo(5, "quarter"),
			"36 hours are no whole number of the units":        a.FloorTo(36, "hour"),
			`no unit is called "fortnight": there are year, q`: b.CeilTo(1, "fortnight"),
		} {
			_, err := expr.Evaluate(ctx, table, []expr.Expr{e})
			require.ErrorIs(t, err, expr.ErrLiteral)
			require.ErrorContains(t, err, want)
		}
	})
}

// TestTimesCompareExactly compares columns with times that their types do not hold.
func TestTimesCompareExactly(t *testing.T) {
	seconds := fromJSON(t, stamp(second, ""), `["2024-02-29 12:00:00", "2024-02-29 12:00:01", null, "9999-01-01 00:00:00", "0001-01-01 00:00:00"]`)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, fromJSON(t, date32, `["2024-02-28", "2024-02-29", null, "9999-01-01", "0001-01-01"]`), seconds,
			fromJSON(t, stamp(arrow.Nanosecond, "UTC"), `["2024-02-28", "2024-02-29", null, "2200-01-01", "1700-01-01"]`))
		noon := expr.Lit(time.Date(2024, 2, 28, 12, 0, 0, 0, time.UTC))
		between := expr.Lit(time.Date(2024, 2, 29, 12, 0, 0, 500, time.UTC))
		far, past := expr.Lit(time.Date(5000, 1, 1, 0, 0, 0, 0, time.UTC)), expr.Lit(time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC))
		c := expr.Col("c")
		for _, test := range []struct {
			e    expr.Expr
			want string
		}{
			{a.Lt(noon), "[true false (null) false true]"},
			{a.Ge(noon), "[false true (null) true false]"},
			{noon.Gt(a), "[true false (null) false true]"},
			{a.Eq(noon), "[false false (null) false false]"},
			{a.Ne(noon), "[true true (null) true true]"},
			{b.Le(between), "[true false (null) false true]"},
			{b.Gt(between), "[false true (null) true false]"},
			{b.Lt(far), "[true true (null) false true]"},
			{c.Lt(far), "[true true (null) true true]"},
			{c.Gt(far), "[false false (null) false false]"},
			{c.Gt(past), "[true true (null) true true]"},
			{past.Ge(c), "[false false (null) false false]"},
			{a.In(time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), time.Date(2024, 2, 28, 0, 0, 0, 1, time.UTC)), "[false true (null) false false]"},
		} {
			got, err := expr.Evaluate(ctx, table, []expr.Expr{test.e})
			require.NoError(t, err)
			require.Equal(t, test.want, arrayOf(t, got[0]).String(), "%v", test.e)
			require.NoError(t, got[0].Release())
		}
	})
}
