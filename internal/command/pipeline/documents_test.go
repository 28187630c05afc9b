package pipeline_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/command/pipeline"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// cities writes a file that texts join, and returns a function that reads it.
func cities(t testing.TB) (path string, files func(string) (map[string]any, error)) {
	path = filepath.Join(t.TempDir(), "cities.csv")
	require.NoError(t, os.WriteFile(path, []byte("name,country,price,since\nOslo,no,60.5,2026-06-01\nBern,ch,55.0,2026-06-02\nParis,fr,2.0,2026-06-03\n"), 0o600))
	return path, func(path string) (map[string]any, error) {
		return map[string]any{"verb": "csv", "paths": []any{path}}, nil
	}
}

// typeNamed returns the type of a document.
func typeNamed(t *testing.T, name string) arrow.DataType {
	dataType, ok := querydata.Type(name)
	require.True(t, ok)
	return dataType
}

// lines runs a query and returns its rows as JSON.
func lines(t *testing.T, q gpuframe.Query, text string) string {
	var b strings.Builder
	_, err := q.Write(t.Context(), &b, gpuframe.JSONLines())
	require.NoError(t, err, text)
	return b.String()
}

// TestVerbs compares texts, and the documents of texts, with the methods of queries.
func TestVerbs(t *testing.T) {
	e := engine(t)
	path, files := cities(t)
	rows, others := sales(e), e.CSV(path)
	c := gpuframe.Col
	n := gpuframe.Count().As("n")
	for text, want := range map[string]gpuframe.Query{
		"join 'FILE' on city = name":                                                         rows.Join(others, gpuframe.Inner, gpuframe.On(c("city"), c("name"))),
		"require price > 1 message 'cheap'":                                                  rows.Require(c("price").Gt(1), errors.New("cheap")),
		"join left 'FILE' on city = name, price suffix '_f'":                                 rows.Join(others, gpuframe.Left, gpuframe.On(c("city"), c("name")), c("price"), gpuframe.Suffix("_f")),
		"join full 'FILE' on (city = name and price) nulls equal":                            rows.Join(others, gpuframe.Full, gpuframe.On(c("city"), c("name")), c("price"), gpuframe.NullsMatch()),
		"join right 'FILE' using price":                                                      rows.Join(others, gpuframe.Right, c("price")),
		"join semi ('FILE' | filter country = 'no' | rename name as city) using city, price": rows.Join(others.Filter(c("country").Eq("no")).Rename("name", "city"), gpuframe.Semi, c("city"), c("price")),
		"join anti 'FILE' on upper(city) = upper(name)":                                      rows.Join(others, gpuframe.Anti, gpuframe.On(c("city").Upper(), c("name").Upper())),
		"join cross 'FILE' | head 3":                                                         rows.Join(others, gpuframe.Cross).Head(3),
		"join 'FILE' on city = name matching price > price_right, country = 'no'":            rows.Join(others, gpuframe.Inner, gpuframe.On(c("city"), c("name")), gpuframe.Matching(c("price").Gt(c("price_right"))), gpuframe.Matching(c("country").Eq("no"))),
		"join ('FILE' | join ('FILE' | select name, country) using name) on city = name":     rows.Join(others.Join(others.Select(c("name"), c("country")), gpuframe.Inner, c("name")), gpuframe.Inner, gpuframe.On(c("city"), c("name"))),
		"as_of 'FILE' on price":                                                              rows.AsOf(others, gpuframe.On(c("price"), c("price")), gpuframe.AsOfOptions{}),
		"as_of ('FILE' | with cast(since, timestamp[ns, UTC]) as since) on ts = since by city = name forward unequal within 36 hours matched sorted suffix '_f'": rows.AsOf(
			others.With(c("since").Cast(typeNamed(t, "timestamp[ns, UTC]")).As("since")), gpuframe.On(c("ts"), c("since")), gpuframe.AsOfOptions{
				Direction: gpuframe.Forward, By: []gpuframe.JoinTerm{gpuframe.On(c("city"), c("name")), gpuframe.Suffix("_f")}, NotEqual: true,
				Tolerance: 36 * time.Hour, MatchedOnly: true, Sorted: true}),
		"nearest_to 3 'FILE' on concat_list(price, price) = concat_list(price) dot dimensions 2 distance d rank r matched suffix '_f'": rows.NearestTo(others,
			[]gpuframe.JoinTerm{gpuframe.On(gpuframe.ConcatList(c("price"), c("price")), gpuframe.ConcatList(c("price"))), gpuframe.Suffix("_f")}, 3,
			gpuframe.NearestOptions{Metric: gpuframe.DotProduct, Dimensions: 2, Distance: "d", Rank: "r", MatchedOnly: true}),
		"select price | union ('FILE' | select price), ('FILE' | select price)": rows.Select(c("price")).Union(
			others.Select(c("price")), others.Select(c("price"))),
		"select price | except ('FILE' | select price)":                                           rows.Select(c("price")).Except(others.Select(c("price"))),
		"select price | intersect all ('FILE' | select price)":                                    rows.Select(c("price")).IntersectAll(others.Select(c("price"))),
		"resample ts every 12 hours agg count() as n":                                             rows.Resample(c("ts"), 12*time.Hour).Agg(n),
		"resample qty every 2 by city, open agg count() as n, max(price)":                         rows.Resample(c("qty"), 2, c("city"), c("open")).Agg(n, c("price").Max()),
		"resample ts every 2 months in 'Europe/Oslo' agg count() as n":                            rows.Resample(c("ts"), gpuframe.Every(2, "month").In("Europe/Oslo")).Agg(n),
		"resample ts every 1 week from sunday agg count() as n":                                   rows.Resample(c("ts"), gpuframe.Every(1, "week").WeeksFrom(time.Sunday)).Agg(n),
		"resample ts every 1 day agg count() as n":                                                rows.Resample(c("ts"), gpuframe.Every(1, "day")).Agg(n),
		"cross_tab city by qty % 2 in (0, 1, null)":                                               rows.CrossTab(c("city"), c("qty").Mod(2), []any{0, 1, nil}),
		"cache rows | head 1":                                                                     rows.Head(1),
		"group rollup(qty, open) agg count() as n":                                                rows.Rollup(c("qty"), c("open")).Agg(n),
		"group cube(qty) drop nulls agg grouping_id(qty) as n":                                    rows.Cube(c("qty")).DropNulls().Agg(gpuframe.GroupingID(c("qty")).As("n")),
		"group sets((qty, open), (), (open)) agg count() as n":                                    rows.GroupingSets([]string{"qty", "open"}, nil, []string{"open"}).Agg(n),
		"group qty drop nulls agg count() as n":                                                   rows.GroupBy(c("qty")).DropNulls().Agg(n),
		"group qty drop nulls pivot open in (true) agg count() as n":                              rows.GroupBy(c("qty")).DropNulls().Pivot(c("open"), []any{true}, n),
		"group city agg list(qty) as l | explode l drop empty position at":                        rows.GroupBy(c("city")).Agg(c("qty").List().As("l")).ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true, Position: "at"}, "l"),
		"sample 2 seed 7 by city":                                                                 rows.SampleRows(2, gpuframe.SampleOptions{Seed: 7, By: []gpuframe.Expression{c("city")}}),
		"sample 2 weight price":                                                                   rows.SampleRows(2, gpuframe.SampleOptions{Weight: c("price")}),
		"resample qty every 2 span 5 offset -1 closed right label right by city agg count() as n": rows.Resample(c("qty"), 2, c("city")).Span(5).Offset(-1).Closed("right").Label("right").Agg(n),
		"resample ts every 1 month span 1 quarter agg count() as n":                               rows.Resample(c("ts"), gpuframe.Every(1, "month")).Span(gpuframe.Every(1, "quarter")).Agg(n),
		"group open agg join_strings(city, '-' order by price desc nulls first, qty) as s, first(qty order by city) as f": rows.GroupBy(c("open")).Agg(
			c("city").JoinStrings("-").OrderBy(c("price").Desc().NullsFirst(), c("qty")).As("s"), c("qty").First().OrderBy(c("city")).As("f")),
		"sample 1.5 replace":                          rows.Sample(1.5, gpuframe.SampleOptions{Replace: true}),
		"rename city as price, price as city":         rows.Rename("city", "t").Rename("price", "city").Rename("t", "price"),
		"filter city like 'x!%' escape '!'":           rows.Filter(c("city").Like("x!%", '!')),
		"select struct(city, qty * 2 as double) as s": rows.Select(gpuframe.Struct(c("city"), c("qty").Mul(2).As("double")).As("s")),
		"select sum(qty) over (city order by ts range -1 month in 'Europe/Oslo' to 2 weeks) as s, count() over (order by ts range -1 day in 'Europe/Oslo' to 1 day) as n": rows.Select(
			c("qty").Sum().Over(gpuframe.By(c("city")).OrderBy(c("ts").Asc()).Range(gpuframe.Every(-1, "month").In("Europe/Oslo"), gpuframe.Every(2, "week"))).As("s"),
			gpuframe.Count().Over(gpuframe.By().OrderBy(c("ts").Asc()).Range(gpuframe.Every(-1, "day").In("Europe/Oslo"), 24*time.Hour)).As("n")),
		"select ts + 90 minutes as later": rows.Select(c("ts").Add(90 * time.Minute).As("later")),
	} {
		t.Run(text, func(t *testing.T) {
			text := strings.ReplaceAll(text, "FILE", path)
			p, err := pipeline.Parse("pipeline", text)
			require.NoError(t, err)
			p.Files = files
			q, err := p.Apply(t.Context(), rows)
			require.NoError(t, err)
			expected := lines(t, want, text)
			require.Equal(t, expected, lines(t, q, text))

			document, err := p.Document(map[string]any{"verb": "given", "number": 0})
			require.NoError(t, err)
			q, err = querydata.Decode(t.Context(), e, []byte(document), querydata.Options{Given: []gpuframe.Query{rows}})
			require.NoError(t, err)
			require.Equal(t, expected, lines(t, q, text))
		})
	}
}

