package querydata_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
)

type row struct {
	City  string
	Price float64
	Qty   int32
	At    time.Time
	Ok    bool
}

func open(t testing.TB) *gpuframe.Engine {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func given(e *gpuframe.Engine) querydata.Options {
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	rows := gpuframe.From(e, []row{{"Oslo", 60, 2, at, true}, {"Bern", 55, 1, at, false}, {"Oslo", 51, 3, at.AddDate(0, 1, 0), true}})
	others := gpuframe.From(e, []row{{"Oslo", 1, 7, at, true}})
	return querydata.Options{Given: []gpuframe.Query{rows, others}, Files: fstest.MapFS{"tables/a.csv": {Data: []byte("n\n1\n2\n")}}}
}

const source = `{"verb": "given", "number": 0}, {"verb": "given", "number": 1}`

// document is one with two sources and further steps.
func document(steps ...string) string {
	return `{"version": 1, "steps": [` + strings.Join(append([]string{source}, steps...), ", ") + `]}`
}

func col(name string) string { return fmt.Sprintf(`{"function": "column", "name": %q}`, name) }

func lit(value string) string { return fmt.Sprintf(`{"function": "literal", "value": %s}`, value) }

func call(function string, arguments ...string) string {
	return fmt.Sprintf(`{"function": %q, "arguments": [%s]}`, function, strings.Join(arguments, ", "))
}

// TestCached asks the caller for the query of a cache, if it keeps rows.
func TestCached(t *testing.T) {
	e := open(t)
	options := given(e)
	cache := document(`{"verb": "cache", "inputs": [0], "name": "rows"}`, `{"verb": "head", "inputs": [2], "n": 2}`)
	q, err := querydata.Decode(t.Context(), e, []byte(cache), options)
	require.NoError(t, err)
	text, err := q.Explain(t.Context())
	require.NoError(t, err)
	require.NotContains(t, text, "cache")
	options.Cached = func(name string, q gpuframe.Query) gpuframe.Query {
		require.Equal(t, "rows", name)
		return q.Cache()
	}
	q, err = querydata.Decode(t.Context(), e, []byte(cache), options)
	require.NoError(t, err)
	text, err = q.Explain(t.Context())
	require.NoError(t, err)
	require.Contains(t, text, "cache, empty")
	_, err = querydata.Decode(t.Context(), e, []byte(document(`{"verb": "cache", "inputs": [0]}`)), options)
	require.ErrorIs(t, err, querydata.ErrDocument)
}

// TestSameAsMethods compares the plans of documents with those of the methods.
func TestSameAsMethods(t *testing.T) {
	e := open(t)
	options := given(e)
	rows, others := options.Given[0], options.Given[1]
	city, price, qty, at, ok := gpuframe.Col("City"), gpuframe.Col("Price"), gpuframe.Col("Qty"), gpuframe.Col("At"), gpuframe.Col("Ok")
	lits := func(t arrow.DataType, v any) gpuframe.Expr { return gpuframe.LitOf(t, v) }
	typed := func(of, value string) string {
		return fmt.Sprintf(`{"function": "literal", "type": %q, "value": %s}`, of, value)
	}
	selected := func(expressions ...string) string {
		return fmt.Sprintf(`{"verb": "select", "inputs": [0], "expressions": [%s]}`, strings.Join(expressions, ", "))
	}
	as := func(name, e string) string {
		return fmt.Sprintf(`{"function": "as", "name": %q, "arguments": [%s]}`, name, e)
	}
	by := func(key string) string {
		return fmt.Sprintf(`[{"value": %s, "descending": true, "nulls_first": true}]`, key)
	}
	cases := map[string]struct {
		steps []string
		want  gpuframe.Query
	}{
		"filter": {[]string{`{"verb": "filter", "inputs": [0], "conditions": [` + call("gt", col("Price"), lit("50")) + ", " + col("Ok") + `]}`},
			rows.Filter(price.Gt(50), ok)},
		"numbers": {[]string{selected(as("a", call("add", col("Price"), lit("1.5"))), as("b", call("mul", col("Qty"), lit("-2"))))},
			rows.Select(price.Add(1.5).As("a"), qty.Mul(-2).As("b"))},
		"literals": {[]string{selected(as("a", typed("decimal128(10, 2)", `"-12.5000"`)), as("b", typed("uint64", `"18446744073709551615"`)),
			as("c", typed("utf8", `null`)), as("d", typed("date32", `7`)), as("e", typed("time64[us]", `"12:00:00.5"`)), as("f", typed("float", `"NaN"`)),
			as("g", typed("duration", "5")), as("h", typed("bool", "true")), as("i", typed("timestamp[ms]", "8")), as("j", col("City")))},
			rows.Select(lits(&arrow.Decimal128Type{Precision: 10, Scale: 2}, decimal128.FromI64(-1250)).As("a"), lits(arrow.PrimitiveTypes.Uint64, uint64(1<<64-1)).As("b"),
				lits(arrow.BinaryTypes.String, nil).As("c"), lits(arrow.FixedWidthTypes.Date32, arrow.Date32(7)).As("d"),
				lits(arrow.FixedWidthTypes.Time64us, arrow.Time64(43_200_500_000)).As("e"), gpuframe.Lit(nan()).As("f"),
				gpuframe.Lit(time.Duration(5)).As("g"), lits(arrow.FixedWidthTypes.Boolean, true).As("h"),
				lits(&arrow.TimestampType{Unit: arrow.Millisecond}, arrow.Timestamp(8)).As("i"), city.As("j"))},
		"instants": {[]string{selected(call("ge", col("At"), typed("timestamp", `"2026-06-01T14:00:00+02:00"`)))},
			rows.Select(at.Ge(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)))},
		"in": {[]string{selected(call("in", col("City"), lit(`"Oslo"`), lit("null")))}, rows.Select(city.In("Oslo", nil))},
		"text": {[]string{selected(as("a", `{"function": "substring", "start": 1, "length": 2, "arguments": [`+col("City")+`]}`), as("b", `{"function": "like", "pattern": "O%", "escape": "!", "arguments": [`+col("City")+`]}`))},
			rows.Select(city.Substring(1, 2).As("a"), city.Like("O%", '!').As("b"))},
		"cast": {[]string{selected(`{"function": "cast", "type": "timestamp[ns, tz=UTC]", "arguments": [` + col("At") + `]}`)},
			rows.Select(at.Cast(&arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}))},
		"if": {[]string{selected(call("if", col("Ok"), col("Price"), lit("0")))}, rows.Select(gpuframe.If(ok, price, 0))},
		"group": {[]string{`{"verb": "group", "inputs": [0], "drop_nulls": true, "keys": [` + col("City") + `], "aggregates": [` +
			as("n", `{"function": "count_rows"}`) + ", " + `{"function": "quantile", "q": 0.25, "arguments": [` + col("Price") + `]}` + ", " + as("big", call("where", call("sum", col("Qty")), col("Ok"))) + `]}`},
			rows.GroupBy(city).DropNulls().Agg(gpuframe.Count().As("n"), price.Quantile(0.25), qty.Sum().Where(ok).As("big"))},
		"over": {[]string{selected(call("div", col("Price"), `{"function": "over", "by": [`+col("City")+`], "arguments": [`+call("sum", col("Price"))+`]}`))},
			rows.Select(price.Div(price.Sum().Over(gpuframe.By(city))))},
		"pivot": {[]string{`{"verb": "pivot", "inputs": [0], "keys": [` + col("Ok") + `], "on": ` + col("City") + `, "values": [` + lit(`"Oslo"`) + ", " + lit("null") + `], "aggregate": ` + call("max", col("Price")) + `}`},
			rows.GroupBy(ok).Pivot(city, []any{"Oslo", nil}, price.Max())},
		"join": {[]string{`{"verb": "join", "inputs": [0, 1], "kind": "left", "keys": [` + col("City") + `], "on": [{"left": ` + col("Ok") + `, "right": ` + col("Ok") + `}], "where": [` + call("gt", col("Price"), col("Price_r")) + `], "nulls_equal": true, "suffix": "_r"}`},
			rows.Join(others, gpuframe.Left, gpuframe.On(ok, ok), city, gpuframe.Matching(price.Gt(gpuframe.Col("Price_r"))), gpuframe.NullsMatch(), gpuframe.Suffix("_r"))},
		"nearest": {[]string{`{"verb": "nearest_to", "inputs": [0, 1], "on": {"left": ` + call("concat_list", col("Price"), col("Price")) + `, "right": ` + call("concat_list", col("Price")) + `}, "k": 2, "metric": "cosine", "dimensions": 2, "distance": "d", "rank": "r", "matched_only": true, "suffix": "_o"}`},
			rows.NearestTo(others, []gpuframe.JoinTerm{gpuframe.On(gpuframe.ConcatList(price, price), gpuframe.ConcatList(price)), gpuframe.Suffix("_o")}, 2, gpuframe.NearestOptions{Metric: gpuframe.Cosine, Dimensions: 2, Distance: "d", Rank: "r", MatchedOnly: true})},
		"as of": {[]string{`{"verb": "as_of", "inputs": [0, 1], "on": {"left": ` + col("At") + `, "right": ` + col("At") + `}, "by": [{"left": ` + col("City") + `, "right": ` + col("City") + `}], "direction": "nearest", "tolerance": ` + typed("duration", "1000") + `, "matched_only": true, "not_equal": true, "sorted": true}`},
			rows.AsOf(others, gpuframe.On(at, at), gpuframe.AsOfOptions{Direction: gpuframe.Nearest, By: []gpuframe.JoinTerm{gpuframe.On(city, city)}, Tolerance: time.Microsecond, MatchedOnly: true, NotEqual: true, Sorted: true})},
		"top":     {[]string{`{"verb": "top", "inputs": [0], "n": 2, "keys": ` + by(col("Price")) + `}`}, rows.Top(2, price.Desc().NullsFirst())},
		"chain":   {[]string{`{"verb": "sort", "inputs": [0], "keys": ` + by(col("Qty")) + `}`, `{"verb": "slice", "inputs": [2], "offset": 1, "length": 5}`, `{"verb": "tail", "inputs": [3], "n": 1}`}, rows.Sort(qty.Desc().NullsFirst()).Slice(1, 5).Tail(1)},
		"union":   {[]string{`{"verb": "union", "inputs": [0, 1, 0]}`, `{"verb": "distinct", "inputs": [2], "columns": ["City"]}`, `{"verb": "head", "inputs": [3], "n": 1}`}, rows.Union(others, rows).Distinct("City").Head(1)},
		"sets":    {[]string{`{"verb": "except", "inputs": [0, 1]}`, `{"verb": "intersect", "inputs": [2, 1], "all": true}`}, rows.Except(others).IntersectAll(others)},
		"columns": {[]string{`{"verb": "drop", "inputs": [0], "columns": ["Ok"]}`, `{"verb": "unpivot", "inputs": [2], "columns": ["Price"], "keep": ["City"]}`}, rows.Drop("Ok").Unpivot([]string{"Price"}, "City")},
		"with":    {[]string{`{"verb": "with", "inputs": [0], "expressions": [` + call("neg", col("Qty")) + `]}`}, rows.With(qty.Neg())},
		"nulls":   {[]string{`{"verb": "drop_nulls", "inputs": [0], "columns": ["Qty"]}`, `{"verb": "fill_null", "inputs": [2], "value": ` + lit("0") + `, "columns": ["Price"]}`}, rows.DropNulls("Qty").FillNull(0, "Price")},
		"skip nulls": {[]string{selected(as("a", call("skip_nulls", call("last", col("Price")))), as("b", call("where", call("skip_nulls", call("list", col("Price"))), col("Ok"))))},
			rows.Select(price.Last().SkipNulls().As("a"), price.List().SkipNulls().Where(ok).As("b"))},
		"explode": {[]string{`{"verb": "group", "inputs": [0], "keys": [` + col("City") + `], "aggregates": [` + as("all", call("list", col("Qty"))) + `]}`, `{"verb": "explode", "inputs": [2], "columns": ["all"], "drop_empty": true, "position": "at"}`, `{"verb": "sample_rows", "inputs": [3], "n": 1, "seed": 7}`, `{"verb": "with_row_number", "inputs": [4], "name": "n"}`}, rows.GroupBy(city).Agg(qty.List().As("all")).ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true, Position: "at"}, "all").SampleRows(1, gpuframe.SampleOptions{Seed: 7}).WithRowNumber("n")},
		"struct":  {[]string{selected(`{"function": "field", "name": "City", "arguments": [` + call("struct", col("City"), col("Qty")) + `]}`)}, rows.Select(gpuframe.Struct(city, qty).Field("City"))},
		"time series": {[]string{selected(as("a", `{"function": "over", "by": [`+col("City")+`], "order": `+by(col("Qty"))+`, "arguments": [`+call("fill_forward", col("Price"))+`]}`),
			as("b", call("fill_backward", col("Price"))), as("c", call("interpolate", col("Qty"))), as("d", call("interpolate_by", col("Price"), col("Qty"))),
			as("e", `{"function": "session", "gap": `+lit("1")+`, "arguments": [`+col("Qty")+`]}`), as("f", call("sequence", col("Qty"))))},
			rows.Select(price.FillForward().Over(gpuframe.By(city).OrderBy(qty.Desc().NullsFirst())).As("a"), price.FillBackward().As("b"), qty.Interpolate().As("c"), price.InterpolateBy(qty).As("d"), qty.Session(1).As("e"), qty.Sequence().As("f"))},
		"resample":  {[]string{`{"verb": "resample", "inputs": [0], "at": ` + col("Qty") + `, "every": ` + lit("2") + `, "by": [` + col("City") + `], "aggregates": [` + as("n", call("sum", col("Price"))) + `]}`}, rows.Resample(qty, 2, city).Agg(price.Sum().As("n"))},
		"cross tab": {[]string{`{"verb": "cross_tab", "inputs": [0], "rows": ` + col("City") + `, "columns": ` + col("Qty") + `, "values": [` + lit("1") + `, ` + lit("2") + `]}`}, rows.CrossTab(city, qty, []any{1, 2})},
		"strata":    {[]string{`{"verb": "sample_rows", "inputs": [0], "n": 1, "seed": 7, "by": [` + col("City") + `]}`}, rows.SampleRows(1, gpuframe.SampleOptions{Seed: 7, By: []gpuframe.Expression{city}})},
		"windows": {[]string{selected(as("a", `{"function": "over", "by": [`+col("City")+`], "order": `+by(col("Qty"))+`, "rows": [null, 0], "at_least": 2, "arguments": [`+call("sum", col("Qty"))+`]}`),
			as("e", `{"function": "over", "order": `+by(col("Qty"))+`, "range": [`+lit("-2")+`, null], "arguments": [`+call("sum", col("Qty"))+`]}`),
			as("f", `{"function": "over", "order": `+by(`{"function": "cast", "type": "timestamp[us]", "arguments": [`+col("At")+`]}`)+`, "range": [{"calendar": {"number": -1, "unit": "month"}}, `+lit("0")+`], "arguments": [`+call("sum", col("Qty"))+`]}`),
			as("b", `{"function": "row_number"}`), as("c", `{"function": "lag", "n": 2, "arguments": [`+col("Price")+`]}`), as("d", call("cum_sum", col("Qty"))))},
			rows.Select(qty.Sum().Over(gpuframe.By(city).OrderBy(qty.Desc().NullsFirst()).Rows(gpuframe.FirstRow, 0).AtLeast(2)).As("a"),
				qty.Sum().Over(gpuframe.By().OrderBy(qty.Desc().NullsFirst()).Range(-2, nil)).As("e"),
				qty.Sum().Over(gpuframe.By().OrderBy(at.Cast(&arrow.TimestampType{Unit: arrow.Microsecond}).Desc().NullsFirst()).Range(gpuframe.Every(-1, "month"), 0)).As("f"),
				gpuframe.RowNumber().As("b"), price.Lag(2).As("c"), qty.CumSum().As("d"))},
		"require": {[]string{`{"verb": "require", "inputs": [0], "condition": ` + call("gt", col("Price"), lit("1")) + `, "message": "cheap"}`}, rows.Require(price.Gt(1), errors.New("cheap"))},
		"rename":  {[]string{`{"verb": "rename", "inputs": [0], "columns": [["City", "Town"]]}`}, rows.Rename("City", "Town")},
		"regular expressions": {[]string{selected(
			as("a", `{"function": "matches_regex", "pattern": "a+", "arguments": [`+col("City")+`]}`), as("b", `{"function": "find_regex", "pattern": "b", "arguments": [`+col("City")+`]}`),
			as("c", `{"function": "count_regex", "pattern": "c", "arguments": [`+col("City")+`]}`), as("d", `{"function": "extract_regex", "pattern": "(d)", "group": 1, "arguments": [`+col("City")+`]}`),
			as("e", `{"function": "replace_regex", "pattern": "e", "with": "$0", "arguments": [`+col("City")+`]}`))},
			rows.Select(city.MatchesRegex("a+").As("a"), city.FindRegex("b").As("b"), city.CountRegex("c").As("c"), city.ExtractRegex("(d)", 1).As("d"), city.ReplaceRegex("e", "$0").As("e"))},
		"split_part": {[]string{selected(`{"function": "split_part", "separator": "s", "number": 1, "arguments": [` + col("City") + `]}`)}, rows.Select(city.SplitPart("s", 1))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			q, err := querydata.Decode(t.Context(), e, []byte(document(c.steps...)), options)
			require.NoError(t, err)
			got, err := q.Explain(context.Background())
			require.NoError(t, err)
			want, err := c.want.Explain(context.Background())
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// TestRequire tests the error of a run by the verb require.
func TestRequire(t *testing.T) {
	e := open(t)
	for message, want := range map[string]string{"": "does not meet the condition", `, "message": "too cheap"`: "too cheap"} {
		q, err := querydata.Decode(t.Context(), e, []byte(document(`{"verb": "require", "inputs": [0], "condition": `+call("gt", col("Price"), lit("55"))+message+`}`)), given(e))
		require.NoError(t, err)
		_, err = q.Collect(t.Context())
		var failure *querydata.RequirementError
		require.ErrorAs(t, err, &failure)
		require.ErrorContains(t, failure, want)
	}
}

// TestRenameExchanges exchanges the names of two columns.
func TestRenameExchanges(t *testing.T) {
	e := open(t)
	q, err := querydata.Decode(t.Context(), e, []byte(document(`{"verb": "rename", "inputs": [0], "columns": [["Price", "Qty"], ["Qty", "Price"]]}`)), given(e))
	require.NoError(t, err)
	f, err := q.Collect(context.Background())
	require.NoError(t, err)
	prices, err := gpuframe.Column[float64](context.Background(), f, "Qty")
	require.NoError(t, err)
	require.Equal(t, []float64{60, 55, 51}, prices)
	require.NoError(t, f.Release())
}

// TestPlace checks that a problem names the place in the program that made the document.
func TestPlace(t *testing.T) {
	e := open(t)
	q, err := querydata.Decode(t.Context(), e, []byte(document(
		`{"verb": "with", "inputs": [0], "expressions": [`+col("pric")+`], "place": {"verb": "with_columns", "file": "report.py", "line": 12}}`,
		`{"verb": "sort", "inputs": [2], "keys": [{"value": `+col("town")+`}], "place": {"verb": "sort", "file": "report.py", "line": 13}}`)), given(e))
	require.NoError(t, err)
	_, err = q.Collect(context.Background())
	var problems *gpuframe.QueryError
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems.Problems, 2)
	require.Contains(t, problems.Error(), "with_columns (report.py:12): ")
	require.Contains(t, problems.Error(), "sort (report.py:13): ")
}

