package expr_test

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed testdata/businessdays.txt
var numpyAnswers string

// businessCase is a day, a number of business days, the day that they move it to, another day,
// the business days since that one, and whether the day is one.
type businessCase struct {
	day, moved, other time.Time
	n, since          int64
	is                bool
}

// numpyCases returns the lists of holidays of the answers, and the cases of each.
func numpyCases(t *testing.T) (holidays [][]time.Time, cases [][]businessCase) {
	date := func(text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		require.NoError(t, err)
		return at
	}
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err)
		return n
	}
	for line := range strings.Lines(numpyAnswers) {
		fields := strings.Fields(line)
		switch fields[0] {
		case "#":
		case "holidays":
			var list []time.Time
			for _, day := range fields[1:] {
				list = append(list, date(day))
			}
			holidays, cases = append(holidays, list), append(cases, nil)
		default:
			cases[len(cases)-1] = append(cases[len(cases)-1], businessCase{day: date(fields[0]), n: number(fields[1]), moved: date(fields[2]),
				other: date(fields[3]), since: number(fields[4]), is: fields[5] == "true"})
		}
	}
	return holidays, cases
}

// businessColumns are columns a and b of a type for days and other days, and c with numbers.
func businessColumns(of arrow.DataType, cases []businessCase) []arrow.Array {
	stored := func(day func(c businessCase) time.Time) arrow.Array {
		b := array.NewBuilder(arrowmemory.DefaultAllocator, of)
		for _, c := range cases {
			switch b := b.(type) {
			case *array.Date32Builder:
				b.Append(arrow.Date32FromTime(day(c)))
			case *array.TimestampBuilder:
				b.Append(arrow.Timestamp(day(c).Unix() + 86_399)) // the last second of the day
			}
		}
		return b.NewArray()
	}
	n := array.NewInt64Builder(arrowmemory.DefaultAllocator)
	for _, c := range cases {
		n.Append(c.n)
	}
	return []arrow.Array{stored(func(c businessCase) time.Time { return c.day }), stored(func(c businessCase) time.Time { return c.other }), n.NewArray()}
}

// checkBusinessDays compares the three functions with cases.
func checkBusinessDays(t require.TestingT, mgr *memory.Manager, holidays []time.Time, cases []businessCase) {
	for _, of := range []arrow.DataType{date32, stamp(second, "")} {
		arrays := businessColumns(of, cases)
		table, err := buffer.FromRecord(mgr, array.NewRecord(schemaOf(of, of, arrow.PrimitiveTypes.Int64), arrays, int64(len(cases))))
		require.NoError(t, err)
		made, err := expr.Evaluate(ctx, table, []expr.Expr{
			a.AddBusinessDays(expr.Col("c"), holidays...).DaysSince(a), a.BusinessDaysSince(b, holidays...), a.IsBusinessDay(holidays...)})
		require.NoError(t, err)
		var got []arrow.Array
		for _, c := range made {
			values, err := c.Array(ctx)
			require.NoError(t, err)
			got = append(got, values)
			require.NoError(t, c.Release())
		}
		require.NoError(t, table.Release())
		for i, c := range cases {
			text := fmt.Sprintf("%v of %s and %s with %d holidays", of, c.day.Format(time.DateOnly), c.other.Format(time.DateOnly), len(holidays))
			require.Equal(t, (c.moved.Unix()-c.day.Unix())/86_400, got[0].(*array.Int64).Value(i), "%d business days after %s", c.n, text)
			require.Equal(t, c.since, got[1].(*array.Int64).Value(i), text)
			require.Equal(t, c.is, got[2].(*array.Boolean).Value(i), text)
		}
	}
}

// TestHolidaysAreNumpys compares business days with those of numpy, for lists of holidays that
// fuse and longer ones.
func TestHolidaysAreNumpys(t *testing.T) {
	holidays, cases := numpyCases(t)
	require.NotEmpty(t, cases)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, list := range holidays {
			checkBusinessDays(t, mgr, list, cases[i])
		}
	})
}

