package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/command/pipeline"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

type sale struct {
	City  string    `gpuframe:"city"`
	Price float64   `gpuframe:"price"`
	Qty   *int64    `gpuframe:"qty"`
	Open  bool      `gpuframe:"open"`
	Time  time.Time `gpuframe:"ts"`
	Odd   int32     `gpuframe:"an odd name"`
}

func engine(t testing.TB) *gpuframe.Engine {
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(64<<20))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func sales(e *gpuframe.Engine) gpuframe.Query {
	qty := func(n int64) *int64 { return &n }
	at := func(d int) time.Time { return time.Date(2026, 6, d, 12, 30, 0, 0, time.UTC) }
	return gpuframe.From(e, []sale{
		{"Oslo", 60, qty(2), true, at(1), 1}, {"Bern", 55, nil, false, at(1), 2}, {"Oslo", 80, qty(3), true, at(2), 3},
		{"Rome", 20, qty(9), false, at(2), 4}, {"Bern", 90, qty(1), true, at(3), 5}, {"it's", 51, qty(1), false, at(3), 6},
	})
}

// csv runs a query and returns its rows, without the line of names.
func csv(t *testing.T, q gpuframe.Query, text string) string {
	t.Helper()
	var b strings.Builder
	_, err := q.Write(t.Context(), &b, gpuframe.CSV())
	require.NoError(t, err, text)
	_, rows, _ := strings.Cut(b.String(), "\n")
	return strings.TrimSpace(strings.ReplaceAll(rows, "\n", " "))
}

