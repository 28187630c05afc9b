package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/answer"
	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
)

var (
	timeTables = flag.Int("time-tables", 60, "the number of random tables of times that TestTimes compares")
	firstTimes = flag.Int("first-times", 0, "the seed of the first of them")
)

// timeExpression is an expression of both. Its SQL has the type of its kind.
type timeExpression struct {
	of  gpuframe.Expr
	sql string
}

// timeGenerator draws expressions of times. DuckDB has timestamps in microseconds; gpuframe has
// those of the generator's unit.
type timeGenerator struct {
	*rand.Rand
	unit arrow.TimeUnit
}

func draw[T any](g *timeGenerator, list ...T) T { return list[g.IntN(len(list))] }

// instant draws a time between the years 100 and 9800, often near the ends of months and 1970.
func (g *timeGenerator) instant() time.Time {
	at := time.Date(100+g.IntN(9700), time.Month(1+g.IntN(12)), 1+g.IntN(31), g.IntN(24), g.IntN(60), g.IntN(60), g.IntN(1e6)*1000, time.UTC)
	switch g.IntN(6) {
	case 0: // the ends of months, of leap years too
		at = time.Date(draw(g, 1900, 1999, 2000, 2023, 2024), time.Month(1+g.IntN(12)), 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(g.IntN(3)) * time.Microsecond)
	case 1:
		at = time.UnixMicro(int64(g.IntN(2_000_001) - 1_000_000))
	case 2:
		at = time.Unix(int64(g.IntN(2_000_000_000)), 0)
	}
	return at.UTC().Truncate(g.unit.Multiplier())
}

// microseconds is a gpuframe timestamp as the number that DuckDB's epoch_us gives.
func microseconds(e gpuframe.Expr) gpuframe.Expr {
	return e.Cast(&arrow.TimestampType{Unit: arrow.Microsecond}).Cast(arrow.PrimitiveTypes.Int64)
}

// number draws an integer of a row.
func (g *timeGenerator) number(depth int) timeExpression {
	if g.IntN(3) == 0 {
		return timeExpression{gpuframe.Col("n"), "n"}
	}
	if depth == 0 || g.IntN(2) == 0 {
		n := g.IntN(81) - 40
		return timeExpression{gpuframe.LitOf(arrow.PrimitiveTypes.Int64, int64(n)), fmt.Sprintf("cast(%d as bigint)", n)}
	}
	x := g.integer(depth - 1)
	return timeExpression{x.of.Mod(40), "(" + x.sql + ") % 40"}
}