// TestEveryVerb fails if documents have a verb that no seed makes: pipelines have all but fitted encodings, the sources and
// statements of SQL.
func TestEveryVerb(t *testing.T) {
	verbs := map[string]bool{"parquet": true, "delta": true, "iceberg": true, "json_lines": true, "ipc": true, "table": true, "sql": true, "prepare": true}
	_, files := cities(t)
	for _, text := range seeds {
		p, err := pipeline.Parse("pipeline", text)
		require.NoError(t, err)
		p.Files = files
		document, err := p.Document(map[string]any{"verb": "given", "number": 0})
		require.NoError(t, err)
		var parsed struct{ Steps []struct{ Verb string } }
		require.NoError(t, json.Unmarshal([]byte(document), &parsed))
		for _, s := range parsed.Steps {
			verbs[s.Verb] = true
		}
	}
	require.Equal(t, querydata.Verbs(), slices.Sorted(maps.Keys(verbs)))
}

// TestErrorsOfFurtherInputs finds the places of what does not fit an input other than the first.
func TestErrorsOfFurtherInputs(t *testing.T) {
	e := engine(t)
	path, files := cities(t)
	missing := filepath.Join(filepath.Dir(path), "missing.csv")
	for text, want := range map[string]string{
		"join 'FILE' on\n  city = town":                        `2:10: no column is called "town": there are "name"`,
		"join 'FILE' on town = name":                           `no column is called "town": there are "open"`,
		"join 'FILE'\n  using city":                            `2:9: no column is called "city": there are "name"`,
		"join 'FILE' on city = name\n  matching cuntry = 'no'": `2:12: no column is called "cuntry": there are "country"`,
		"join ('FILE'\n  | filter contry = 'no') on price":     `2:12: no column is called "contry": there are "country"`,
		"union 'FILE'":                                    "pipeline:1:1: ",
		"join 'FILE'":                                     "1:1: no key is given",
		"join 'FILE' on city = price":                     "1:1: ",
		"join lft 'FILE' on city = name":                  `1:6: no kind of join is called "lft": there are "left"`,
		"join 'MISSING' on city":                          "1:6: ",
		"join table 'cities' on city":                     `1:6: the table "cities": there are no tables with names here`,
		"join cities on city":                             `1:13: found "on", expected a file or a pattern in quotes`,
		"join ('FILE' on city = name":                     `found "on", expected an operator, ",", "|" or ")"`,
		"as_of 'FILE' on price and city = name":           `on has 2 keys, expected one: those that must be equal follow "by"`,
		"nearest_to 3 'FILE' on price, qty":               "on has 2 vectors, expected one",
		"as_of 'FILE' on price within qty":                "expected a literal",
		"resample ts every month agg count()":             `1:19: found "month", expected the length of windows`,
		"resample ts every 1.5 months agg count()":        "1:19: 1.5 is no whole number of months",
		"resample ts every 1 week from today agg count()": `1:31: no day of the week is called "today"`,
		"resample ts every 1 fortnight agg count()":       `1:21: found "fortnight", expected "agg"`,
		"resample qty every 1 month agg count()":          "1:1: ",
		"sample 5 replace by city":                        `1:1: "by" and "replace" are both given`,
		"sample 18446744073709551615":                     "1:8: 18446744073709551615 is no fraction and no number of rows",
		"select repeat(city, 3000000000)":                 "1:8: times is 3000000000, expected a whole number of 32 bits",
		"select 1" + strings.Repeat(" + 1", 1200):         "1:3610: more than 900 operators in a row",
	} {
		text := strings.NewReplacer("FILE", path, "MISSING", missing).Replace(text)
		p, err := pipeline.Parse("pipeline", text)
		if p.Files = files; err == nil {
			_, err = p.Apply(t.Context(), sales(e))
		}
		require.ErrorContains(t, err, want, text)
		var typed *pipeline.Error
		require.ErrorAs(t, err, &typed)
	}
	p, err := pipeline.Parse("pipeline", "union 'a.csv'")
	require.NoError(t, err)
	_, err = p.Apply(t.Context(), sales(e))
	require.ErrorContains(t, err, "1:7: no files can be read here")
	_, err = p.Document(map[string]any{"verb": "given", "number": 0})
	require.ErrorContains(t, err, "1:7: no files can be read here")
	p, err = pipeline.Parse("pipeline", "union '"+missing+"'")
	require.NoError(t, err)
	p.Files = files
	_, err = p.Apply(t.Context(), sales(e))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestLongTexts has more conditions than documents may have calls within each other, and the longest
// chain of other operators.
func TestLongTexts(t *testing.T) {
	e := engine(t)
	for _, operator := range []string{" or ", " and "} {
		p, err := pipeline.Parse("pipeline", "filter price > 55"+strings.Repeat(operator+"price > 70", 2000)+" | select city")
		require.NoError(t, err)
		q, err := p.Apply(t.Context(), sales(e))
		require.NoError(t, err)
		want := map[string]string{" or ": "Oslo Oslo Bern", " and ": "Oslo Bern"}[operator]
		require.Equal(t, want, csv(t, q, operator))
	}
	p, err := pipeline.Parse("pipeline", "select 1"+strings.Repeat(" + 1", 900)+" as n | head 1")
	require.NoError(t, err)
	q, err := p.Apply(t.Context(), sales(e))
	require.NoError(t, err)
	require.Equal(t, "901", csv(t, q, "sum"))
}
