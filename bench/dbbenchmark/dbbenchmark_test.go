package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

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
		for i, d := range []data{{rows: 1000, k: 10, seed: 1}, {rows: 1000, k: 5, nulls: 5, seed: 2}, {rows: 600, k: 2, nulls: 5, sorted: true, seed: 3}} {
			if testing.Short() && devicetest.Emulated(dev) {
				if i != 1 {
					continue
				}
				d.rows = 300
			}
			record := d.generate()
			x, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			for _, q := range questions {
				t.Run(fmt.Sprintf("%+v/%s", d, q.name), func(t *testing.T) {
					answer, err := q.answer(t.Context(), x)
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
	d := data{rows: 20_000, k: 100, nulls: 5, sorted: true, seed: 4}
	record := d.generate()
	defer record.Release()
	again := d.generate()
	defer again.Release()
	require.True(t, array.RecordEqual(record, again), "the same seed makes the same table")
	for i, want := range []int{100, 100, 200, 100, 100, 200} {
		distinct, _ := columntest.Distinct(columntest.Texts(record.Column(i)))
		require.InDelta(t, want, len(distinct), float64(want)/5, "id%d", 1+i)
	}
	for i := ids; i < int(record.NumCols()); i++ {
		require.InDelta(t, 0.05, float64(record.Column(i).NullN())/20_000, 0.01)
	}
	texts := slices.DeleteFunc(columntest.Texts(record.Column(0)), func(text string) bool { return text == columntest.Null })
	require.True(t, slices.IsSorted(texts))
	require.Len(t, texts[0], len("id001"))
}

// compareAnswer compares an answer with the model, group by group.
func compareAnswer(t *testing.T, q question, x, answer arrow.Record) {
	t.Helper()
	rows := map[string][]int{}
	keys := textsOf(x, q.keys)
	for row, key := range keys {
		if q.name == "q8" && x.Column(8).IsNull(row) {
			continue
		}
		rows[key] = append(rows[key], row)
	}
	require.EqualValues(t, len(rows), answer.NumRows())
	for i, key := range textsOf(answer, q.keys) {
		want := model(q.name, x, rows[key])
		for j, value := range want {
			c := answer.Column(len(q.keys) + j)
			require.NotNil(t, rows[key], "%s: %s", q.name, key)
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
				require.True(t, got != got, "%s: %s of %s is %v", q.name, answer.ColumnName(len(q.keys)+j), key, got)
				continue
			}
			require.InDelta(t, expected, got, 1e-9*max(1, math.Abs(expected)), "%s: %s of %s", q.name, answer.ColumnName(len(q.keys)+j), key)
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