// integer draws a part of a time, or a distance of two.
func (g *timeGenerator) integer(depth int) timeExpression {
	x := g.anyTime(depth)
	part := func(of gpuframe.Expr, format string) timeExpression {
		return timeExpression{of, fmt.Sprintf(format, x.sql)}
	}
	switch g.IntN(17) {
	case 0:
		return part(x.of.Year(), "year(%s)")
	case 1:
		return part(x.of.Quarter(), "quarter(%s)")
	case 2:
		return part(x.of.Month(), "month(%s)")
	case 3:
		return part(x.of.Day(), "day(%s)")
	case 4:
		return part(x.of.DayOfYear(), "dayofyear(%s)")
	case 5:
		return part(x.of.Weekday(), "isodow(%s) - 1")
	case 6:
		return part(x.of.ISOYear(), "isoyear(%s)")
	case 7:
		return part(x.of.ISOWeek(), "week(%s)")
	case 8:
		return part(x.of.DaysInMonth(), "day(last_day(%s))")
	case 9:
		return part(gpuframe.If(x.of.IsLeapYear(), 366, 365), "dayofyear(make_date(year(%s), 12, 31))")
	case 10:
		x = g.timestamp(depth)
		return part(x.of.Hour(), "hour(%s)")
	case 11:
		x = g.timestamp(depth)
		return part(x.of.Minute(), "minute(%s)")
	case 12:
		x = g.timestamp(depth)
		return part(x.of.Second(), "second(%s)")
	case 13:
		y := g.anyTime(depth)
		return timeExpression{x.of.DaysSince(y.of), fmt.Sprintf("date_diff('day', %s, %s)", y.sql, x.sql)}
	case 14: // DuckDB counts a month to the last day of a shorter one as whole
		x, y := g.timestamp(depth), g.timestamp(depth)
		early := x.of.Day().Le(28).And(y.of.Day().Le(28))
		name, whole := "month", x.of.MonthsSince(y.of)
		if g.IntN(2) == 0 {
			name, whole = "year", x.of.YearsSince(y.of)
		}
		return timeExpression{gpuframe.If(early.FillNull(false), whole, -1),
			fmt.Sprintf("case when day(%s) <= 28 and day(%s) <= 28 then date_sub('%s', %s, %s) else -1 end", x.sql, y.sql, name, y.sql, x.sql)}
	case 15:
		x, y := g.timestamp(depth), g.timestamp(depth)
		name, total := draw(g, "day", "hour", "minute", "second"), map[string]func(gpuframe.Expr) gpuframe.Expr{
			"day": gpuframe.Expr.TotalDays, "hour": gpuframe.Expr.TotalHours, "minute": gpuframe.Expr.TotalMinutes, "second": gpuframe.Expr.TotalSeconds}
		return timeExpression{total[name](x.of.Sub(y.of)), fmt.Sprintf("date_sub('%s', %s, %s)", name, y.sql, x.sql)}
	}
	x, n := g.date(depth), g.number(0)
	y := timeExpression{x.of.AddDays(n.of), fmt.Sprintf("(%s + cast(%s as integer))", x.sql, n.sql)}
	const between = "len(list_filter(range(%s::timestamp, %s::timestamp, interval 1 day), lambda d: isodow(d) < 6))"
	return timeExpression{y.of.BusinessDaysSince(x.of), fmt.Sprintf("case when %s >= 0 then "+between+" else -"+between+" end", n.sql, x.sql, y.sql, y.sql, x.sql)}
}

// anyTime draws a date or a timestamp.
func (g *timeGenerator) anyTime(depth int) timeExpression {
	if g.IntN(3) == 0 {
		return g.date(depth)
	}
	return g.timestamp(depth)
}

// multiple draws a number of units, with the time from which DuckDB counts its multiples.
func (g *timeGenerator) multiple(least time.Duration) (number int, unit, origin string) {
	units := []struct {
		name    string
		length  time.Duration
		numbers []int
		origin  string
	}{
		{"microsecond", time.Microsecond, []int{1, 3, 250, 10_000}, "1970-01-01"}, {"millisecond", time.Millisecond, []int{1, 7, 500}, "1970-01-01"},
		{"second", time.Second, []int{1, 7, 30, 10_000}, "1970-01-01"}, {"minute", time.Minute, []int{1, 15, 7, 90}, "1970-01-01"},
		{"hour", time.Hour, []int{1, 5, 12, 36}, "1970-01-01"}, {"day", 24 * time.Hour, []int{1, 2, 9, 100}, "1970-01-01"},
		{"week", 7 * 24 * time.Hour, []int{1, 2, 5}, "1970-01-05"}, {"month", 28 * 24 * time.Hour, []int{1, 2, 3, 4, 6, 12, 24}, "2000-01-01"},
		{"quarter", 28 * 24 * time.Hour, []int{1, 2, 4, 8}, "2000-01-01"}, {"year", 365 * 24 * time.Hour, []int{1, 2, 5, 10, 100}, "2000-01-01"},
	}
	for {
		if u := draw(g, units...); u.length >= least {
			return draw(g, u.numbers...), u.name, u.origin
		}
	}
}

// interval is a number of units in SQL.
func interval(number int, unit string) string {
	if unit == "quarter" {
		number, unit = 3*number, "month"
	}
	return fmt.Sprintf("interval (%d) %s", number, unit)
}

