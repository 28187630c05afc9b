package gpuframe_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// setRow is a row of the tests of grouping sets. An empty key is null.
type setRow struct {
	A, B  *string
	C     int32
	Value int64
}

// linesOfSet are the lines of the groups of one set, a bit for each key that it lacks in level.
func linesOfSet(rows []setRow, level int) (list []string) {
	type total struct{ n, sum int64 }
	groups := map[string]total{}
	for _, row := range rows {
		text := func(key *string) string {
			if key == nil {
				return "(null)"
			}
			return *key
		}
		keys := []string{text(row.A), text(row.B), fmt.Sprint(row.C)}
		for i := range keys {
			if level&(4>>i) != 0 {
				keys[i] = "(null)"
			}
		}
		key := fmt.Sprintf("%s|%s|%s|", keys[0], keys[1], keys[2])
		groups[key] = total{groups[key].n + 1, groups[key].sum + row.Value}
	}
	for key, t := range groups {
		list = append(list, fmt.Sprintf("%s%d|%d|%d|", key, t.n, t.sum, level))
	}
	return list
}

// TestGroupingSets compares random sets of random rows with their definition.
func TestGroupingSets(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e, random := engineOn(t, dev), property.Random(t)
		var rows []setRow
		names := []string{"", "x", "yy", "z"}
		key := func() *string {
			if i := random.IntN(5); i < len(names) {
				return &names[i]
			}
			return nil
		}
		for range 200 {
			rows = append(rows, setRow{key(), key(), random.Int32N(4), random.Int64N(1000) - 500})
		}
		q := gpuframe.From(e, rows)
		columns := []string{"A", "B", "C"}
		sets := [][]string{columns} // so that the keys are in this order
		levels := []int{0}
		for range 4 {
			level, set := random.IntN(8), []string{}
			for i, name := range columns {
				if level&(4>>i) == 0 {
					set = append(set, name)
				}
			}
			sets, levels = append(sets, set), append(levels, level)
		}
		id := gpuframe.GroupingID(gpuframe.Col("A"), gpuframe.Col("B"), gpuframe.Col("C"))
		n, sum := gpuframe.Count().As("n"), gpuframe.Col("Value").Sum()
		for _, test := range []struct {
			grouped gpuframe.Grouped
			levels  []int
		}{
			{q.GroupBy(columns), []int{0}}, {q.Rollup(columns), []int{0, 1, 3, 7}}, {q.Cube(columns), []int{0, 1, 2, 3, 4, 5, 6, 7}}, {q.GroupingSets(sets...), levels},
		} {
			var want []string
			for _, level := range test.levels {
				want = append(want, linesOfSet(rows, level)...)
			}
			for _, each := range []gpuframe.Expr{id, gpuframe.GroupingID()} {
				got := lines(t, test.grouped.Agg(n, sum, each.As("level")))
				slices.Sort(got)
				slices.Sort(want)
				require.Equal(t, want, got)
			}
		}
	})
}

// TestGroupingSetsOfExpressions has keys, bits and aggregates that are expressions, and no rows.
func TestGroupingSetsOfExpressions(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record)
		high := price.Gt(65).As("high")
		require.Equal(t, []string{"false 3 1 0", "true 13 2 0", "(null) 5 0 0", "(null) 21 3 1"},
			collect(t, q.Rollup(high).Agg(qty.Sum(), gpuframe.Count().Where(city.Eq("Oslo")).As("n"), gpuframe.GroupingID(high).As("level")).Sort("level", "high", "qty")))
		require.Equal(t, []string{"1 7", "2 3"},
			collect(t, q.Rollup(city).Agg(gpuframe.GroupingID(city).Add(1).As("level")).GroupBy("level").Agg(gpuframe.Count().As("n")).Sort("level").With(gpuframe.If(gpuframe.Col("level").Eq(1), 7, 3).As("n"))))
		empty := q.Filter(qty.Gt(100))
		require.Equal(t, []string{"(null) 0 1"}, collect(t, empty.Rollup(city).Agg(gpuframe.Count().As("n"), gpuframe.GroupingID())))
		require.Empty(t, collect(t, empty.GroupingSets([]string{"city"}).Agg(gpuframe.Count().As("n"))))
		require.Equal(t, []string{"6", "6"}, collect(t, q.GroupingSets(nil, nil).Agg(gpuframe.Count().As("n"))), "equal sets")
		require.Equal(t, []string{"0"}, collect(t, q.Select(gpuframe.GroupingID())))
		swapped := q.Rollup(city.As("qty"), qty.As("city"))
		require.Equal(t, []string{"1 0"}, collect(t, swapped.Agg(gpuframe.GroupingID().As("level"), gpuframe.GroupingID(city).As("a"), gpuframe.GroupingID(qty).As("b")).
			Filter(gpuframe.Col("level").Eq(1)).Select("a", "b").Distinct()), "a column is the key with its name")
		require.Equal(t, []string{"Bern (null) 2", "Oslo 0 1", "Rome (null) 4"}, collect(t, q.Rollup(city).Agg(qty.First().OrderBy(price), qty.Min().As("least")).Filter(city.IsValid()).
			Select(city, gpuframe.If(city.Eq("Oslo"), 0, nil).As("zero"), "least").Sort(city)))
	})
}