// TestFiles reads files of the file system of the options, and no others.
func TestFiles(t *testing.T) {
	e := open(t)
	for path, want := range map[string]string{
		"/tables/a.csv": "", "tables/*.csv": "", "/tables": "", "/tables/b.csv": "file does not exist", "/etc": "file does not exist", "../tables/a.csv": "file does not exist",
		"/tables/a.csv/../../../etc/passwd": "file does not exist", "/*/passwd": "file does not exist", "/": "", "": "",
	} {
		q, err := querydata.Decode(t.Context(), e, []byte(document(`{"verb": "csv", "paths": ["`+path+`"]}`)), given(e))
		require.NoError(t, err)
		f, err := q.Collect(t.Context())
		if want != "" {
			require.ErrorContains(t, err, want, path)
			continue
		}
		require.NoError(t, err, path)
		require.EqualValues(t, 2, f.NumRows())
		require.NoError(t, f.Release())
	}
}

// endingFiles is a file system that ends a context when it is first used.
type endingFiles struct {
	end  context.CancelFunc
	uses int
}

func (f *endingFiles) Open(string) (fs.File, error) {
	f.end()
	f.uses++
	return nil, fs.ErrNotExist
}

// TestDecodingStopsWithItsContext ends the context while a step reads a folder: no further step does.
func TestDecodingStopsWithItsContext(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	files := &endingFiles{end: end}
	e, step := open(t), `{"verb": "csv", "paths": ["a.csv"]}`
	_, err := querydata.Decode(ctx, e, []byte(`{"version": 1, "steps": [`+step+", "+step+`]}`), querydata.Options{Files: files})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, files.uses)
	_, err = querydata.Decode(ctx, e, []byte(selected(nested(300, "not", col("Ok")))), given(e))
	require.ErrorIs(t, err, context.Canceled)
}