func TestPipelines(t *testing.T) {
	e := engine(t)
	for text, want := range map[string]string{
		`filter price > 50 | group city agg sum(price * qty) as revenue, count() as n | sort revenue desc`: "Oslo,360,2 Bern,90,2 it's,51,1",
		"select city, qty | top 2 by qty desc":                                                                                                         "Rome,9 Oslo,3",
		"sort qty desc nulls first, city | head 2 | select city":                                                                                       "Bern Rome",
		"filter qty is null or city = 'it''s' | select city, qty is not null":                                                                          "Bern,false it's,true",
		`filter city in ("Oslo", "Rome"), price between 20 and 60 | select price`:                                                                      "60 20",
		`filter city not in ("Oslo") and not open | select city`:                                                                                       "Bern Rome it's",
		"filter city like '%o%' | distinct city | select upper(city)":                                                                                  "OSLO ROME",
		"select -price + 2 * 3 - -1 as x | slice 1 2":                                                                                                  "-48 -73",
		"select (price + 1) * 2 as x | tail 1":                                                                                                         "104",
		"with price / sum(price) over (city) as share | filter city = 'Oslo' | select round(share*100)":                                                "43 57",
		"agg count() where (open) as open, mean(price), max(`an odd name`)":                                                                            "3,59.333333333333336,6",
		"filter ts >= timestamp '2026-06-03' | drop price, open, ts | rename qty as n, `an odd name` as odd":                                           "Bern,1,5 it's,1,6",
		"filter ts < timestamp '2026-06-01T14:30:00+01:00' | select cast(price, int8)":                                                                 "60 55",
		"drop_nulls qty | select count() as n":                                                                                                         "5",
		"drop_nulls | distinct | agg count_distinct(city), quantile(price, 0.5) as median, quantile(price, 1)":                                         "4,60,90",
		"select if(open, city, \"-\") as c, substring(city, 2, 2), coalesce(qty, 0) | head 2":                                                          "Oslo,sl,2 -,er,0",
		"select replace(city, 'o', '0'), pad_start(city, 5, '.') as padded, truncate(ts, 'day') = timestamp '2026-06-01' | head 1":                     "Osl0,.Oslo,true",
		"filter open = true and 1.5e1 < price and `city` != \"Bern\" | select cast(null, int64) as nothing, price":                                     ",60 ,80",
		"with row_number() over (city order by price desc) as place, rank() over (order by open) as r | select city, place, r":                         "Oslo,2,4 Bern,2,1 Oslo,1,4 Rome,1,1 Bern,1,4 it's,1,1",
		"select sum(price) over (city order by ts rows -1 to 0) as s, sum(price) over (order by ts rows start to 0 at least 3) as a":                   "60, 55, 140,195 20,215 145,305 51,356",
		"select sum(price) over (order by ts range -1 day to 0 day) as s, count() over (order by price range -10 to end) as n":                         "115,5 115,5 215,2 215,6 241,2 241,5",
		"select lag(price, 1) over (order by ts) as l, cum_sum(price) over (city) as c, tile(2) as t | tail 1":                                         "90,51,2",
		"where open | with_columns qty * 2 as twice | order by price desc | limit 1 | select city, twice":                                              "Bern,2",
		"group by city agg count(*) as n, avg(price) as mean | order by n desc, mean | head 1":                                                         "Oslo,2,70",
		"group_by open agg count(*) | sort open | order_by open desc | select open":                                                                    "true false",
		"filter qty in (1, null) | select city":                                                                                                        "Bern it's",
		"filter qty not in (1, null) or qty is null | select city":                                                                                     "Bern",
		"select price, if(open, price, null) as p | head 2":                                                                                            "60,60 55,",
		"select round(price / 7.0, 2) as r, floor_div(0 - qty, 2) as f, true_div(qty, 4) as t | head 1":                                                "8.57,-1,0.5",
		"select format_time(local_time(ts, 'Asia/Kolkata'), '%H:%M') as t | head 1":                                                                    "18:00",
		"row_number n | filter n >= 4 | select n, city":                                                                                                "4,Bern 5,it's",
		"group open pivot city in ('Oslo', 'Bern') agg sum(price) | sort open":                                                                         "false,,55 true,140,90",
		"select city, price, cast(qty, float64) as qty | unpivot price, qty keep city | filter city = 'Rome' | select variable, value":                 "price,20 qty,9",
		"group city agg first(qty) as a, first(qty) skip nulls as b, list(qty) skip nulls where (price > 50) as c | explode c | sort c, city | head 1": "Bern,,1,1",
		"with lag(qty, 1) skip nulls over (order by price) as before | sort price | tail 5 | select before":                                            "9 1 1 2 3",
		"group city agg list(price) as prices | explode prices | sort prices | head 2":                                                                 "Rome,20 it's,51",
		"fill_null -1 in qty | select qty | head 2":                                                                                                    "2 -1",
		"select list_join(list_filter(split(city, 'o'), element() != ''), '/') as l, list_sum(list_eval(sequence(qty), element() * price)) | head 1":   "Osl,60",
		"sample 6 seed 3 | sample 1.0 | select count()":                                                                                                "6",
		"shuffle seed 2 | random r seed 3 | filter r >= 0 and r < 1 | sort price | select city | head 1":                                               "Rome",
	} {
		p, err := pipeline.Parse("pipeline", text)
		require.NoError(t, err, text)
		q, err := p.Apply(t.Context(), sales(e))
		require.NoError(t, err, text)
		assert.Equal(t, want, csv(t, q, text), text)
	}
}

