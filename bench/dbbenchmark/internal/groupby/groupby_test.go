package groupby_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/groupby"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestAnswers compares the answers with those of a plain model.
func TestAnswers(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, d := range []groupby.Data{{Rows: 1000, K: 10, Seed: 1}, {Rows: 1000, K: 5, Nulls: 5, Seed: 2}, {Rows: 600, K: 2, Nulls: 5, Sorted: true, Seed: 3}} {
			if testing.Short() && devicetest.Emulated(dev) {
				if i != 1 {
					continue
				}
				d.Rows = 300
			}
			record := d.Generate()
			x, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			for _, q := range groupby.Questions {
				t.Run(fmt.Sprintf("%+v/%s", d, q.Name), func(t *testing.T) {
					answer, err := q.Answer(t.Context(), x)
					require.NoError(t, err)
					compareAnswer(t, q, record, columntest.Fetch(t, answer))
				})
			}
			require.NoError(t, x.Release())
			record.Release()
		}
	})
}

// TestRules checks the distributions of the data.
func TestRules(t *testing.T) {
	d := groupby.Data{Rows: 20_000, K: 100, Nulls: 5, Sorted: true, Seed: 4}
	record := d.Generate()
	defer record.Release()
	again := d.Generate()
	defer again.Release()
	require.True(t, array.RecordEqual(record, again), "the same seed makes the same table")
	for i, want := range []int{100, 100, 200, 100, 100, 200} {
		distinct, _ := columntest.Distinct(columntest.Texts(record.Column(i)))
		require.InDelta(t, want, len(distinct), float64(want)/5, "id%d", 1+i)
	}
	for i := 6; i < int(record.NumCols()); i++ {
		require.InDelta(t, 0.05, float64(record.Column(i).NullN())/20_000, 0.01)
	}
	texts := slices.DeleteFunc(columntest.Texts(record.Column(0)), func(text string) bool { return text == columntest.Null })
	require.True(t, slices.IsSorted(texts))
	require.Len(t, texts[0], len("id001"))
}

// compareAnswer compares an answer with the model, group by group.
func compareAnswer(t *testing.T, q groupby.Question, x, answer arrow.Record) {
	t.Helper()
	rows := map[string][]int{}
	keys := textsOf(x, q.Keys)
	for row, key := range keys {
		if q.Name == "q8" && x.Column(8).IsNull(row) {
			continue
		}
		rows[key] = append(rows[key], row)
	}
	require.EqualValues(t, len(rows), answer.NumRows())
	for i, key := range textsOf(answer, q.Keys) {
		want := model(q.Name, x, rows[key])
		for j, value := range want {
			c := answer.Column(len(q.Keys) + j)
			require.NotNil(t, rows[key], "%s: %s", q.Name, key)
			if list, ok := c.(*array.List); ok {
				begin, end := list.ValueOffsets(i)
				require.Equal(t, value, list.ListValues().(*array.Float64).Float64Values()[begin:end])
				continue
			}
			got := math.NaN()
			if c.IsValid(i) {
				got = columntest.Number(c, i)
			}
			expected := value.(float64)
			if expected != expected {
				require.True(t, got != got, "%s: %s of %s is %v", q.Name, answer.ColumnName(len(q.Keys)+j), key, got)
				continue
			}
			require.InDelta(t, expected, got, 1e-9*max(1, math.Abs(expected)), "%s: %s of %s", q.Name, answer.ColumnName(len(q.Keys)+j), key)
		}
	}
}

// textsOf returns a text for the keys of each row.
func textsOf(record arrow.Record, names []string) []string {
	texts := make([]string, record.NumRows())
	for _, name := range names {
		for row, text := range columntest.Texts(record.Column(record.Schema().FieldIndices(name)[0])) {
			texts[row] += strings.ReplaceAll(text, "|", "") + "|"
		}
	}
	return texts
}

// model answers a question for the rows of a group.
func model(question string, x arrow.Record, rows []int) []any {
	values := func(column int) (found []float64) {
		for _, row := range rows {
			if c := x.Column(column); c.IsValid(row) {
				found = append(found, columntest.Number(c, row))
			}
		}
		return found
	}
	const one, two, three = 6, 7, 8
	switch question {
	case "q1", "q2":
		return []any{sum(values(one))}
	case "q3":
		return []any{sum(values(one)), mean(values(three))}
	case "q4":
		return []any{mean(values(one)), mean(values(two)), mean(values(three))}
	case "q5":
		return []any{sum(values(one)), sum(values(two)), sum(values(three))}
	case "q6":
		return []any{medianOf(values(three)), deviation(values(three))}
	case "q7":
		if len(values(one)) == 0 || len(values(two)) == 0 {
			return []any{math.NaN()}
		}
		return []any{slices.Max(values(one)) - slices.Min(values(two))}
	case "q8":
		sorted := slices.Sorted(slices.Values(values(three)))
		slices.Reverse(sorted)
		return []any{sorted[:min(2, len(sorted))]}
	case "q9":
		return []any{squaredCorrelation(x, rows)}
	}
	return []any{sum(values(three)), float64(len(rows))}
}

func sum(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

func mean(values []float64) float64 { return sum(values) / float64(len(values)) }

func medianOf(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

func deviation(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	squares, m := 0.0, mean(values)
	for _, v := range values {
		squares += (v - m) * (v - m)
	}
	return math.Sqrt(squares / float64(len(values)-1))
}

func squaredCorrelation(x arrow.Record, rows []int) float64 {
	var a, b []float64
	for _, row := range rows {
		if x.Column(6).IsValid(row) && x.Column(7).IsValid(row) {
			a, b = append(a, columntest.Number(x.Column(6), row)), append(b, columntest.Number(x.Column(7), row))
		}
	}
	var ab, aa, bb float64
	ma, mb := mean(a), mean(b)
	for i := range a {
		ab, aa, bb = ab+(a[i]-ma)*(b[i]-mb), aa+(a[i]-ma)*(a[i]-ma), bb+(b[i]-mb)*(b[i]-mb)
	}
	if len(a) < 2 || aa == 0 || bb == 0 {
		return math.NaN()
	}
	return ab * ab / (aa * bb)
}