// malformed maps documents to the places and reasons of their errors.
var malformed = map[string]string{
	``:                             "the document is no JSON",
	`[]`:                           "is [], expected an object",
	`{"version": 2, "steps": []}`:  "version: is 2, expected version 1",
	`{"version": 1}`:               "steps: is missing or null, expected a list of one or more steps",
	`{"version": 1, "steps": [7]}`: "steps[0]: is 7, expected an object",
	"{\"version\": 1, \"steps\": [{\"verb\": \"\xff\"}]}": "the document is no UTF-8",
	document() + " 1":                                                                                                                                                            "there is more after the document",
	document(`{"verb": "fliter"}`):                                                                                                                                               `steps[2].verb: no verb is called "fliter": there are "filter"`,
	document(`{"verb": "head", "inputs": [2], "n": 1}`):                                                                                                                          "steps[2].inputs[0]: is 2, expected the number of an earlier step",
	document(`{"verb": "head", "inputs": [0]}`):                                                                                                                                  "steps[2].n: is missing or null, expected a whole number",
	document(`{"verb": "head", "inputs": [0, 1], "n": 1}`):                                                                                                                       `steps[2]: "head" has 2 inputs, expected 1`,
	document(`{"verb": "head", "inputs": [0], "n": 1.5}`):                                                                                                                        "steps[2].n: is 1.5, expected a whole number",
	document(`{"verb": "head", "inputs": [0], "n": 1e99}`):                                                                                                                       "steps[2].n: is 1e99, expected a whole number",
	document(`{"verb": "head", "inputs": [0], "n": 1, "m":2}`):                                                                                                                   `steps[2]: no member is called "m"`,
	document(`{"verb": "given", "number": 2}`):                                                                                                                                   "steps[2].number: is 2, expected the number of a query that is given",
	document(`{"verb": "csv", "paths": []}`):                                                                                                                                     "steps[2].paths: is [], expected a list of one or more paths",
	document(`{"verb": "csv", "paths": ["a"], "delimiter": ",,"}`):                                                                                                               "steps[2].delimiter",
	document(`{"verb": "csv", "paths": ["a"], "types": {"x": "int7"}}`):                                                                                                          `steps[2].types.x: is "int7", expected a type`,
	document(`{"verb": "json_lines", "paths": ["a"], "schema": [{"name": 1}]}`):                                                                                                  "steps[2].schema[0].name: is 1, expected a string",
	document(`{"verb": "rename", "inputs": [0], "columns": [["a"]]}`):                                                                                                            "steps[2].columns[0]",
	document(`{"verb": "join", "inputs": [0, 1], "kind": "outer"}`):                                                                                                              `steps[2].kind: no kind of join is called "outer"`,
	document(`{"verb": "join", "inputs": [0, 1], "on": [{"left": ` + col("City") + `}]}`):                                                                                        "steps[2].on[0].right: is missing or null, expected an object",
	document(`{"verb": "filter", "inputs": [0], "conditions": [{"function": "equals"}]}`):                                                                                        `steps[2].conditions[0].function: no function is called "equals": there are`,
	document(`{"verb": "filter", "inputs": [0], "conditions": [` + call("gt", col("Qty")) + `]}`):                                                                                `steps[2].conditions[0]: "gt" has 1 arguments, expected 2`,
	document(`{"verb": "filter", "inputs": [0], "conditions": [` + call("coalesce") + `]}`):                                                                                      `"coalesce" has 0 arguments, expected 1 or more`,
	document(`{"verb": "filter", "inputs": [0], "conditions": [` + call("gt", col("Qty"), lit(`[1]`)) + `]}`):                                                                    "steps[2].conditions[0].arguments[1].value: is [1], expected null, a bool",
	document(`{"verb": "filter", "inputs": [0], "conditions": [{"function": "literal"}]}`):                                                                                       "steps[2].conditions[0]: has no value",
	document(`{"verb": "filter", "inputs": [0], "conditions": [` + lit("18446744073709551616") + `]}`):                                                                           "expected an integer of 64 bits",
	document(`{"verb": "filter", "inputs": [0], "conditions": [{"function": "literal", "type": "date32", "value": ""}]}`):                                                        "expected a time such as",
	document(`{"verb": "filter", "inputs": [0], "conditions": [{"function": "literal", "type": "time32[s]", "value": "12:00:00.5"}]}`):                                           "no more digits than the unit",
	document(`{"verb": "filter", "inputs": [0], "conditions": [{"function": "literal", "type": "decimal128(3, 1)", "value": "12.25"}]}`):                                         "expected the digits of a decimal(3, 1)",
	document(`{"verb": "filter", "inputs": [0], "conditions": [{"function": "literal", "type": "decimal128(3, 1)", "value": "123.4"}]}`):                                         "expected the digits of a decimal(3, 1)",
	document(`{"verb": "filter", "inputs": [0], "conditions": [{"function": "literal", "type": "binary", "value": "?"}]}`):                                                       "expected bytes in base64",
	document(`{"verb": "filter", "inputs": [0], "conditions": [{"function": "repeat", "times": 3000000000, "arguments": [` + lit(`""`) + `]}]}`):                                 "expected a whole number of 32 bits",
	document(`{"verb": "filter", "inputs": [0], "conditions": [` + strings.Repeat(`{"function": "not", "arguments": [`, 1001) + lit("true") + strings.Repeat("]}", 1001) + `]}`): "is expression number 1001 within others",
	strings.Repeat("[", 20_000): "the document is no JSON",
}

