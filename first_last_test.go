package gpuframe_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// nullableRow is a row of the tests of First, Last and List. Empty texts are nulls.
type nullableRow struct {
	id   int
	key  int
	text string
	take bool
}

// nullableRows draws rows of which many values are null, in records of different lengths.
func nullableRows(t *testing.T, random *rand.Rand, n, keys int) (rows []nullableRow, records []arrow.Record) {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "key", Type: arrow.PrimitiveTypes.Int32},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "take", Type: arrow.FixedWidthTypes.Boolean},
	}, nil))
	defer b.Release()
	for i := range n {
		row := nullableRow{id: i, key: random.IntN(keys), take: random.IntN(3) > 0}
		text := b.Field(2).(*array.StringBuilder)
		if random.IntN(2) == 0 {
			text.AppendNull()
		} else {
			row.text = fmt.Sprint("t", i)
			text.Append(row.text)
		}
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Int32Builder).Append(int32(row.key))
		b.Field(3).(*array.BooleanBuilder).Append(row.take)
		rows = append(rows, row)
		if i == n-1 || random.IntN(n/5) == 0 {
			records = append(records, b.NewRecord())
			t.Cleanup(records[len(records)-1].Release)
		}
	}
	return rows, records
}

// nullText is a value as tests print it.
func nullText(text string) string {
	if text == "" {
		return "(null)"
	}
	return text
}

// ends is the model: the first value of rows, the last one, and all as a list.
type ends struct{ rows []nullableRow }

func (e ends) first() string {
	if len(e.rows) == 0 {
		return "(null)"
	}
	return nullText(e.rows[0].text)
}

func (e ends) last() string {
	if len(e.rows) == 0 {
		return "(null)"
	}
	return nullText(e.rows[len(e.rows)-1].text)
}

func (e ends) list() string {
	texts := make([]string, len(e.rows))
	for i, row := range e.rows {
		if texts[i] = "null"; row.text != "" {
			texts[i] = fmt.Sprintf("%q", row.text)
		}
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// that returns the rows for which a condition holds.
func (e ends) that(condition func(nullableRow) bool) ends {
	return ends{slices.DeleteFunc(slices.Clone(e.rows), func(row nullableRow) bool { return !condition(row) })}
}

func (e ends) values() ends { return e.that(func(row nullableRow) bool { return row.text != "" }) }
func (e ends) taken() ends  { return e.that(func(row nullableRow) bool { return row.take }) }

// endsOfGroups are aggregates of the column text.
func endsOfGroups() (list []gpuframe.Expression, want func(e ends) string) {
	text, take := gpuframe.Col("text"), gpuframe.Col("take")
	for i, e := range []gpuframe.Expr{
		text.First(), text.Last(), text.List(), text.First().SkipNulls(), text.Last().SkipNulls(), text.List().SkipNulls(),
		text.First().Where(take), text.Last().Where(take), text.List().Where(take), text.First().Where(take).SkipNulls(), text.List().SkipNulls().Where(take),
	} {
		list = append(list, e.As(fmt.Sprint("a", i)))
	}
	return list, func(e ends) string {
		return strings.Join([]string{
			e.first(), e.last(), e.list(), e.values().first(), e.values().last(), e.values().list(),
			e.taken().first(), e.taken().last(), e.taken().list(), e.taken().values().first(), e.taken().values().list(),
		}, "|") + "|"
	}
}

// TestFirstLastListKeepNulls compares groups with a model, of several records, with budgets that
// divide the work, on each device.
func TestFirstLastListKeepNulls(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e, random := engineOn(t, dev), property.Random(t)
		n, keys := 20_000, []int{3, 5_000}
		if dev.Name() != "host" || testing.Short() {
			n, keys = 900, []int{3, 300}
		}
		aggregates, want := endsOfGroups()
		for i, keys := range keys {
			rows, records := nullableRows(t, random, n, keys)
			for _, filtered := range []bool{false, true} {
				if testing.Short() && devicetest.Emulated(dev) && filtered != (i > 0) {
					continue
				}
				q, all := e.Records(nil, records...), ends{rows}
				if filtered { // a condition of most rows becomes one of the aggregates
					q = q.Filter(gpuframe.Col("id").Mod(4).Ne(0))
					all = all.that(func(row nullableRow) bool { return row.id%4 != 0 })
				}
				q = q.GroupBy(gpuframe.Col("key")).Agg(aggregates...).Sort(gpuframe.Col("key"))
				var expected []string
				for key := range keys {
					if group := all.that(func(row nullableRow) bool { return row.key == key }); len(group.rows) > 0 {
						expected = append(expected, fmt.Sprint(key, "|", want(group)))
					}
				}
				require.NoError(t, e.Manager().SetBudget(ample))
				require.Equal(t, expected, lines(t, q))
				needs, err := q.Needs(t.Context())
				require.NoError(t, err)
				for _, budget := range []uint64{needs.Smallest, 2 * needs.Smallest} {
					require.NoError(t, e.Manager().SetBudget(budget))
					got, err := linesOf(t.Context(), q)
					if budget > needs.Smallest || err == nil {
						require.NoError(t, err)
						require.Equal(t, expected, got)
						continue
					}
					require.ErrorIs(t, err, memory.ErrBudget) // the least budget is an estimate
				}
			}
		}
	})
}

