package gpuframe_test

import (
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

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// reading is a row: a user, a second, and a value that may be missing.
type reading struct {
	user   string
	second int64
	value  *float64
}

// readings are random rows in no order. A user has no two rows in a second.
func readings(g *arraytest.Generator, n int) (rows []reading) {
	taken := map[string]bool{}
	for range n {
		r := reading{user: []string{"ada", "bob", "cy"}[g.IntN(3)], second: int64(g.IntN(400)) - 100}
		if key := fmt.Sprint(r.user, r.second); taken[key] {
			continue
		} else {
			taken[key] = true
		}
		if g.IntN(3) > 0 {
			x := float64(g.IntN(100))
			r.value = &x
		}
		rows = append(rows, r)
	}
	return rows
}

func readingsRecord(t *testing.T, rows []reading) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "user", Type: arrow.BinaryTypes.String}, {Name: "ts", Type: &arrow.TimestampType{Unit: arrow.Second}},
		{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "row", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i, r := range rows {
		b.Field(0).(*array.StringBuilder).Append(r.user)
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(r.second))
		if r.value == nil {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Float64Builder).Append(*r.value)
		}
		b.Field(3).(*array.Int64Builder).Append(int64(i))
	}
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return record
}

// byUser calls visit for the rows of each user in the order of time.
func byUser(rows []reading, visit func(places []int)) {
	for _, user := range []string{"ada", "bob", "cy"} {
		var places []int
		for i, r := range rows {
			if r.user == user {
				places = append(places, i)
			}
		}
		slices.SortFunc(places, func(a, b int) int { return int(rows[a].second - rows[b].second) })
		visit(places)
	}
}

func number(x *float64) string {
	if x == nil {
		return "(null)"
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

// timelineModel computes the functions of the test for each row.
func timelineModel(rows []reading) map[string][]string {
	want := map[string][]string{}
	for _, name := range []string{"forward", "backward", "by rows", "by time", "session"} {
		want[name] = make([]string, len(rows))
	}
	byUser(rows, func(places []int) {
		session := 0
		for at, row := range places {
			var low, high int
			for low = at; low >= 0 && rows[places[low]].value == nil; low-- {
			}
			for high = at; high < len(places) && rows[places[high]].value == nil; high++ {
			}
			var before, after *float64
			if low >= 0 {
				before = rows[places[low]].value
			}
			if high < len(places) {
				after = rows[places[high]].value
			}
			want["forward"][row], want["backward"][row] = number(before), number(after)
			want["by rows"][row], want["by time"][row] = number(rows[row].value), number(rows[row].value)
			if rows[row].value == nil && before != nil && after != nil {
				first, last := rows[places[low]].second, rows[places[high]].second
				byRows := *before + (*after-*before)*(float64(at-low)/float64(high-low))
				byTime := *before + (*after-*before)*(float64(rows[row].second-first)/float64(last-first))
				want["by rows"][row], want["by time"][row] = number(&byRows), number(&byTime)
			}
			if at == 0 || rows[row].second-rows[places[at-1]].second > 5 {
				session++
			}
			want["session"][row] = fmt.Sprint(session)
		}
	})
	return want
}

// TestTimeline compares functions that fill, interpolate and divide time series with a model.
func TestTimeline(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		g := arraytest.NewGenerator(11)
		user, ts, value := gpuframe.Col("user"), gpuframe.Col("ts"), gpuframe.Col("value")
		for _, n := range []int{1, 20, 150} {
			rows := readings(g, n)
			record := readingsRecord(t, rows)
			q := e.Records(record.Schema(), record)
			w := gpuframe.By(user).OrderBy(ts)
			want := timelineModel(rows)
			for name, of := range map[string]gpuframe.Expr{
				"forward": value.FillForward().Over(w), "backward": value.FillBackward().Over(w),
				"by rows": value.Interpolate().Over(w), "by time": value.InterpolateBy(ts).Over(w),
				"session": ts.Session(5 * time.Second).Over(w),
			} {
				require.Equal(t, want[name], collect(t, q.Select(of.As("x"))), "%s of %d rows", name, n)
			}
		}
	})
}

// TestResample compares windows of time, empty ones among them, with a model.
func TestResample(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		g := arraytest.NewGenerator(12)
		user, ts, value := gpuframe.Col("user"), gpuframe.Col("ts"), gpuframe.Col("value")
		for _, n := range []int{1, 30, 120} {
			rows := readings(g, n)
			record := readingsRecord(t, rows)
			q := e.Records(record.Schema(), record)
			for _, every := range []int64{7, 60, 1000} {
				var want []string
				byUser(rows, func(places []int) {
					if len(places) == 0 {
						return
					}
					window := func(row int) int64 { return int64(math.Floor(float64(rows[row].second) / float64(every))) }
					for w := window(places[0]); w <= window(places[len(places)-1]); w++ {
						count, sum := 0, (*float64)(nil)
						for _, row := range places {
							if window(row) != w {
								continue
							}
							count++
							if x := rows[row].value; x != nil {
								total := *x
								if sum != nil {
									total += *sum
								}
								sum = &total
							}
						}
						begin := time.Unix(w*every, 0).UTC().Format("2006-01-02 15:04:05Z")
						want = append(want, strings.Join([]string{rows[places[0]].user, begin, fmt.Sprint(count), number(sum)}, " "))
					}
				})
				made := q.Resample(ts, time.Duration(every)*time.Second, user).Agg(gpuframe.Count().As("n"), value.Sum().As("sum"))
				require.Equal(t, want, collect(t, made), "windows of %d s of %d rows", every, n)
			}
		}
		record := readingsRecord(t, nil)
		q := e.Records(record.Schema(), record)
		require.Empty(t, collect(t, q.Resample(ts, time.Minute).Agg(gpuframe.Count().As("n"))))
	})
}