func TestMalformed(t *testing.T) {
	e := open(t)
	for text, want := range malformed {
		_, err := querydata.Decode(t.Context(), e, []byte(text), given(e))
		var malformed *querydata.Error
		require.ErrorAs(t, err, &malformed, text)
		require.True(t, errors.Is(err, querydata.ErrDocument))
		require.Contains(t, err.Error(), want)
	}
}

func TestType(t *testing.T) {
	for name, want := range map[string]arrow.DataType{
		"int8": arrow.PrimitiveTypes.Int8, "string": arrow.BinaryTypes.String, "timestamp[us]": &arrow.TimestampType{Unit: arrow.Microsecond},
		"timestamp[s, tz=Europe/Oslo]": &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Oslo"},
		"decimal(9, 2)":                &arrow.Decimal128Type{Precision: 9, Scale: 2}, "fixed_size_binary[3]": &arrow.FixedSizeBinaryType{ByteWidth: 3},
	} {
		got, ok := querydata.Type(name)
		require.True(t, ok, name)
		require.True(t, arrow.TypeEqual(want, got), name)
		if name != "string" {
			again, ok := querydata.Type(got.String()) // as arrow-go prints it
			require.True(t, ok, got)
			require.True(t, arrow.TypeEqual(want, again))
		}
	}
	for _, name := range []string{"", "int7", "decimal(0, 0)", "decimal(39, 2)", "decimal(3, 4)", "timestamp[m]", "list[int8]"} {
		_, ok := querydata.Type(name)
		require.False(t, ok, name)
	}
}