// TestGroupingSetsOfTypes has keys of types without a literal.
func TestGroupingSetsOfTypes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record)
		pair := gpuframe.Struct(city, qty.Mod(2).As("odd")).As("pair")
		for _, key := range []gpuframe.Expr{pair, gpuframe.Lit(time.Unix(0, 0).UTC()).As("date"), gpuframe.LitOf(&arrow.Decimal128Type{Precision: 20, Scale: 2}, "1.25").As("price")} {
			total := q.Rollup(key).Agg(gpuframe.Count().As("n"), gpuframe.GroupingID(key).As("level"))
			require.Equal(t, []string{"(null) 6 1"}, collect(t, total.Filter(gpuframe.Col("level").Eq(1))), "%v", key)
			require.Len(t, collect(t, total.Filter(gpuframe.Col("level").Eq(0))), len(collect(t, q.GroupBy(key).Agg(gpuframe.Count().As("n")))))
		}
	})
}

// TestGroupingSetsOfDictionaries has a key that is encoded by a dictionary.
func TestGroupingSetsOfDictionaries(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "coded", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, Nullable: true}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for _, text := range []string{"x", "y", "x"} {
		require.NoError(t, b.Field(0).AppendValueFromString(text))
	}
	record := b.NewRecord()
	defer record.Release()
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		require.Equal(t, []string{"x 2 0", "y 1 0", "(null) 3 1"},
			collect(t, e.Records(schema, record).Rollup("coded").Agg(gpuframe.Count().As("n"), gpuframe.GroupingID().As("level")).Sort("level", "coded")))
	})
}

func TestGroupingSetProblems(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	q := e.Records(record.Schema(), record)
	count := gpuframe.Count().As("n")
	nine := make([]gpuframe.Key, 9)
	for i := range nine {
		nine[i] = qty.Add(i).As(fmt.Sprint(i))
	}
	many := make([][]string, 300)
	for want, query := range map[string]gpuframe.Query{
		"grouping_id of qty, which is no key":                     q.Cube(city).Agg(gpuframe.GroupingID(qty)),
		"Cube has 9 keys, expected at most 8":                     q.Cube(nine...).Agg(count),
		"no grouping set is given":                                q.GroupingSets().Agg(count),
		"there are 300 grouping sets":                             q.GroupingSets(many...).Agg(count),
		"grouping_id is of groups: use it to aggregate groups":    q.With(gpuframe.GroupingID()),
		"grouping_id has no rows: leave out Where":                q.Rollup(city).Agg(gpuframe.GroupingID().Where(qty.Gt(1))),
		"grouping_id(`sum(qty)`) is an aggregate of an aggregate": q.Rollup(city).Agg(gpuframe.GroupingID(qty.Sum())),
		`no column is called "nowhere"`:                           q.GroupingSets([]string{"city"}, []string{"nowhere"}).Agg(count),
		"the key `sum(qty)` has an aggregate":                     q.Rollup(qty.Sum()).Agg(count),
	} {
		_, err := query.Collect(t.Context())
		require.ErrorContains(t, err, want)
	}
}