// TestFirstLastListOfPartitions compares windows without an order and with one, and frames.
func TestFirstLastListOfPartitions(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows, records := nullableRows(t, property.Random(t), 200, 4)
		text, by := gpuframe.Col("text"), gpuframe.By(gpuframe.Col("key"))
		down := by.OrderBy(gpuframe.Col("id").Desc())
		frame := down.Rows(-2, 1)
		q := e.Records(nil, records...).Select(
			text.First().Over(by).As("a"), text.Last().SkipNulls().Over(by).As("b"), text.List().Over(by).As("c"), text.List().SkipNulls().Over(by).As("d"),
			text.First().Over(down).As("e"), text.First().SkipNulls().Over(down).As("f"), text.Last().Over(frame).As("g"), text.Last().SkipNulls().Over(frame).As("h"),
			text.Nth(2).Over(frame).As("i"), text.Nth(2).SkipNulls().Over(frame).As("j"), text.Lag(1).Over(down).As("k"), text.Lag(1).SkipNulls().Over(down).As("l"),
			text.Lead(2).SkipNulls().Over(down).As("m"), text.FillForward().Over(down).As("n"))
		var want []string
		for _, row := range rows {
			group := ends{rows}.that(func(r nullableRow) bool { return r.key == row.key })
			back := ends{slices.Clone(group.rows)}
			slices.Reverse(back.rows)
			at := slices.Index(back.rows, row)
			framed := ends{back.rows[max(at-2, 0):min(at+2, len(back.rows))]}
			nth := func(e ends, n int) string { return ends{e.rows[min(n, len(e.rows)):]}.first() }
			before, upTo, behind := ends{back.rows[:at]}, ends{back.rows[:at+1]}, ends{back.rows[at+1:]}
			want = append(want, strings.Join([]string{
				group.first(), group.values().last(), group.list(), group.values().list(),
				back.first(), back.values().first(), framed.last(), framed.values().last(),
				nth(framed, 1), nth(framed.values(), 1), before.last(), before.values().last(),
				nth(behind.values(), 1), upTo.values().last(),
			}, "|")+"|")
		}
		require.Equal(t, want, lines(t, q))
	})
}

// TestFirstLastListOfOthers has the other verbs that aggregate.
func TestFirstLastListOfOthers(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows, records := nullableRows(t, property.Random(t), 60, 3)
		q, all := e.Records(nil, records...), ends{rows}
		aggregates, want := endsOfGroups()
		require.Equal(t, []string{want(all)}, lines(t, q.Select(aggregates)))
		require.Equal(t, []string{want(ends{})}, lines(t, q.Filter(gpuframe.Col("id").Lt(0)).Select(aggregates)))

		var windows, pivoted []string
		for begin := 0; begin < 60; begin += 7 {
			windows = append(windows, fmt.Sprint(begin, "|", want(ends{rows[begin:min(begin+7, 60)]})))
		}
		require.Equal(t, windows, lines(t, q.Resample(gpuframe.Col("id"), 7).Agg(aggregates...)))

		for key := range 3 {
			group := all.that(func(row nullableRow) bool { return row.key == key })
			pivoted = append(pivoted, fmt.Sprint(key, "|", group.taken().first(), "|", group.that(func(row nullableRow) bool { return !row.take }).first(), "|"))
		}
		pivot := q.GroupBy(gpuframe.Col("key")).Pivot(gpuframe.Col("take"), []any{true, false}, gpuframe.Col("text").First())
		require.Equal(t, pivoted, lines(t, pivot.Sort(gpuframe.Col("key"))))
	})
}

func TestSkipNullsOfOthers(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	_, records := nullableRows(t, property.Random(t), 10, 3)
	q, id, by := e.Records(nil, records...), gpuframe.Col("id"), gpuframe.By(gpuframe.Col("key"))
	for text, query := range map[string]gpuframe.Query{
		"sum always skips nulls, or has no values: leave out SkipNulls":  q.Select(id.Sum().SkipNulls()),
		"max always skips nulls, or has no values: leave out SkipNulls":  q.With(id.Max().SkipNulls().Over(by.OrderBy(id))),
		"row_number always skips nulls, or has no values: leave out":     q.With(gpuframe.RowNumber().SkipNulls()),
		"Where, SkipNulls and Over apply to aggregates, and id has none": q.Select(id.SkipNulls()),
		"`first(id) over (key)` is a window: call SkipNulls before Over": q.With(id.First().Over(by).SkipNulls()),
	} {
		_, err := query.Collect(t.Context())
		require.ErrorContains(t, err, text)
	}
}