// TestErrors compares errors with those that were read and approved.
func TestErrors(t *testing.T) {
	e := engine(t)
	for _, test := range []struct {
		text, want string
		is         error
	}{
		{"filter pric > 50", "pipeline:1:8: no column is called \"pric\": there are \"price\", \"city\", \"qty\", \"open\", \"ts\", \"an odd name\"\n  filter pric > 50\n         ^", buffer.ErrSchema},
		{"filter price > 50 |\n  sort city, cty desc", "pipeline:2:14: no column is called \"cty\": there are \"city\", \"qty\", \"ts\", \"open\", \"price\", \"an odd name\"\n    sort city, cty desc\n               ^", buffer.ErrSchema},
		{"fliter price > 50", "pipeline:1:1: no verb is called \"fliter\": there are \"filter\"", pipeline.ErrSyntax},
		{"filter price > average(price)", "pipeline:1:16: no function is called \"average\": did you mean \"mean\"?\n", pipeline.ErrSyntax},
		{"arrange price", "pipeline:1:1: no verb is called \"arrange\": did you mean \"sort\"?\n", pipeline.ErrSyntax},
		{"order price", "pipeline:1:1: no verb is called \"order\": did you mean \"sort\"?\n", pipeline.ErrSyntax},
		{"agg sum(*)", "pipeline:1:9: sum has no form with *, which is for count: give a column\n", pipeline.ErrSyntax},
		{"agg count(*", "expected \")\"", pipeline.ErrSyntax},
		{"filter price > meen(price)", "pipeline:1:16: no function is called \"meen\": there are \"mean\"", pipeline.ErrSyntax},
		{"filter price > 50 AND open", "pipeline:1:19: found \"AND\", expected an operator, \",\" or \"|\" (words are in lower case: and)\n", pipeline.ErrSyntax},
		{"select city + 1", "pipeline:1:8: city + 1: cannot add utf8 and int64", nil},
		{"select null", "pipeline:1:1: null: null has no type here, use cast(null, type), or \"is null\" to find nulls", nil},
		{"group sum(price) agg count()", "compute it with the verb \"with\" first", nil},
		{"select price, price", "give one of them another name with \"as\"", nil},
		{"select cast(price, string)", "cannot cast float64 to utf8, use format_float()", nil},
		{"group city agg first(price) skip", "expected \"nulls\"", pipeline.ErrSyntax},
		{"group city agg sum(price) skip nulls", "leave out \"skip nulls\"", nil},
		{"with first(price) over (city) skip nulls as x", "write \"skip nulls\" before \"over\"", nil},
		{"group city agg price", "use first(), min() or list() of it, or group by it", nil},
		{"filter instant_in(local_time(ts, 'UTC'), 'UTC') > local_time(ts, 'UTC')", "take local_time() of it, or instant_in() of the other one", nil},
		{"select cast(city, float)", "pipeline:1:19: no type is called \"float\": there are \"float32\"", pipeline.ErrSyntax},
		{"select 'open", "pipeline:1:8: the closing ' is missing\n  select 'open\n         ^", pipeline.ErrSyntax},
		{"select price where", "pipeline:1:19: found the end, expected \"(\"", pipeline.ErrSyntax},
		{"select price where (open)", "pipeline:1:8: \"where\", \"skip nulls\" and \"over\" apply to aggregates", nil},
		{"group city", "pipeline:1:11: found the end, expected an operator, \",\" or \"agg\"", pipeline.ErrSyntax},
		{"group city agg price", "pipeline:1:1: \"price\" is no key and in no aggregate", nil},
		{"top 10 price", "pipeline:1:8: found \"price\", expected \"by\"", pipeline.ErrSyntax},
		{"head -1", "pipeline:1:6: found \"-\", expected a number of rows", pipeline.ErrSyntax},
		{"head 1.5", "pipeline:1:6: 1.5 is no number of rows", pipeline.ErrSyntax},
		{"filter substring(city, qty, 1) = 'a'", "pipeline:1:8: substring: argument 2 must be a whole number", pipeline.ErrSyntax},
		{"filter pow(price) > 1", "pipeline:1:8: pow has 1 arguments, expected 2", pipeline.ErrSyntax},
		{"filter price == ", "pipeline:1:17: found the end, expected an expression", pipeline.ErrSyntax},
		{"filter (price > 1", "pipeline:1:18: found the end, expected an operator or \")\"", pipeline.ErrSyntax},
		{"filter ts > date 'June'", "pipeline:1:18: \"June\" is no date such as 2026-01-31", pipeline.ErrSyntax},
		{"filter city like price", "pipeline:1:18: found \"price\", expected a pattern in quotes", pipeline.ErrSyntax},
		{"filter price not 3", "pipeline:1:18: found \"3\", expected \"between\", \"in\" or \"like\"", pipeline.ErrSyntax},
		{"filter price ? 3", "pipeline:1:14: unexpected '?'", pipeline.ErrSyntax},
		{"", "pipeline:1:1: found the end, expected a verb", pipeline.ErrSyntax},
		{"select sum(price) over (city order ts)", "pipeline:1:36: found \"ts\", expected \"by\"", pipeline.ErrSyntax},
		{"select sum(price) over (city rows 1.5 to 2)", "pipeline:1:35: 1.5 is no number of rows", pipeline.ErrSyntax},
		{"select sum(price) over (order by ts range -1.5 day to 2)", "pipeline:1:43: -1.5 is no whole number of days", pipeline.ErrSyntax},
		{"group open pivot city in (price) agg sum(price)", "pipeline:1:27: expected a literal", pipeline.ErrSyntax},
		{"fill_null price in qty", "pipeline:1:11: expected a literal", pipeline.ErrSyntax},
		{"sample many", "pipeline:1:8: found \"many\", expected a fraction below 1, or a number of rows", pipeline.ErrSyntax},
		{"sample 1.5", "pipeline:1:1: the fraction is 1.5, expected 0 to 1", nil},
		{"head 1 |", "pipeline:1:9: found the end, expected a verb", pipeline.ErrSyntax},
		{"select 1e999", "pipeline:1:8: 1e999 is no number of 64 bits", pipeline.ErrSyntax},
		{"select é, ÿ", "pipeline:1:11: no column is called \"ÿ\"", nil},
		{"select " + strings.Repeat("(", 500), "more than 200 expressions within each other", pipeline.ErrSyntax},
		{"select " + strings.Repeat("- ", 500), "more than 200 expressions within each other", pipeline.ErrSyntax},
		{"select " + strings.Repeat("not ", 500), "more than 200 expressions within each other", pipeline.ErrSyntax},
		{"select " + strings.Repeat("1+", 9000), "more than 10000 words", pipeline.ErrSyntax},
	} {
		p, err := pipeline.Parse("pipeline", test.text)
		if err == nil {
			_, err = p.Apply(t.Context(), sales(e))
		}
		require.ErrorContains(t, err, test.want, test.text)
		var typed *pipeline.Error
		require.ErrorAs(t, err, &typed)
		if test.is != nil {
			assert.ErrorIs(t, err, test.is, test.text)
		}
	}
}