// The limits of one document in FuzzDecode: its length, and the memory and the time for it. The time
// only counts while fuzzing, and the memory is that of all allocations together.
const (
	fuzzedBytes  = 16 << 10
	fuzzedMemory = 64 << 20
	fuzzedTime   = 400 * time.Millisecond // a query is planned twice, and the fuzzer's counters double the time
)

// FuzzDecode decodes documents, and plans the queries of those that are well formed.
func FuzzDecode(f *testing.F) {
	for text := range malformed {
		f.Add(text)
	}
	for _, text := range slices.Sorted(maps.Values(hostile)) {
		f.Add(text)
	}
	key := `[{"value": ` + col("Price") + `}]`
	for _, name := range []string{"not", "sum", "add", "if", "in", "concat", "where", "truncate", "substring", "cast", "over", "count_rows", "list", "quantile"} {
		f.Add(document(`{"verb": "select", "inputs": [0], "expressions": [` + call(name, col("Price"), col("Qty"), lit("1")) + `]}`))
		f.Add(document(`{"verb": "group", "inputs": [0], "keys": [` + col("City") + `], "aggregates": [` + call(name, col("Price")) + `]}`))
	}
	f.Add(document(`{"verb": "sort", "inputs": [0], "keys": `+key+`}`, `{"verb": "join", "inputs": [2, 1], "kind": "semi", "keys": [`+col("City")+`]}`))
	f.Add(document(`{"verb": "as_of", "inputs": [0, 1], "on": {"left": ` + col("At") + `, "right": ` + col("At") + `}, "tolerance": ` + lit("5") + `}`))
	f.Add(document(`{"verb": "unpivot", "inputs": [0], "columns": ["Price"], "keep": []}`, `{"verb": "union", "inputs": [2, 2]}`))
	e, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		f.Fatal(err)
	}
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" || flag.Lookup("test.fuzzworker").Value.String() == "true"
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > fuzzedBytes {
			return
		}
		begin := processor.Time()
		planWithin(t, e, text)
		if took := processor.Time() - begin; fuzzing && took > fuzzedTime {
			t.Fatalf("%v of processor time for a document of %d bytes", took, len(text))
		}
	})
}

