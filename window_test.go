package gpuframe_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// TestOrderedWindows compares functions of ordered windows with rows computed by hand. The
// rows keep their order.
func TestOrderedWindows(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record)
		byQty := gpuframe.By(city).OrderBy(qty.Desc())
		for text, c := range map[string]struct {
			of   gpuframe.Expr
			want []string
		}{
			"number":      {gpuframe.RowNumber().Over(byQty), []string{"3", "2", "2", "1", "1", "1"}},
			"of all":      {gpuframe.RowNumber(), []string{"1", "2", "3", "4", "5", "6"}},
			"rank":        {gpuframe.Rank().Over(gpuframe.By().OrderBy(city)), []string{"3", "1", "3", "6", "1", "3"}},
			"dense":       {gpuframe.DenseRank().Over(gpuframe.By().OrderBy(city)), []string{"2", "1", "2", "3", "1", "2"}},
			"tile":        {gpuframe.Tile(2).Over(gpuframe.By().OrderBy(qty)), []string{"1", "1", "1", "2", "2", "2"}},
			"lag":         {city.Lag(1).Over(gpuframe.By().OrderBy(qty)), []string{"(null)", "Oslo", "Bern", "Oslo", "Rome", "Bern"}},
			"lead":        {price.Lead(1).Over(byQty), []string{"(null)", "(null)", "10", "(null)", "60", "70"}},
			"nth":         {qty.Nth(2).Over(byQty), []string{"3", "2", "3", "(null)", "2", "3"}},
			"first":       {price.First().Over(byQty), []string{"90", "(null)", "90", "80", "(null)", "90"}},
			"first value": {price.First().SkipNulls().Over(byQty), []string{"90", "60", "90", "80", "60", "90"}},
			"cumulative":  {qty.CumSum().Over(byQty), []string{"10", "7", "9", "4", "5", "6"}},
			"over all":    {qty.CumMax(), []string{"1", "2", "3", "4", "5", "6"}},
			"rows":        {price.Mean().Over(gpuframe.By().OrderBy(qty).Rows(-1, 0)), []string{"10", "35", "65", "75", "80", "90"}},
			"at least":    {price.Count().Over(gpuframe.By().OrderBy(qty).Rows(-1, 0).AtLeast(2)), []string{"(null)", "2", "2", "2", "(null)", "(null)"}},
			"range":       {qty.Sum().Over(gpuframe.By().OrderBy(qty).Range(-2, 0)), []string{"1", "3", "6", "9", "12", "15"}},
			"difference":  {qty.Difference(1).Over(gpuframe.By(city).OrderBy(qty)), []string{"(null)", "(null)", "2", "(null)", "3", "3"}},
			"change":      {price.PercentChange(1).Over(gpuframe.By(city).OrderBy(qty)), []string{"(null)", "(null)", "6", "(null)", "(null)", "0.2857142857142857"}},
			"share":       {qty.Sum().Over(byQty), []string{"10", "7", "10", "4", "7", "10"}},
			"smooth":      {price.ExponentialMean(1).Over(byQty), []string{"10", "60", "70", "80", "(null)", "90"}},
			"nulls":       {price.NullCount().Over(gpuframe.By().OrderBy(qty).Rows(-1, 0)), []string{"0", "0", "0", "0", "1", "1"}},
			"any":         {qty.Gt(4).Any().Over(gpuframe.By().OrderBy(qty).Rows(-1, 0)), []string{"false", "false", "false", "false", "true", "true"}},
			"all":         {qty.Gt(4).All().Over(gpuframe.By().OrderBy(qty).Rows(-1, 0)), []string{"false", "false", "false", "false", "false", "true"}},
			"decimals":    {qty.Cast(&arrow.Decimal128Type{Precision: 9, Scale: 1}).CumMean().Over(gpuframe.By().OrderBy(qty)), []string{"1", "1.5", "2", "2.5", "3", "3.5"}},
			"of a window": {qty.CumSum().Over(byQty).Max().Over(gpuframe.By(city)), []string{"10", "7", "10", "4", "7", "10"}},
		} {
			require.Equal(t, c.want, collect(t, q.Select(c.of.As("x"))), text)
		}
		both := q.With(gpuframe.RowNumber().Over(byQty).As("n"), qty.CumSum().Over(byQty).As("total"), price.Sum().Over(byQty).As("all"))
		require.Equal(t, []string{"Rome 80 4 1 4 80"}, collect(t, both.Filter(city.Eq("Rome"))))
		plan, err := both.Drop("total").Filter(city.Eq("Rome")).Explain(t.Context())
		require.NoError(t, err)
		require.Contains(t, plan, "over city order by qty descending: row_number()")
		require.NotContains(t, plan[len(plan)/2:], "rows first to 0", "a function that nothing reads is not computed")
	})
}