func TestVerbsOfFlags(t *testing.T) {
	e := engine(t)
	filter, err := pipeline.ParseVerb("--filter", "filter", "open")
	require.NoError(t, err)
	top, err := pipeline.ParseVerb("--top", "top", "1 by price")
	require.NoError(t, err)
	q, err := filter.Then(top).Apply(t.Context(), sales(e).Select(gpuframe.Col("open"), gpuframe.Col("price")))
	require.NoError(t, err)
	assert.Equal(t, "true,60", csv(t, q, "--filter --top"))
	_, err = pipeline.ParseVerb("--filter", "filter", "open | head 1")
	assert.ErrorContains(t, err, "--filter:1:6: found \"|\", expected an operator")
	_, err = pipeline.ParseVerb("--keep", "keep", "open")
	assert.ErrorContains(t, err, `no verb is called "keep"`)
	missing, err := pipeline.ParseVerb("--filter", "filter", "missing")
	require.NoError(t, err)
	_, err = missing.Apply(t.Context(), e.CSV(filepath.Join(t.TempDir(), "none.csv")))
	assert.ErrorIs(t, err, os.ErrNotExist, "an error of the source comes first")
}

// model is a random expression: its text without needless parentheses, how strongly it
// binds, and the expression that it must be.
type model struct {
	text  string
	binds int
	value gpuframe.Expr
}