// rounded draws a multiple of units near a time, of a type in SQL.
func (g *timeGenerator) rounded(x timeExpression, least time.Duration, sqlType string) timeExpression {
	if g.IntN(4) == 0 {
		_, unit, _ := g.multiple(least)
		return timeExpression{x.of.Truncate(unit), fmt.Sprintf("cast(date_trunc('%s', %s) as %s)", unit, x.sql, sqlType)}
	}
	number, unit, origin := g.multiple(least)
	every := interval(number, unit)
	floor := fmt.Sprintf("time_bucket(%s, %s, %s '%s')", every, x.sql, sqlType, origin)
	next := fmt.Sprintf("cast(%s + %s as %s)", floor, every, sqlType)
	switch g.IntN(3) {
	case 0:
		return timeExpression{x.of.FloorTo(number, unit), floor}
	case 1:
		return timeExpression{x.of.CeilTo(number, unit), fmt.Sprintf("case when %s = %s then %[1]s else %[3]s end", x.sql, floor, next)}
	}
	return timeExpression{x.of.RoundTo(number, unit), fmt.Sprintf("case when %s - %s < %s - %[1]s then %[2]s else %[3]s end", x.sql, floor, next)}
}

// moved draws a time that is moved by months, years or days. DuckDB keeps the time of the day.
func (g *timeGenerator) moved(x timeExpression, depth int, sqlType string) timeExpression {
	n := g.number(depth)
	in := func(name string) string {
		return fmt.Sprintf("cast(%s + %s(cast(%s as integer)) as %s)", x.sql, name, n.sql, sqlType)
	}
	switch g.IntN(3) {
	case 0:
		return timeExpression{x.of.AddMonths(n.of), in("to_months")}
	case 1:
		return timeExpression{x.of.AddYears(n.of), in("to_years")}
	}
	return timeExpression{x.of.AddDays(n.of), in("to_days")}
}