// TestWindowsOfEqualText has windows in other windows and aggregates that differ in the type of
// a literal only, so that their names are equal: each reads its own.
func TestWindowsOfEqualText(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q, all := e.Records(record.Schema(), record), gpuframe.By()
		// Sums of 0, 1, 1, 2, 2, 3 and of 0.5, 1, 1.5, 2, 2.5, 3.
		whole := qty.Div(gpuframe.Lit(2)).Sum().Over(gpuframe.By(city))
		half := qty.Div(gpuframe.Lit(2.0)).Sum().Over(gpuframe.By(city))
		require.Equal(t, whole.String(), half.String())
		few := q.Filter(qty.Le(3))
		for text, c := range map[string]struct {
			of   gpuframe.Query
			want []string
		}{
			"windows":    {q.Select(whole.As("a"), half.As("b")).Head(3), []string{"4 5", "3 3.5", "4 5"}},
			"in windows": {q.Select(whole.Max().Over(all).As("a"), half.Max().Over(all).As("b")).Head(1), []string{"4 5"}},
			"beside":     {q.Select(whole.As("a"), half.Max().Over(all).As("b"), half.As("c")).Head(2), []string{"4 5 5", "3 5 3.5"}},
			"aggregates": {q.GroupBy(city).Agg(whole.Max().As("a"), half.Max().As("b")).Sort(city), []string{"Bern 3 3.5", "Oslo 4 5", "Rome 2 2"}},
			"filters":    {q.Filter(whole.Max().Over(all).Lt(5), half.Max().Over(all).Ge(5)).Select(qty).Head(2), []string{"1", "2"}},
			"where":      {few.Select(qty.Sum().Where(whole.Eq(half)).As("a"), qty.Sum().Where(half.Ge(2)).As("b")), []string{"2 4"}},
			"the same":   {q.Select(whole.As("a"), whole.Max().Over(all).As("b"), whole.Min().Over(all).As("c")).Head(2), []string{"4 4 2", "3 4 2"}},
		} {
			require.Equal(t, c.want, collect(t, c.of), text)
		}
	})
}

// TestEqualFunctionsAreOne plans functions that are made several times, alone and in each other, once.
func TestEqualFunctionsAreOne(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	q := e.Records(record.Schema(), record)
	total := func() gpuframe.Expr { return qty.Sum().Over(gpuframe.By(city)) }
	greatest := func() gpuframe.Expr { return total().Max().Over(gpuframe.By()) }
	for want, query := range map[string]gpuframe.Query{
		"sum(qty)":                    q.With(total().As("a"), total().Add(total()).As("b"), greatest().As("c"), greatest().Div(total()).As("d")),
		"max(`sum(qty) over (city)`)": q.Select(greatest().As("a"), greatest().Add(greatest()).As("b")),
		"max(qty)":                    q.GroupBy(city).Agg(qty.Max().As("a"), qty.Max().Add(qty.Max()).As("b")),
		"sum(qty) rows first to 0":    q.With(qty.CumSum().As("a"), qty.CumSum().Max().As("b"), qty.CumSum().Min().As("c")),
	} {
		text, err := query.Explain(t.Context())
		require.NoError(t, err)
		computed := 0
		for line := range strings.Lines(strings.Split(text, "as run")[0]) {
			if _, list, ok := strings.Cut(line, ": "); ok {
				computed += len(regexp.MustCompile(`(^|, | = )`+regexp.QuoteMeta(want)+`(,|  |$)`).FindAllString(list, -1))
			}
		}
		require.Equal(t, 1, computed, "%s of\n%s", want, text)
	}
}