// within puts a model into parentheses if it binds less than its place needs.
func (m model) within(binds int) string {
	if m.binds < binds {
		return "(" + m.text + ")"
	}
	return m.text
}

// randomModel returns an expression of numbers, or of bools.
func randomModel(random *rand.Rand, depth int, boolean bool) model {
	two := func(boolean bool) (a, b model) {
		return randomModel(random, depth-1, boolean), randomModel(random, depth-1, boolean)
	}
	pick := random.IntN(6)
	switch {
	case boolean && depth == 0:
		return model{"open", 9, gpuframe.Col("open")}
	case boolean && pick < 2:
		a, b := two(true)
		if pick == 0 {
			return model{a.within(1) + " or " + b.within(2), 1, a.value.Or(b.value)}
		}
		return model{a.within(2) + " and " + b.within(3), 2, a.value.And(b.value)}
	case boolean && pick == 2:
		a := randomModel(random, depth-1, true)
		return model{"not " + a.within(3), 3, a.value.Not()}
	case boolean:
		a, b := two(false)
		switch pick {
		case 3:
			return model{a.within(5) + " < " + b.within(5), 4, a.value.Lt(b.value)}
		case 4:
			return model{"`price` + " + a.within(6) + " not in (-1, 3)", 4, gpuframe.Col("price").Add(a.value).In(gpuframe.Lit(-1), gpuframe.Lit(3)).Not()}
		}
		return model{a.within(5) + " between " + b.within(5) + " and 7", 4, a.value.Between(b.value, 7)}
	case depth == 0 && pick < 3:
		n := random.IntN(100)
		return model{fmt.Sprint(n), 9, gpuframe.Lit(n)}
	case depth == 0:
		return model{"`price`", 9, gpuframe.Col("price")}
	}
	a, b := two(false)
	switch pick {
	case 0:
		return model{a.within(5) + " + " + b.within(6), 5, a.value.Add(b.value)}
	case 1:
		return model{a.within(5) + "-" + b.within(6), 5, a.value.Sub(b.value)}
	case 2:
		return model{a.within(6) + "*" + b.within(7), 6, a.value.Mul(b.value)}
	case 3:
		return model{a.within(6) + " % " + b.within(7), 6, a.value.Mod(b.value)}
	case 4:
		return model{"-(" + a.text + ")", 7, a.value.Neg()}
	}
	return model{"pow(" + a.text + "," + b.text + ")", 9, a.value.Pow(b.value)}
}

// Random expressions mean the same as the methods they were written from.
func TestPrecedence(t *testing.T) {
	e := engine(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		m := randomModel(random, random.IntN(5), random.IntN(2) == 0)
		p, err := pipeline.Parse("pipeline", "select "+m.text+" as x")
		require.NoError(t, err, m.text)
		q, err := p.Apply(t.Context(), sales(e))
		require.NoError(t, err, m.text)
		got, err := q.Explain(t.Context())
		require.NoError(t, err)
		want, err := sales(e).Select(m.value.As("x")).Explain(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got, m.text)
	}
}