// TestRandomHolidays compares business days with a model that looks at one day after the other.
// The order of holidays, and their times of the day, have no effect.
func TestRandomHolidays(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(t *rapid.T) {
			first := time.Date(rapid.IntRange(1, 9000).Draw(t, "year"), 12, 20, 0, 0, 0, 0, time.UTC)
			day := func(name string) time.Time { return first.AddDate(0, 0, rapid.IntRange(0, 90).Draw(t, name)) }
			isHoliday := map[time.Time]bool{}
			var holidays []time.Time
			for range rapid.SampledFrom([]int{0, 1, 5, 40, 300}).Draw(t, "holidays") {
				at := day("holiday")
				isHoliday[at] = true
				zone := time.FixedZone("", 3600*rapid.IntRange(-12, 14).Draw(t, "zone"))
				holidays = append(holidays, time.Date(at.Year(), at.Month(), at.Day(), rapid.IntRange(0, 23).Draw(t, "hour"), 0, 0, 0, zone))
			}
			is := func(at time.Time) bool { return isBusiness(at) && !isHoliday[at] }
			var cases []businessCase
			for range rapid.IntRange(1, 20).Draw(t, "rows") {
				c := businessCase{day: day("day"), other: day("other"), n: int64(rapid.IntRange(-30, 30).Draw(t, "n"))}
				c.moved, c.is = c.day, is(c.day)
				step := 1
				if c.n < 0 {
					step = -1
				}
				for left := c.n; left != 0; {
					if c.moved = c.moved.AddDate(0, 0, step); is(c.moved) {
						left -= int64(step)
					}
				}
				for at := c.other; at.Before(c.day); at = at.AddDate(0, 0, 1) {
					if is(at) {
						c.since++
					}
				}
				for at := c.day; at.Before(c.other); at = at.AddDate(0, 0, 1) {
					if is(at) {
						c.since--
					}
				}
				cases = append(cases, c)
			}
			checkBusinessDays(t, mgr, holidays, cases)
		})
	})
}

// TestHolidaysOfNulls: nulls stay null, and so do numbers of days that no time is moved by. A
// sum of them that wraps around could be a time again.
func TestHolidaysOfNulls(t *testing.T) {
	holiday := time.Date(2024, 2, 28, 0, 0, 0, 0, time.UTC)
	many := slices.Repeat([]time.Time{holiday}, 3)
	for i := range 300 {
		many = append(many, holiday.AddDate(1, 0, i*9))
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		n := fmt.Sprintf("[1, null, 1, %d, %d]", int64(math.MaxInt64), int64(math.MinInt64))
		table := tableOf(t, mgr, fromJSON(t, stamp(second, ""), `["2024-02-27 10:00:00", "2024-02-27", null, "2024-02-27", "2024-02-27"]`),
			fromJSON(t, date32, `["2024-02-29", null, "2024-02-29", "2024-02-29", "2024-02-27"]`), fromJSON(t, arrow.PrimitiveTypes.Int64, n))
		for _, holidays := range [][]time.Time{{holiday}, many, nil} {
			made, err := expr.Evaluate(ctx, table, []expr.Expr{a.AddBusinessDays(expr.Col("c"), holidays...), b.AddBusinessDays(expr.Col("c"), holidays...),
				b.BusinessDaysSince(a, holidays...), b.IsBusinessDay(holidays...)})
			require.NoError(t, err)
			moved, since := `["2024-02-29 10:00:00" (null) (null) (null) (null)]`, "[1 (null) (null) 1 0]"
			if holidays == nil {
				moved, since = `["2024-02-28 10:00:00" (null) (null) (null) (null)]`, "[2 (null) (null) 2 0]"
			}
			first := arrayOf(t, made[0])
			require.Equal(t, moved, fmt.Sprintf("[%q (null) (null) (null) (null)]", first.(*array.Timestamp).Value(0).ToTime(second).Format(time.DateTime)))
			require.Equal(t, 4, first.NullN())
			require.Equal(t, 3, arrayOf(t, made[1]).NullN())
			require.Equal(t, since, arrayOf(t, made[2]).String())
			require.Equal(t, "[true (null) true true true]", arrayOf(t, made[3]).String())
			for _, c := range made {
				require.NoError(t, c.Release())
			}
		}
	})
}

// TestManyHolidays: lists that fuse have no steps, and longer ones have. More than the limit is
// an error.
func TestManyHolidays(t *testing.T) {
	schema := schemaOf(date32, date32)
	days := func(n int) (list []time.Time) {
		for i := range n {
			list = append(list, time.Date(1950, 1, 2+i/5*7+i%5, 0, 0, 0, 0, time.UTC))
		}
		return list
	}
	for n, steps := range map[int]bool{0: false, 1: false, 256: false, 257: true, 20_000: true} {
		bound, err := expr.Bind(schema, a.BusinessDaysSince(b, days(n)...), a.AddBusinessDays(expr.Lit(3), days(n)...), a.IsBusinessDay(days(n)...))
		require.NoError(t, err)
		require.Equal(t, steps, (*exprtree.Bound)(bound).HasSteps(), "%d holidays", n)
	}
	_, err := expr.Bind(schema, a.IsBusinessDay(days(20_001)...))
	require.ErrorIs(t, err, expr.ErrLiteral)
	require.ErrorContains(t, err, "20001 holidays, expected at most 20000")
	require.False(t, a.IsBusinessDay(days(4)...).Same(a.IsBusinessDay(days(5)...)))
	require.True(t, a.IsBusinessDay(days(5)...).Same(a.IsBusinessDay(days(5)...)))
}