// timestamp draws a timestamp of the generator's unit.
func (g *timeGenerator) timestamp(depth int) timeExpression {
	stamp := &arrow.TimestampType{Unit: g.unit}
	if depth == 0 {
		name := draw(g, "t", "u")
		return timeExpression{gpuframe.Col(name), name}
	}
	depth--
	switch g.IntN(7) {
	case 0:
		x := g.date(depth)
		return timeExpression{x.of.Cast(stamp), fmt.Sprintf("cast(%s as timestamp)", x.sql)}
	case 1, 2:
		return g.rounded(g.timestamp(depth), g.unit.Multiplier(), "timestamp")
	case 3:
		x, n := g.timestamp(depth), g.number(depth)
		units := draw(g, int64(1), 1001, 86_399, 86_401)
		span := n.of.Mul(units).Cast(&arrow.DurationType{Unit: g.unit})
		inMicroseconds := units * int64(g.unit.Multiplier()/time.Microsecond)
		return timeExpression{x.of.Add(span), fmt.Sprintf("(%s + to_microseconds(%s * %d))", x.sql, n.sql, inMicroseconds)}
	case 4: // a range in which both have the same transitions
		zone := draw(g, "Europe/Oslo", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns")
		x := g.timestamp(depth)
		return timeExpression{gpuframe.If(x.of.Year().Between(1975, 2025), x.of.LocalTime(zone), x.of),
			fmt.Sprintf("case when year(%s) between 1975 and 2025 then timezone('%s', %[1]s at time zone 'UTC') else %[1]s end", x.sql, zone)}
	case 5:
		x := g.date(depth)
		texts := draw(g, [2]string{"%Y-%m-%d 07:08:09", "%Y-%m-%d %H:%M:%S"}, [2]string{"11 PM %j, %Y", "%I %p %j, %Y"},
			[2]string{"%a %d %b %Y", "%a %d %b %Y"}, [2]string{"%m%d%Y235959", "%m%d%Y%H%M%S"})
		return timeExpression{x.of.FormatTime(texts[0]).ParseTime(texts[1], stamp),
			fmt.Sprintf("case when year(%s) between 0 and 9999 then try_strptime(strftime(%[1]s, '%s'), '%s') end", x.sql, texts[0], texts[1])}
	}
	return g.moved(g.timestamp(depth), depth, "timestamp")
}

// date draws a date32.
func (g *timeGenerator) date(depth int) timeExpression {
	if depth == 0 {
		return timeExpression{gpuframe.Col("d"), "d"}
	}
	depth--
	switch g.IntN(5) {
	case 0:
		x := g.timestamp(depth)
		return timeExpression{x.of.Cast(arrow.FixedWidthTypes.Date32), fmt.Sprintf("cast(%s as date)", x.sql)}
	case 1, 2:
		return g.rounded(g.date(depth), 24*time.Hour, "date")
	case 3:
		n := g.IntN(21) - 10
		x := timeExpression{gpuframe.Col("d"), "d"}
		days := "list_filter(range(d::timestamp + interval (%d) day, d::timestamp + interval (%d) day, interval (%d) day), lambda d: isodow(d) < 6)[%d]::date"
		switch {
		case n > 0:
			x.sql = fmt.Sprintf(days, 1, 2*n+4, 1, n)
		case n < 0:
			x.sql = fmt.Sprintf(days, -1, 2*n-4, -1, -n)
		}
		return timeExpression{x.of.AddBusinessDays(n), x.sql}
	}
	return g.moved(g.date(depth), depth, "date")
}

// text draws a time as text.
func (g *timeGenerator) text(depth int) timeExpression {
	x := g.timestamp(depth)
	var format strings.Builder
	for range 1 + g.IntN(5) {
		format.WriteString(draw(g, "%Y", "%y", "%G", "%V", "%u", "%j", "%m", "%d", "%B", "%b", "%A", "%a", "%H", "%I", "%p", "%M", "%S", "%f", "%%"))
		format.WriteString(draw(g, "", "-", " ", "T", "é", ":"))
	}
	return timeExpression{gpuframe.If(x.of.Year().Between(1, 9998).FillNull(false), x.of, gpuframe.Col("t").Truncate("day")).FormatTime(format.String()),
		fmt.Sprintf("strftime(case when year(%s) between 1 and 9998 then %[1]s else date_trunc('day', t) end, '%s')", x.sql, format.String())}
}

// read draws a time that a text has, which may have numbers that no time has.
func (g *timeGenerator) read() timeExpression {
	parsed := gpuframe.Col("s").ParseTime("%Y-%m-%d %H:%M:%S", arrow.FixedWidthTypes.Timestamp_us)
	return timeExpression{microseconds(parsed), "epoch_us(try_strptime(s, '%Y-%m-%d %H:%M:%S'))"}
}

// table makes a random table as a record, and as SQL values.
func (g *timeGenerator) table(rows int) (arrow.Record, string) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "t", Type: &arrow.TimestampType{Unit: g.unit}, Nullable: true},
		{Name: "u", Type: &arrow.TimestampType{Unit: g.unit}, Nullable: true}, {Name: "d", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	var lines []string
	for id := range rows {
		t := g.instant()
		u := draw(g, g.instant(), t.Add(time.Duration(g.IntN(200)-100)*24*time.Hour).Truncate(g.unit.Multiplier()))
		s := fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d", draw(g, 1, 1900, 2000, 2023, 2024), g.IntN(14), g.IntN(33), g.IntN(25), g.IntN(61), g.IntN(61))
		d, n := g.instant(), g.IntN(81)-40
		texts := []string{strconv.Itoa(id), stampSQL(t), stampSQL(u), "date '" + d.Format(time.DateOnly) + "'", strconv.Itoa(n), "'" + s + "'"}
		b.Field(0).(*array.Int64Builder).Append(int64(id))
		days := d.Unix() / 86_400
		if d.Unix()%86_400 < 0 {
			days--
		}
		unit := int64(time.Second / g.unit.Multiplier())
		inUnits := func(at time.Time) arrow.Timestamp {
			return arrow.Timestamp(at.Unix()*unit + int64(at.Nanosecond())/int64(g.unit.Multiplier()))
		}
		appends := []func(){
			func() { b.Field(1).(*array.TimestampBuilder).Append(inUnits(t)) }, func() { b.Field(2).(*array.TimestampBuilder).Append(inUnits(u)) },
			func() { b.Field(3).(*array.Date32Builder).Append(arrow.Date32(days)) }, func() { b.Field(4).(*array.Int64Builder).Append(int64(n)) },
			func() { b.Field(5).(*array.StringBuilder).Append(s) },
		}
		for i, appendValue := range appends {
			if g.IntN(9) == 0 {
				b.Field(i + 1).AppendNull()
				texts[i+1] = "null"
				continue
			}
			appendValue()
		}
		lines = append(lines, "("+strings.Join(texts, ", ")+")")
	}
	return b.NewRecord(), strings.Join(lines, ",\n")
}