// TestStrata samples a number and a fraction of the rows of each user.
func TestStrata(t *testing.T) {
	rows := readings(arraytest.NewGenerator(13), 200)
	record := readingsRecord(t, rows)
	counts := map[string]int{}
	for _, r := range rows {
		counts[r.user]++
	}
	by := gpuframe.SampleOptions{Seed: 5, By: []gpuframe.Expression{gpuframe.Col("user")}}
	var first []string
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(record.Schema(), record)
		for name, c := range map[string]struct {
			query gpuframe.Query
			want  func(n int) int
		}{
			"rows":     {q.SampleRows(7, by), func(n int) int { return min(n, 7) }},
			"all":      {q.SampleRows(1000, by), func(n int) int { return n }},
			"fraction": {q.Sample(0.3, by), func(n int) int { return int(0.3*float64(n) + 0.5) }},
			"none":     {q.Sample(0, by), func(int) int { return 0 }},
		} {
			got, last := map[string]int{}, -1
			list := collect(t, c.query.Select(gpuframe.Col("user"), gpuframe.Col("row")))
			for _, line := range list {
				user, at, _ := strings.Cut(line, " ")
				row, err := strconv.Atoi(at)
				require.NoError(t, err)
				require.Greater(t, row, last, "rows keep their order")
				require.Equal(t, rows[row].user, user)
				got[user]++
				last = row
			}
			for user, n := range counts {
				require.Equal(t, c.want(n), got[user], "%s of %s", name, user)
			}
			if name == "rows" {
				if first == nil {
					first = list
				}
				require.Equal(t, first, list, "the same on every device")
			}
		}
		replaced := by
		replaced.Replace = true
		_, err := q.SampleRows(3, replaced).Collect(t.Context())
		require.ErrorIs(t, err, device.ErrInvalidValue)
	})
}

// TestCrossTab counts rows by two columns.
func TestCrossTab(t *testing.T) {
	rows := readings(arraytest.NewGenerator(14), 90)
	record := readingsRecord(t, rows)
	var want []string
	for _, user := range []string{"ada", "bob", "cy"} {
		known, unknown := 0, 0
		for _, r := range rows {
			if r.user == user && r.value != nil {
				known++
			} else if r.user == user {
				unknown++
			}
		}
		want = append(want, fmt.Sprint(user, " ", unknown, " ", known))
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(record.Schema(), record)
		require.Equal(t, want, collect(t, q.CrossTab(gpuframe.Col("user"), gpuframe.Col("value").IsValid(), []any{false, true})))
	})
}

// TestTimelineProblems names what is wrong.
func TestTimelineProblems(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := readingsRecord(t, nil)
	q := e.Records(record.Schema(), record)
	ts, user := gpuframe.Col("ts"), gpuframe.Col("user")
	n := gpuframe.Count().As("n")
	for want, query := range map[string]gpuframe.Query{
		"expected a positive multiple of 1s":          q.Resample(ts, time.Millisecond).Agg(n),
		"expected a positive integer":                 q.Resample(gpuframe.Col("row"), time.Second).Agg(n),
		"expected integers, dates, times, timestamps": q.Resample(user, time.Second).Agg(n),
		"no value is given":                           q.CrossTab(user, ts, nil),
		`no column is called "usr"`:                   q.SampleRows(1, gpuframe.SampleOptions{By: []gpuframe.Expression{gpuframe.Col("usr")}}),
	} {
		_, err := query.Collect(t.Context())
		require.ErrorContains(t, err, want)
	}
}

// TestExtremesOfAnyType has minima and maxima of frames of strings, booleans and decimals, and
// lists of sequences.
func TestExtremesOfAnyType(t *testing.T) {
	decimals := &arrow.Decimal128Type{Precision: 20, Scale: 1}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "d", Type: decimals, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[
		{"s": "b", "b": true, "d": "2.5", "n": 2}, {"s": null, "b": null, "d": null, "n": null}, {"s": "aa", "b": false, "d": "-1.0", "n": 0}, {"s": "c", "b": true, "d": "9.9", "n": -3}
	]`))
	require.NoError(t, err)
	defer record.Release()
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(schema, record)
		w := gpuframe.By().Rows(-1, 0)
		col := gpuframe.Col
		require.Equal(t, []string{"b true 2.5", "b true 2.5", "aa false -1", "aa false -1"},
			collect(t, q.Select(col("s").Min().Over(w).As("s"), col("b").Min().Over(w).As("b"), col("d").Min().Over(w).As("d"))))
		require.Equal(t, []string{"b true 2.5", "b true 2.5", "b true 2.5", "c true 9.9"},
			collect(t, q.Select(col("s").CumMax().As("s"), col("b").CumMax().As("b"), col("d").CumMax().As("d"))))
		require.Equal(t, []string{"(null)", "b", "(null)", "aa"}, collect(t, q.Select(col("s").Lag(1))))
		require.Equal(t, []string{"b", "b", "aa", "c"}, collect(t, q.Select(col("s").FillForward())))
		require.Equal(t, []string{"0", "1", "(null)", "(null)", "(null)"}, collect(t, q.Select(col("n").Sequence().As("i")).Explode("i")))
	})
}
