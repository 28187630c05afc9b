package gpubeam_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"

	gpubeam "github.com/gpuframe/gpuframe/beam"
)

// dbTable makes db-benchmark's table x: ids as strings and integers, values, and nulls.
func dbTable(rows, k int, seed uint64) arrow.Record {
	r := rand.New(rand.NewPCG(seed, 1))
	var fields []arrow.Field
	for i := range 6 {
		of := arrow.DataType(arrow.BinaryTypes.String)
		if i >= 3 {
			of = arrow.PrimitiveTypes.Int32
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprint("id", 1+i), Type: of, Nullable: true})
	}
	for _, name := range []string{"v1", "v2"} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32, Nullable: true})
	}
	fields = append(fields, arrow.Field{Name: "v3", Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for range rows {
		for i := range fields {
			distinct := []int{k, k, rows / k, k, k, rows / k, 5, 15, 0}[i]
			switch to := b.Field(i).(type) {
			case *array.StringBuilder:
				if id := r.IntN(distinct); id == 0 {
					to.AppendNull()
				} else {
					to.Append(fmt.Sprintf("id%03d", id))
				}
			case *array.Int32Builder:
				if id := r.IntN(distinct); id == 0 {
					to.AppendNull()
				} else {
					to.Append(int32(id))
				}
			case *array.Float64Builder:
				if r.IntN(20) == 0 {
					to.AppendNull()
				} else {
					to.Append(math.Round(r.Float64()*100*1e6) / 1e6)
				}
			}
		}
	}
	return b.NewRecord()
}

// call returns an expression of a document.
func call(function string, members string, arguments ...string) string {
	if members != "" {
		members = ", " + members
	}
	return fmt.Sprintf(`{"function": %q%s, "arguments": [%s]}`, function, members, strings.Join(arguments, ", "))
}

func col(name string) string { return fmt.Sprintf(`{"function": "column", "name": %q}`, name) }

func as(name, expression string) string {
	return call("as", fmt.Sprintf(`"name": %q`, name), expression)
}

func cols(names ...string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = col(name)
	}
	return strings.Join(list, ", ")
}

// groupDocument groups by keys, after and before other steps.
func groupDocument(keys []string, aggregates ...string) string {
	return document(`{"verb": "given", "number": 0}`, groupStep(0, keys, aggregates...))
}

func groupStep(input int, keys []string, aggregates ...string) string {
	return fmt.Sprintf(`{"verb": "group", "inputs": [%d], "keys": [%s], "aggregates": [%s]}`, input, cols(keys...), strings.Join(aggregates, ", "))
}

func document(steps ...string) string {
	return `{"version": 1, "steps": [` + strings.Join(steps, ", ") + `]}`
}

// question is one of db-benchmark's group-by questions.
type question struct {
	name, document string
	keys           []string
	// model computes the values after the keys of some rows; floats are compared with a tolerance.
	model func(x arrow.Record, rows []int) []float64
}