// seeds are texts that use all of the grammar.
var seeds = []string{
	"filter price > 15 and city in (\"ATL\", 'O''R') | group city agg count() as n | top 10 by n desc nulls first",
	"with -price * 1.5e3 as `a b` | agg sum(price) where (open) over (city) | slice 1 2 | rename city as b | distinct city",
	"select cast(null, int64), cast(price, string), date '2026-01-31', if(open, 1, 2), not not open is not null",
	"select substring(city, 1, 0), repeat(city, -1), pad_end(city, 3, 'é'), quantile(price, 2), largest(price, 0)",
	"select sum(qty) over (city order by ts desc rows start to -1 at least 2), max(price) over (order by ts range -1 day to end) as m",
	"group open pivot city in ('a', 'b') agg sum(price) | fill_null -1 in a | unpivot a, b keep open | explode open | sample 3 seed 1 | shuffle | random r | row_number n | require n >= 0 message 'no number'",
	"join left ('c.csv' | filter country like 'n!%' escape '!') on city = name and price matching country = 'no' nulls equal suffix '_r' | union 'c.csv' | cache r",
	"select price | except all ('c.csv' | select price) | intersect ('c.csv' | select price)",
	"nearest_to 3 'c.csv' on v = w cosine dimensions 4 distance d rank r matched suffix '_w' | head 2",
	"as_of 'c.csv' on price by city = name backward unequal within 1.5 matched sorted | cross_tab city by qty in (1, null)",
	"resample ts every 2 weeks in 'Europe/Oslo' from sunday by city agg count() as n | sample 0.5 by city | with session(n, 3), cast(n, decimal(9, 2)), ts + 3 hours",
	"drop_nulls qty | drop price, open | tail 3 | sort city asc, qty % 2 | head 1 | filter ts >= timestamp '2026-06-01 12:30'",
}

// checkText fails for a text that panics, that gives an error without a place in it, or whose document
// is malformed. Every path is that of one file.
func checkText(t *testing.T, e *gpuframe.Engine, path, text string) (failed bool) {
	p, err := pipeline.Parse("text", text)
	p.Files = func(string) (map[string]any, error) { return map[string]any{"verb": "csv", "paths": []any{path}}, nil }
	var q gpuframe.Query
	if err == nil {
		q, err = p.Apply(t.Context(), sales(e))
	}
	if err == nil {
		checkDocument(t, q, p, text)
		return false
	}
	var typed *pipeline.Error
	require.ErrorAs(t, err, &typed, text)
	require.LessOrEqual(t, typed.Offset, len(text))
	require.NotEmpty(t, typed.Error())
	return true
}

// checkDocument compares the columns of a query with those of the query of its document.
func checkDocument(t *testing.T, q gpuframe.Query, p pipeline.Pipeline, text string) {
	document, err := p.Document(map[string]any{"verb": "given", "number": 0})
	require.NoError(t, err, text)
	decoded, err := querydata.Decode(t.Context(), q.Engine(), []byte(document), querydata.Options{Given: []gpuframe.Query{sales(q.Engine())}})
	require.NoError(t, err, text)
	want, err := q.Schema(t.Context())
	require.NoError(t, err)
	got, err := decoded.Schema(t.Context())
	require.NoError(t, err, text)
	require.True(t, want.Equal(got), text)
}

// Changed texts are errors with a place, or other pipelines.
func TestChangedTexts(t *testing.T) {
	e := engine(t)
	path, _ := cities(t)
	random := rand.New(rand.NewPCG(5, 6))
	var tokens []string
	for _, seed := range seeds {
		tokens = append(tokens, strings.Fields(seed)...)
	}
	failures, rounds := 0, 1500
	for range rounds {
		text := seeds[random.IntN(len(seeds))]
		for range 1 + random.IntN(3) {
			at := random.IntN(len(text) + 1)
			switch random.IntN(4) {
			case 0:
				text = text[:at]
			case 1:
				text = text[:at] + string(rune(32+random.IntN(200))) + text[at:]
			case 2:
				text = text[:at] + " " + tokens[random.IntN(len(tokens))] + " " + text[at:]
			default:
				text = text[:at] + text[min(len(text), at+1+random.IntN(9)):]
			}
		}
		if checkText(t, e, path, text) {
			failures++
		}
	}
	assert.Greater(t, failures, rounds/2)
	assert.Less(t, failures, rounds)
}

// FuzzParse finds texts that panic, and errors without a place.
func FuzzParse(f *testing.F) {
	for _, text := range seeds {
		f.Add(text)
	}
	e := engine(f)
	path, _ := cities(f)
	f.Fuzz(func(t *testing.T, text string) { checkText(t, e, path, text) })
}