func stampSQL(at time.Time) string {
	return "timestamp '" + at.Format("2006-01-02 15:04:05.000000") + "'"
}

// TestTimes compares random expressions of times with those of DuckDB, for random tables.
func TestTimes(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	p, err := duckdb.Open(0)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	values, nulls := 0, 0
	for seed := *firstTimes; seed < *firstTimes+*timeTables; seed++ {
		g := &timeGenerator{rand.New(rand.NewPCG(uint64(seed), 18)), []arrow.TimeUnit{arrow.Microsecond, arrow.Millisecond, arrow.Second}[seed%3]}
		record, lines := g.table(40)
		require.NoError(t, p.Execute("create or replace table t(id bigint, t timestamp, u timestamp, d date, n bigint, s varchar)"))
		require.NoError(t, p.Execute("insert into t values "+lines))
		made, missing := compareTimes(t, g, e, p, record, seed)
		values, nulls = values+made, nulls+missing
		record.Release()
		require.Zero(t, e.Manager().Stats().InUse)
	}
	t.Logf("%d values and %d nulls are equal", values, nulls)
	require.Greater(t, values, nulls)
}

// compareTimes compares some expressions of one table, and returns the number of values and of
// nulls.
func compareTimes(t *testing.T, g *timeGenerator, e *gpuframe.Engine, p *duckdb.Peer, record arrow.Record, seed int) (values, nulls int) {
	var list []gpuframe.Expression
	var texts []string
	for n := range 12 {
		x, depth := g.read(), 1+g.IntN(3)
		switch n % 4 {
		case 0:
			x = g.timestamp(depth)
			x = timeExpression{microseconds(x.of), "epoch_us(" + x.sql + ")"}
		case 1:
			x = g.date(depth)
			x = timeExpression{x.of.Cast(arrow.PrimitiveTypes.Int32), "(" + x.sql + ") - date '1970-01-01'"}
		case 2:
			x = g.integer(depth)
		case 3:
			if n > 3 {
				x = g.text(depth)
			}
		}
		list = append(list, x.of.As(fmt.Sprint("x", n)))
		texts = append(texts, x.sql)
	}
	frame, err := e.Records(record.Schema(), record).Select(list).Collect(t.Context())
	require.NoError(t, err, "table %d", seed)
	got, err := frame.Record(t.Context())
	require.NoError(t, err)
	defer got.Release()
	require.NoError(t, frame.Release())
	want, err := p.Answer("select " + strings.Join(texts, ", ") + " from t order by id")
	require.NoError(t, err, "table %d\n%s", seed, strings.Join(texts, "\n"))
	require.EqualValues(t, len(want.Rows), got.NumRows())
	for row := range want.Rows {
		for n, text := range want.Rows[row] {
			c := got.Column(n)
			has := answer.Null
			if nulls++; c.IsValid(row) {
				has = c.ValueStr(row)
				values, nulls = values+1, nulls-1
			}
			require.Equal(t, text, has, "table %d, row %d: %v\n%v\n%s", seed, row, record.NewSlice(int64(row), int64(row)+1), list[n], texts[n])
		}
	}
	return values, nulls
}