func questions() []question {
	v1, v2, v3 := col("v1"), col("v2"), col("v3")
	of := func(c int, f func([]float64) float64) func(arrow.Record, []int) []float64 {
		return func(x arrow.Record, rows []int) []float64 { return []float64{f(values(x, c, rows))} }
	}
	return []question{
		{"q1", groupDocument([]string{"id1"}, call("sum", "", v1)), []string{"id1"}, of(6, sum)},
		{"q2", groupDocument([]string{"id1", "id2"}, call("sum", "", v1)), []string{"id1", "id2"}, of(6, sum)},
		{"q3", groupDocument([]string{"id3"}, call("sum", "", v1), call("mean", "", v3)), []string{"id3"},
			func(x arrow.Record, rows []int) []float64 {
				return []float64{sum(values(x, 6, rows)), mean(values(x, 8, rows))}
			}},
		{"q4", groupDocument([]string{"id4"}, call("mean", "", v1), call("mean", "", v2), call("mean", "", v3)), []string{"id4"},
			func(x arrow.Record, rows []int) []float64 {
				return []float64{mean(values(x, 6, rows)), mean(values(x, 7, rows)), mean(values(x, 8, rows))}
			}},
		{"q5", groupDocument([]string{"id6"}, call("sum", "", v1), call("sum", "", v2), call("sum", "", v3)), []string{"id6"},
			func(x arrow.Record, rows []int) []float64 {
				return []float64{sum(values(x, 6, rows)), sum(values(x, 7, rows)), sum(values(x, 8, rows))}
			}},
		{"q6", groupDocument([]string{"id4", "id5"}, as("median_v3", call("median", "", v3)), as("sd_v3", call("stddev", "", v3))), []string{"id4", "id5"},
			func(x arrow.Record, rows []int) []float64 {
				list := values(x, 8, rows)
				return []float64{median(list), math.Sqrt(covariance(list, list))}
			}},
		{"q7", groupDocument([]string{"id3"}, as("range_v1_v2", call("sub", "", call("max", "", v1), call("min", "", v2)))), []string{"id3"},
			func(x arrow.Record, rows []int) []float64 {
				a, b := values(x, 6, rows), values(x, 7, rows)
				if len(a) == 0 || len(b) == 0 {
					return []float64{math.NaN()}
				}
				return []float64{slices.Max(a) - slices.Min(b)}
			}},
		{"q8", document(`{"verb": "given", "number": 0}`,
			fmt.Sprintf(`{"verb": "filter", "inputs": [0], "conditions": [%s]}`, call("is_valid", "", v3)),
			groupStep(1, []string{"id6"}, as("largest2_v3", call("largest", `"n": 2`, v3)))), []string{"id6"}, nil},
		{"q9", document(`{"verb": "given", "number": 0}`,
			groupStep(0, []string{"id2", "id4"}, as("r", call("correlation", "", v1, v2))),
			fmt.Sprintf(`{"verb": "select", "inputs": [1], "expressions": [%s, %s]}`, cols("id2", "id4"), as("r2", call("mul", "", col("r"), col("r"))))),
			[]string{"id2", "id4"},
			func(x arrow.Record, rows []int) []float64 {
				rows = slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return x.Column(6).IsNull(row) || x.Column(7).IsNull(row) })
				a, b := values(x, 6, rows), values(x, 7, rows)
				r := covariance(a, b) / math.Sqrt(covariance(a, a)*covariance(b, b))
				return []float64{r * r}
			}},
		{"q10", groupDocument([]string{"id1", "id2", "id3", "id4", "id5", "id6"}, call("sum", "", v3), as("count", `{"function": "count_rows"}`)),
			[]string{"id1", "id2", "id3", "id4", "id5", "id6"},
			func(x arrow.Record, rows []int) []float64 {
				return []float64{sum(values(x, 8, rows)), float64(len(rows))}
			}},
		{"conditions and no keys", groupDocument(nil,
			as("a", call("where", "", call("add", "", call("sum", "", v3), call("count", "", v1)), call("gt", "", v2, `{"function": "literal", "value": 7}`))),
			as("b", call("quantile", `"q": 0.25`, v3)), as("c", call("count_distinct", "", col("id1"), col("id4")))), nil,
			func(x arrow.Record, rows []int) []float64 {
				var chosen []int
				distinct := map[string]bool{}
				for _, row := range rows {
					if c := x.Column(7); c.IsValid(row) && c.(*array.Int32).Value(row) > 7 {
						chosen = append(chosen, row)
					}
					if x.Column(0).IsValid(row) && x.Column(3).IsValid(row) {
						distinct[x.Column(0).ValueStr(row)+" "+x.Column(3).ValueStr(row)] = true
					}
				}
				return []float64{sum(values(x, 8, chosen)) + float64(len(values(x, 6, chosen))), quantile(values(x, 8, rows), 0.25), float64(len(distinct))}
			}},
	}
}

// TestGroupByQuestions compares the answers over many bundles with those of one engine, bit for
// bit, and with a plain model.
func TestGroupByQuestions(t *testing.T) {
	x := dbTable(1200, 10, 1)
	for _, q := range questions() {
		t.Run(q.name, func(t *testing.T) {
			made := runPipeline(t, func(s beam.Scope) beam.PCollection {
				answer, err := gpubeam.GroupBy(s, onHost, q.document, source(t, s, "x", split(x, 12)))
				require.NoError(t, err)
				return answer
			})
			require.Equal(t, rowTexts(single(t, q.document, x)), rowTexts(made))
			if q.model != nil {
				compareModel(t, q, x, made)
			}
		})
	}
	closed(t)
}