// TestWindowProblems names the place of each problem.
func TestWindowProblems(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	q := e.Records(record.Schema(), record)
	byQty := gpuframe.By(city).OrderBy(qty)
	for want, query := range map[string]gpuframe.Query{
		`row_number() is a window, which has a value`:             q.GroupBy(city).Agg(gpuframe.RowNumber()),
		`use If in the expression instead of Where`:               q.With(qty.First().Where(price.Gt(1)).Over(byQty.Rows(-1, 0)).As("x")),
		`the frame ends with row -3, before it begins with row 1`: q.With(qty.Sum().Over(byQty.Rows(1, -3)).As("x")),
		`0 parts, expected one or more`:                           q.With(gpuframe.Tile(0).Over(byQty).As("x")),
		`a frame of a range has 0 order keys, expected one`:       q.With(qty.Sum().Over(gpuframe.By(city).Range(-1, 0)).As("x")),
		`expected a number, because the key is not temporal`:      q.With(qty.Sum().Over(byQty.Range(-time.Hour, 0)).As("x")),
		`no column is called "citty"`:                             q.With(gpuframe.Rank().Over(gpuframe.By().OrderBy(gpuframe.Col("citty"))).As("x")),
		`expected integers or floats`:                             q.With(city.CumMean().As("x")),
		`xor of float64, it is of bools`:                          q.With(price.Any().Over(byQty.Rows(-1, 0)).As("x")),
		"apply to aggregates, and qty has none":                   q.With(gpuframe.Rank().Over(gpuframe.By(qty.Where(price.Gt(1)))).As("x")),
		"apply to aggregates, and city has none":                  q.With(qty.Sum().Where(city.Over(byQty).Eq("Oslo")).As("x")),
		"the key `rank()` has an aggregate":                       q.With(gpuframe.Rank().Over(gpuframe.By().OrderBy(gpuframe.Rank())).As("x")),
	} {
		_, err := query.Collect(t.Context())
		require.ErrorContains(t, err, want)
	}
	_, err := q.GroupBy(city).Agg(qty.CumSum(), qty.CumSum().Max().As("x"), qty.CumSum().Lag(1).Max().As("y")).Collect(t.Context())
	var all *gpuframe.QueryError
	require.ErrorAs(t, err, &all)
	require.Len(t, all.Problems, 1, "what reads the window is not reported")
	_, err = q.With(gpuframe.Rank().Over(gpuframe.By().OrderBy(gpuframe.Col("citty"))).As("x")).Collect(t.Context())
	require.ErrorContains(t, err, "With (window_test.go")
	_, err = q.With(city.CumMean().As("x")).Collect(t.Context())
	require.ErrorIs(t, err, device.ErrNotSupported)
	require.NotErrorIs(t, err, expr.ErrType)
}

// TestWindowsBeyondTheBudget ends with the error of the budget and holds nothing.
func TestWindowsBeyondTheBudget(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1024))
	require.NoError(t, err)
	record := sales(t)
	q := e.Records(record.Schema(), record)
	_, err = q.With(price.Mean().Over(gpuframe.By(city).OrderBy(qty).Rows(-1, 0)).As("x"), city.Lag(1).As("y")).Collect(t.Context())
	require.ErrorIs(t, err, memory.ErrBudget)
	require.NoError(t, e.Close())
}