// planWithin plans the query of a document and fails if that takes more than fuzzedMemory.
func planWithin(t *testing.T, e *gpuframe.Engine, text string) {
	options := given(e)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	plan(t, e, text, options)
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > fuzzedMemory {
		t.Fatalf("%d bytes of memory for a document of %d bytes", bytes, len(text))
	}
}

// plan plans the query of a document. There is an error or not, but no panic.
func plan(t *testing.T, e *gpuframe.Engine, text string, options querydata.Options) {
	q, err := querydata.Decode(t.Context(), e, []byte(text), options)
	if err != nil {
		var malformed *querydata.Error
		if !errors.As(err, &malformed) {
			t.Fatalf("%T: %v", err, err)
		}
		return
	}
	_, _ = q.Explain(context.Background())
	_, _ = q.Needs(context.Background())
}

// TestDecodeData decodes a document that was not JSON, and does not change it.
func TestDecodeData(t *testing.T) {
	e := open(t)
	data := func() any {
		return map[string]any{"version": json.Number("1"), "steps": []any{
			map[string]any{"verb": "given", "number": json.Number("0")},
			map[string]any{"verb": "head", "inputs": []any{json.Number("0")}, "n": json.Number("2"), "place": map[string]any{"verb": "head", "line": json.Number("3")}},
		}}
	}
	document := data()
	q, err := querydata.DecodeData(t.Context(), e, document, given(e))
	require.NoError(t, err)
	require.Equal(t, data(), document)
	got, err := q.Explain(t.Context())
	require.NoError(t, err)
	want, err := given(e).Given[0].Head(2).Explain(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = querydata.DecodeData(t.Context(), e, map[string]any{"version": 1}, given(e))
	require.ErrorContains(t, err, "version: is 1, expected a whole number")
}

// TestTypeNames makes a literal of each type.
func TestTypeNames(t *testing.T) {
	e := open(t)
	names := querydata.TypeNames()
	require.Contains(t, names, "int64")
	for _, name := range names {
		q, err := querydata.Decode(t.Context(), e, []byte(selected(`{"function": "literal", "type": "`+name+`", "value": null}`)), given(e))
		require.NoError(t, err)
		_, err = q.Schema(t.Context())
		require.NoError(t, err)
	}
}
