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
