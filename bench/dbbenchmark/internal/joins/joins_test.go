package joins_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/joins"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// TestAnswers compares every row of the answers with a plain model.
func TestAnswers(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, d := range []joins.Data{{Rows: 20_000, Seed: 1}, {Rows: 2000, Nulls: 5, Seed: 2}, {Rows: 600, Nulls: 20, Sorted: true, Seed: 3}} {
			if devicetest.Emulated(dev) {
				if testing.Short() && i != 1 {
					continue
				}
				d.Rows = 300
			}
			tables := d.Generate()
			loaded, err := tables.Load(mgr)
			require.NoError(t, err)
			for _, q := range joins.Questions {
				t.Run(fmt.Sprintf("%+v/%s", d, q.Name), func(t *testing.T) {
					answer, err := q.Answer(t.Context(), loaded)
					require.NoError(t, err)
					defer func() { require.NoError(t, answer.Release()) }()
					record, err := answer.Record(t.Context())
					require.NoError(t, err)
					defer record.Release()
					want := model(q, tables)
					require.Equal(t, want, rowsOf(record))
					require.NotEmpty(t, want)
					checks, err := joins.Checks(t.Context(), answer)
					require.NoError(t, err)
					require.EqualValues(t, len(want), checks[0])
					require.EqualValues(t, record.Column(0).Len()-record.Column(0).NullN(), checks[1])
				})
			}
			require.NoError(t, loaded.Release())
			tables.Release()
		}
	})
}

// model joins by a map of the texts of keys, in the order of x.
func model(q joins.Question, tables joins.Tables) (rows []string) {
	x, right := tables["x"], tables[q.Right]
	places := map[string][]int{}
	for row, key := range textsOf(right, q.Key) {
		places[key] = append(places[key], row)
	}
	left, others := rowsOf(x), make([]string, right.NumRows())
	for _, name := range q.Columns {
		for row, text := range textsOf(right, name) {
			others[row] += text + "|"
		}
	}
	for row, key := range textsOf(x, q.Key) {
		found := places[key]
		if key == columntest.Null {
			found = nil
		}
		for _, place := range found {
			rows = append(rows, left[row]+others[place])
		}
		if len(found) == 0 && q.Kind == join.Left {
			missing := left[row]
			for range q.Columns {
				missing += columntest.Null + "|"
			}
			rows = append(rows, missing)
		}
	}
	return rows
}

func textsOf(record arrow.Record, name string) []string {
	return columntest.Texts(record.Column(record.Schema().FieldIndices(name)[0]))
}

func rowsOf(record arrow.Record) []string {
	rows := make([]string, record.NumRows())
	for _, c := range record.Columns() {
		for row, text := range columntest.Texts(c) {
			rows[row] += text + "|"
		}
	}
	return rows
}

// TestRules checks the sizes of the tables and the shares of their keys.
func TestRules(t *testing.T) {
	const n = 30_000
	d := joins.Data{Rows: n, Seed: 4}
	tables, again := d.Generate(), d.Generate()
	defer tables.Release()
	defer again.Release()
	for i, name := range joins.Names {
		require.True(t, array.RecordEqual(tables[name], again[name]), "the same seed makes the same %s", name)
		require.EqualValues(t, []int{n, 10, n / 1000, n}[i], tables[name].NumRows())
	}
	for name, column := range map[string]string{"small": "id1", "medium": "id2", "big": "id3"} {
		left, _ := columntest.Distinct(textsOf(tables["x"], column))
		right, counts := columntest.Distinct(textsOf(tables[name], column))
		require.Len(t, right, int(tables[name].NumRows()), "%s occurs once in %s", column, name)
		require.Len(t, left, len(right), column)
		common := 0
		for _, key := range left {
			common += int(counts[key])
		}
		require.Equal(t, len(right)*9/10, common, "nine tenths of the keys of %s are on both sides", name)
	}
	for row, text := range textsOf(tables["big"], "id6") {
		require.Equal(t, "id"+textsOf(tables["big"], "id3")[row], text)
		if row == 9 {
			break
		}
	}
	withNulls := joins.Data{Rows: n, Nulls: 5, Sorted: true, Seed: 5}.Generate()
	defer withNulls.Release()
	for _, column := range []string{"id3", "id6", "v1"} {
		c := withNulls["x"].Column(withNulls["x"].Schema().FieldIndices(column)[0])
		require.InDelta(t, 0.05, float64(c.NullN())/n, 0.01, column)
	}
	first := withNulls["x"].Column(0).(*array.Int32)
	last := int32(0)
	for row := range n {
		if first.IsValid(row) {
			require.GreaterOrEqual(t, first.Value(row), last)
			last = first.Value(row)
		}
	}
}