func compareModel(t *testing.T, q question, x arrow.Record, made []arrow.Record) {
	t.Helper()
	groups := map[string][]int{}
	for row := range int(x.NumRows()) {
		key := keyText(x, q.keys, row)
		groups[key] = append(groups[key], row)
	}
	seen := 0
	for _, r := range made {
		for row := range int(r.NumRows()) {
			seen++
			key := keyText(r, q.keys, row)
			for i, want := range q.model(x, groups[key]) {
				got := values(r, len(q.keys)+i, []int{row})
				if math.IsNaN(want) || math.IsInf(want, 0) {
					require.True(t, len(got) == 0 || math.IsNaN(got[0]), "%s: %v of %s", q.name, got, key)
					continue
				}
				require.Len(t, got, 1, "%s: value %d of %s, expected %v", q.name, i, key, want)
				require.InDelta(t, want, got[0], 1e-9*max(1, math.Abs(want)), "%s: value %d of %s", q.name, i, key)
			}
		}
	}
	require.Equal(t, len(groups), seen)
}

func keyText(r arrow.Record, keys []string, row int) string {
	text := ""
	for _, key := range keys {
		text += valueText(r.Column(r.Schema().FieldIndices(key)[0]), row) + ";"
	}
	return text
}

// values returns the values of a column that are not null.
func values(r arrow.Record, c int, rows []int) (list []float64) {
	for _, row := range rows {
		if r.Column(c).IsNull(row) {
			continue
		}
		switch a := r.Column(c).(type) {
		case *array.Int32:
			list = append(list, float64(a.Value(row)))
		case *array.Int64:
			list = append(list, float64(a.Value(row)))
		case *array.Float64:
			list = append(list, a.Value(row))
		}
	}
	return list
}

// sum is null for no values: the model has NaN for null.
func sum(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}

func mean(list []float64) float64 { return sum(list) / float64(len(list)) }

func median(list []float64) float64 { return quantile(list, 0.5) }

func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	list = slices.Sorted(slices.Values(list))
	at := q * float64(len(list)-1)
	low := int(at)
	high := min(low+1, len(list)-1)
	return list[low] + (at-float64(low))*(list[high]-list[low])
}

func covariance(a, b []float64) float64 {
	if len(a) < 2 {
		return math.NaN()
	}
	ma, mb, total := mean(a), mean(b), 0.0
	for i := range a {
		total += (a[i] - ma) * (b[i] - mb)
	}
	return total / float64(len(a)-1)
}

// TestJoinQuestions compares three joins over many bundles with those of one engine and with a
// plain model.
func TestJoinQuestions(t *testing.T) {
	x, small := dbTable(600, 10, 2), dbTable(40, 4, 3)
	given := `{"verb": "given", "number": 0}, {"verb": "given", "number": 1}`
	narrow := fmt.Sprintf(`{"verb": "select", "inputs": [1], "expressions": [%s, %s]}`, cols("id4", "id1"), as("w", col("v3")))
	for _, c := range []struct {
		name, kind, on string
		key            string
		unmatched      bool
	}{
		{"inner on int", "inner", `"keys": [` + col("id4") + `]`, "id4", false},
		{"left on int", "left", `"keys": [` + col("id4") + `]`, "id4", true},
		{"inner on text", "inner", `"keys": [` + col("id1") + `]`, "id1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := document(given, narrow, fmt.Sprintf(`{"verb": "join", "inputs": [0, 2], "kind": %q, %s, "suffix": "_right"}`, c.kind, c.on))
			made := runPipeline(t, func(s beam.Scope) beam.PCollection {
				joined, err := gpubeam.Join(s, onHost, doc, source(t, s, "x", split(x, 10)), source(t, s, "small", split(small, 3)))
				require.NoError(t, err)
				return joined
			})
			require.Equal(t, rowTexts(single(t, doc, x, small)), rowTexts(made))
			want := 0
			left, right := x.Column(x.Schema().FieldIndices(c.key)[0]), small.Column(small.Schema().FieldIndices(c.key)[0])
			for i := range left.Len() {
				matches := 0
				for j := range right.Len() {
					if left.IsValid(i) && right.IsValid(j) && left.ValueStr(i) == right.ValueStr(j) {
						matches++
					}
				}
				if c.unmatched {
					matches = max(matches, 1)
				}
				want += matches
			}
			require.Len(t, rowTexts(made), want)
		})
	}
	closed(t)
}
